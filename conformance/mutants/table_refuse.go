package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// refuseMutants do not take what they must take.
func refuseMutants() []Mutant {
	const refusedIt = `code "invalid_envelope"`
	const droppedIt = `then a reset with code 1`
	opinion := func(name, fault string, parts ...string) Mutant {
		// The same things stand in payloads that are sent for another reason.
		return Mutant{Name: name, For: ids("PAY-002"), Also: ids("FWD-002", "PAY-003", "PAY-005"), Fault: fault, Reason: refusedIt, change: refusingPayload(parts...)}
	}
	size := func(name, fault string, n int, also ...string) Mutant {
		return Mutant{Name: name, For: ids("LIMIT-001"), Also: also, Fault: fault, Reason: `then a reset with code 2`, change: func(m *manner) { m.limit = n }}
	}
	raw := func(f func([]byte) bool) change {
		return func(m *manner) {
			m.read = func(c *call) ([]byte, bool) {
				b, ok := c.readToFIN()
				if ok && f(b) {
					c.drop(codeMalformed)
					return nil, false
				}
				return b, ok
			}
		}
	}
	mangling := func(f func([]byte) []byte) change {
		return func(m *manner) {
			m.read = func(c *call) ([]byte, bool) {
				b, ok := c.readToFIN()
				if ok {
					b = f(b)
				}
				return b, ok
			}
		}
	}
	big := ids("PAY-002", "DEFERR-001", "DEFERR-002", "DEFERR-003", "DEFERR-004", "DEFERR-005", "DEFERR-006", "PAY-005", "FWD-001", "LIMIT-005", "LIMIT-002", "STREAM-011")
	domain := func(name, fault string, f func(wire.Value, int) bool) Mutant {
		return Mutant{Name: name, For: ids("PAY-005"), Also: ids("PAY-002", "DEFERR-001", "DEFERR-003", "DEFERR-004", "FWD-002"), Fault: fault, Reason: refusedIt + `|it gets`, change: refusing(func(c *call) bool {
			v, n := c.env.Payload.Get("domain")
			return f(v, n)
		})}
	}
	return []Mutant{
		// ref
		{Name: "ref-null-refused", For: ids("REF-003"), Also: ids("LIMIT-005"), Fault: "a null ref is refused", Reason: refusedIt, change: refusing(func(c *call) bool { return c.env.RefNull })},
		{Name: "ref-null-malformed", For: ids("REF-003"), Also: ids("LIMIT-005"), Fault: "a null ref is malformed", Reason: droppedIt, change: raw(func(b []byte) bool {
			e, _ := wire.Inspect(b)
			return e.RefNull
		})},
		{Name: "ref-null-closes", For: ids("REF-003"), Also: ids("LIMIT-005", "KIND-007"), Fault: "a null ref ends the connection", Reason: `application code 1`, change: func(m *manner) {
			m.refuse = func(c *call) string {
				if c.env.RefNull {
					c.link.hangUp(1, "ref is null")
				}
				return ""
			}
		}},
		{Name: "ref-absent-refused", For: ids("DEFERR-003", "DEFERR-004", "FWD-002"), Fault: "an absent ref is refused", Reason: `code is "invalid_envelope"|the envelope cannot be taken`, change: refusing(func(c *call) bool { return c.env.Ref == nil && !c.env.RefNull })},
		{Name: "ref-uuid-refused", For: ids("REF-004"), Also: ids("ENV-011", "FWD-002"), Fault: "a ref to something that it does not know is refused", Reason: refusedIt, change: refusing(func(c *call) bool { return c.env.Ref != nil })},
		{Name: "ref-uuid-closes-one-way", For: ids("REF-004"), Also: ids("KIND-007", "KIND-008", "STREAM-005"), Fault: "a message with a ref ends the connection", Reason: `application code 1`, change: func(m *manner) {
			m.oneWay = func(c *call) {
				if c.env.Ref != nil {
					c.link.hangUp(1, "ref not expected")
				}
			}
		}},
		{Name: "ref-null-closes-one-way", For: ids("REF-003"), Also: ids("KIND-007"), Fault: "a message whose ref is null ends the connection", Reason: `application code 1`, change: func(m *manner) {
			m.oneWay = func(c *call) {
				if c.env.RefNull {
					c.link.hangUp(1, "ref is null")
				}
			}
		}},
		{Name: "message-closes", For: ids("REF-002"), Also: ids("REF-003", "REF-004", "STREAM-009", "LIMIT-001", "STREAM-005", "KIND-005", "STREAM-011"), Fault: "a message ends the connection", Reason: `application code 1`, change: func(m *manner) {
			m.oneWay = func(c *call) {
				if c.env.Kind == "message" {
					c.link.hangUp(1, "messages are not supported")
				}
			}
		}},
		{Name: "order-fixed", For: ids("KIND-002", "REF-003", "REF-004"), Fault: "the members must stand in the order of the specification", Reason: droppedIt, change: raw(func(b []byte) bool {
			e, _ := wire.Inspect(b)
			order := []string{"id", "kind", "payload", "ref"}
			return !slices.IsSortedFunc(e.Order, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
		})},
		{Name: "escaped-names-unread", For: ids("ENV-014"), Fault: "names and kinds that are written with escapes are not recognised", Reason: droppedIt, change: raw(func(b []byte) bool {
			return bytes.Contains(b, []byte(`\u0069d`))
		})},

		// sizes
		size("limit-65535", "its limit is one byte too low", 65535),
		size("limit-65000", "its limit is 65,000 bytes", 64999),
		size("limit-64000", "its limit is 64,000 bytes", 64000),
		size("limit-32768", "its limit is one byte below 32 KiB", 32767, big...),
		size("limit-16384", "its limit is one byte below 16 KiB", 16383, big...),
		size("limit-4096", "its limit is 4,096 bytes", 4096, big...),
		size("limit-1200", "its limit is one packet", 1200, big...),
		{Name: "limit-on-payload-bytes", For: ids("LIMIT-001"), Also: ids("PAY-002"), Fault: "payloads over 60,000 bytes are refused", Reason: refusedIt, change: refusing(func(c *call) bool { return len(c.env.Payload.Raw) > 60000 })},
		{Name: "buffer-65536-with-zero", For: ids("LIMIT-001"), Fault: "the last byte of a full buffer is lost", Reason: droppedIt, change: mangling(func(b []byte) []byte { return b[:min(len(b), 65535)] })},
		{Name: "buffer-4096", For: ids("LIMIT-001"), Also: big, Fault: "only the first 4,096 bytes of a body are read", Reason: droppedIt, change: mangling(func(b []byte) []byte { return b[:min(len(b), 4096)] })},
		{Name: "one-read-of-4096", For: ids("LIMIT-001"), Anywhere: true, Fault: "a single read of up to 4,096 bytes is taken for the whole body", Reason: droppedIt, change: reading(oneRead(4096))},
		{Name: "one-read-of-65536", For: ids("LIMIT-001", "LIMIT-006"), Anywhere: true, Fault: "a single read is taken for the whole body", Reason: droppedIt + `|already carried`, change: reading(oneRead(65536))},
		{Name: "oversize-cut", For: ids("LIMIT-002"), Also: ids("LIMIT-004", "ENV-011"), Fault: "the tail of an oversized body is cut off, and a short one made up in its place", Reason: `ref is`, change: func(m *manner) {
			m.read = func(c *call) ([]byte, bool) {
				b, ok := readAll(c)
				if ok && len(b) > limit {
					return plainRequest(wire.NewID()), true
				}
				return b, ok
			}
		}},
		{Name: "oversize-closes", For: ids("LIMIT-002"), Fault: "an oversized body ends the connection", Reason: `application code 2`, change: func(m *manner) {
			m.read = func(c *call) ([]byte, bool) {
				b, err := c.stream.AwaitBytes(c.peer.ctx, limit+1)
				if err == nil && len(b) > limit {
					c.link.hangUp(2, "too large")
					return nil, false
				}
				return c.readToFIN()
			}
		}},
		{Name: "oversize-closes-far-above", For: ids("LIMIT-002"), Fault: "a body above 100,000 bytes ends the connection", Reason: `application code 2`, change: func(m *manner) {
			m.read = func(c *call) ([]byte, bool) {
				b, err := c.stream.AwaitBytes(c.peer.ctx, 100001)
				if err == nil && len(b) > 100000 {
					c.link.hangUp(2, "too large")
					return nil, false
				}
				return c.readToFIN()
			}
		}},
		{Name: "oversize-closes-one-way", For: ids("LIMIT-002"), Fault: "an oversized message ends the connection", Reason: `application code 2`, change: func(m *manner) {
			m.read = func(c *call) ([]byte, bool) {
				b, err := c.stream.AwaitBytes(c.peer.ctx, limit+1)
				if err == nil && len(b) > limit && !c.stream.Bidi() {
					c.link.hangUp(2, "too large")
					return nil, false
				}
				return c.readToFIN()
			}
		}},
		{Name: "oversize-then-mute", For: ids("LIMIT-002"), Ceiling: quick, Fault: "after an oversized body the connection is not served any more", Reason: `nothing came`, change: func(m *manner) {
			var mute perLink[bool]
			m.read = func(c *call) ([]byte, bool) {
				b, err := c.stream.AwaitBytes(c.peer.ctx, limit+1)
				silent := false
				mute.with(c.link, func(v *bool) { *v = *v || err == nil && len(b) > limit; silent = *v })
				if silent {
					return nil, false
				}
				return c.readToFIN()
			}
		}},

		// white space
		{Name: "space-behind-refused", For: ids("LIMIT-005"), Fault: "white space behind the object is refused", Reason: droppedIt, change: raw(func(b []byte) bool { return len(b) > 0 && bytes.ContainsRune([]byte(" \t\r\n"), rune(b[len(b)-1])) })},
		{Name: "space-before-refused", For: ids("LIMIT-005"), Fault: "white space before the object is refused", Reason: droppedIt, change: raw(func(b []byte) bool { return len(b) > 0 && b[0] != '{' })},
		{Name: "space-inside-refused", For: ids("LIMIT-005"), Also: ids("LIMIT-001", "FWD-001"), Fault: "white space inside the object is refused", Reason: droppedIt, change: raw(func(b []byte) bool {
			b = bytes.TrimSpace(b)
			return regexp.MustCompile(`(?s)[{},:"]\s+["}{]`).Match(b) && !bytes.Contains(b, []byte(`\"`))
		})},
		{Name: "line-feed-refused", For: ids("LIMIT-005"), Fault: "a line feed inside the object is refused", Reason: droppedIt, change: raw(func(b []byte) bool { return bytes.Contains(bytes.TrimSpace(b), []byte("\n")) })},
		{Name: "carriage-return-refused", For: ids("LIMIT-005"), Fault: "a carriage return is refused", Reason: droppedIt, change: raw(func(b []byte) bool { return bytes.Contains(b, []byte("\r")) })},
		{Name: "tab-refused", For: ids("LIMIT-005"), Fault: "a tab is refused", Reason: droppedIt, change: raw(func(b []byte) bool { return bytes.Contains(b, []byte("\t")) })},
		{Name: "ends-in-brace", For: ids("LIMIT-005"), Fault: "the last byte of a body must be a brace", Reason: droppedIt, change: raw(func(b []byte) bool { return !bytes.HasSuffix(b, []byte("}")) })},
		{Name: "much-space-refused", For: ids("LIMIT-005"), Also: ids("LIMIT-001"), Fault: "more than 1,000 spaces in a row are refused", Reason: droppedIt, change: raw(func(b []byte) bool { return bytes.Contains(b, bytes.Repeat([]byte(" "), 1001)) })},

		// payloads
		opinion("payload-duplicate-refused", "a name that stands twice in a payload is refused", `"a":1,"a":2`),
		opinion("payload-lone-surrogate-refused", "a lone surrogate in a payload is refused", `"\ud800"`, `"\udfff"`, `\udc00\ud800`),
		opinion("payload-nul-refused", "an escaped NUL in a payload is refused", `\u0000`),
		opinion("payload-empty-name-refused", "an empty name in a payload is refused", `"":`),
		opinion("payload-emoji-refused", "text beyond the basic plane is refused", "😀"),
		opinion("payload-surrogate-pair-refused", "escaped pairs of surrogates are refused", `\ud83d`),
		opinion("payload-exponent-refused", "exponents beyond a double's are refused", `e400`),
		opinion("payload-small-exponent-refused", "exponents below a double's are refused", `e-400`),
		opinion("payload-big-integer-refused", "integers beyond 64 bits are refused", "18446744073709551617", strings.Repeat("0", 100)),
		opinion("payload-beyond-double-refused", "integers that a double does not hold are refused", "9007199254740993"),
		opinion("payload-minus-zero-refused", "-0 is refused", "-0,"),
		opinion("payload-null-inside-refused", "null in a payload is refused", "null"),
		opinion("payload-solidus-refused", "an escaped solidus is refused", `\/`),
		{Name: "payload-empty-refused", For: ids("PAY-002", "KIND-002"), Anywhere: true, Fault: "an empty payload is refused", Reason: refusedIt, change: refusing(func(c *call) bool { return len(c.env.Payload.Object) == 0 })},
		{Name: "payload-deep-refused-32", For: ids("PAY-002"), Fault: "a payload deeper than 32 levels is refused", Reason: refusedIt, change: refusing(func(c *call) bool { return depth(c.env.Payload) > 32 })},
		{Name: "payload-deep-refused-64", For: ids("PAY-002"), Fault: "a payload deeper than 64 levels is refused", Reason: refusedIt, change: refusing(func(c *call) bool { return depth(c.env.Payload) > 64 })},
		{Name: "payload-deep-refused-100", For: ids("PAY-002"), Fault: "an envelope deeper than 100 levels is refused", Reason: refusedIt, change: refusing(func(c *call) bool { return depth(c.env.Whole) > 100 })},
		{Name: "payload-many-members-refused", For: ids("PAY-002"), Fault: "a payload of more than 100 members is refused", Reason: refusedIt, change: refusing(func(c *call) bool { return len(c.env.Payload.Object) > 100 })},
		{Name: "payload-long-text-refused", For: ids("PAY-002"), Also: append(slices.Clone(big), "AXON-LIMIT-001"), Fault: "a text of more than 32 KiB in a payload is refused", Reason: refusedIt, change: refusing(func(c *call) bool {
			return slices.ContainsFunc(c.env.Payload.Object, func(m wire.Member) bool { return len(m.Value.String) > 32768 })
		})},
		{Name: "payload-long-array-refused", For: ids("PAY-002"), Fault: "an array of more than 500 values in a payload is refused", Reason: refusedIt, change: refusing(func(c *call) bool {
			return slices.ContainsFunc(c.env.Payload.Object, func(m wire.Member) bool { return len(m.Value.Array) > 500 })
		})},
		{Name: "payload-decoded", For: ids("PAY-002"), Fault: "the payload must go through Go's encoding/json into a map", Reason: refusedIt, change: refusing(func(c *call) bool {
			var m map[string]any
			return json.Unmarshal(c.env.Payload.Raw, &m) != nil
		})},
		{Name: "payload-reserved-names-refused", For: ids("PAY-002"), Also: ids("KIND-002", "PAY-003", "DEFERR-003", "DEFERR-004"), Fault: "the envelope's names in a payload are refused", Reason: refusedIt, change: refusing(func(c *call) bool {
			_, n := c.env.Payload.Get("id")
			_, k := c.env.Payload.Get("kind")
			return n+k > 0
		})},
		{Name: "payload-duplicate-of-envelope", For: ids("PAY-002"), Also: ids("ENV-011", "KIND-002", "DEFERR-001", "DEFERR-002", "DEFERR-003", "DEFERR-004", "DEFERR-005", "DEFERR-006"), Fault: "names are counted over the whole body, so that an id in the payload is a second one", Reason: droppedIt, change: raw(func(b []byte) bool {
			return valid(b) && (bytes.Count(b, []byte(`"id":`)) > 1 || bytes.Count(b, []byte(`"payload":`)) > 1)
		})},
		{Name: "payload-needs-known-names", For: ids("PAY-003"), Also: ids("PAY-002", "PAY-005", "KIND-002"), Anywhere: true, Fault: "members of a payload that it does not know are refused", Reason: refusedIt, change: refusing(func(c *call) bool {
			return slices.ContainsFunc(c.env.Payload.Object, func(m wire.Member) bool {
				return !slices.Contains([]string{"from_probe", "message", "question", "domain", "text", "n", "a", "padding"}, m.Name)
			})
		})},
		{Name: "payload-proto-refused", For: ids("PAY-003"), Fault: "__proto__ in a payload is refused", Reason: refusedIt, change: refusingPayload("__proto__")},
		{Name: "payload-version-checked", For: ids("PAY-003"), Fault: "a payload with a version that it does not know is refused", Reason: refusedIt, change: refusingPayload(`"version":99`)},
		{Name: "payload-from-refused", For: ids("PAY-003"), Fault: "a payload with from or to is refused", Reason: refusedIt, change: refusingPayload(`"from":`)},
		{Name: "payload-mixture", For: ids("PAY-002"), Ceiling: quick, Anywhere: true, Fault: "after a payload of 60 KiB the next request on the connection is dropped", Reason: `no bytes`, change: func(m *manner) {
			var large perLink[bool]
			request := m.request
			m.request = func(c *call) *answer {
				drop := false
				large.with(c.link, func(v *bool) { drop = *v; *v = len(c.body) > 60000 })
				if drop {
					c.drop(codeMalformed)
					return nil
				}
				return request(c)
			}
		}},

		// domains
		domain("domain-required", "a payload without domain is refused", func(_ wire.Value, n int) bool { return n == 0 }),
		domain("domain-text", "a domain that is no text is refused", func(v wire.Value, n int) bool { return n > 0 && v.Kind != wire.String }),
		domain("domain-null-refused", "a null domain is refused", func(v wire.Value, n int) bool { return n > 0 && v.Kind == wire.Null }),
		domain("domain-known", "a domain outside of the taxonomy is refused", func(v wire.Value, n int) bool {
			return n > 0 && v.Kind == wire.String && !regexp.MustCompile(`^(family|work|logistics|meta)\b`).MatchString(v.String)
		}),
		domain("domain-dotted", "a domain must be words with dots between", func(v wire.Value, n int) bool {
			return n > 0 && v.Kind == wire.String && !regexp.MustCompile(`^\w+(\.\w+)*\.?$`).MatchString(v.String)
		}),
		domain("domain-empty-refused", "an empty domain is refused", func(v wire.Value, n int) bool { return n > 0 && v.Kind == wire.String && v.String == "" }),
		domain("domain-length", "a domain of more than 255 bytes is refused", func(v wire.Value, n int) bool { return len(v.String) > 255 }),
		{Name: "domain-own-code", For: ids("PAY-005", "DEFERR-003"), Also: ids("PAY-002"), Fault: "a request with a domain gets the error unknown_domain", Reason: `unknown_domain`, change: altering(func(c *call, a *answer) {
			if _, n := c.env.Payload.Get("domain"); n > 0 && a.Code == `"unhandled"` {
				a.Code = `"unknown_domain"`
			}
		})},
	}
}

// depth is how deep a value is nested; a value without members is 0 deep.
func depth(v wire.Value) int {
	deepest := 0
	for _, e := range v.Array {
		deepest = max(deepest, depth(e))
	}
	for _, m := range v.Object {
		deepest = max(deepest, depth(m.Value))
	}
	if v.Kind == wire.Array || v.Kind == wire.Object {
		return deepest + 1
	}
	return 0
}

// oneRead takes what has come when the first bytes are there, up to n of them.
func oneRead(n int) func(*call) ([]byte, bool) {
	return func(c *call) ([]byte, bool) {
		b, err := c.stream.AwaitBytes(c.peer.ctx, 1)
		if err != nil {
			return nil, false
		}
		if end, ended := c.stream.Ended(); ended && end.How != probe.Finished {
			return nil, false
		}
		return b[:min(n, len(b))], true
	}
}

// readAll reads to FIN without a limit.
func readAll(c *call) ([]byte, bool) {
	ctx, cancel := context.WithTimeout(c.peer.ctx, patience)
	defer cancel()
	end, err := c.stream.Wait(ctx)
	if err != nil || end.How != probe.Finished {
		c.drop(codeMalformed)
		return nil, false
	}
	return end.Data, true
}

func plainRequest(id string) []byte {
	return wire.Outgoing{ID: id, Kind: "request", Payload: "{}"}.Bytes()
}
