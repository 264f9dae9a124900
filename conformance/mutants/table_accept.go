package mutants

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/axonproto/axon/harness/wire"
)

// acceptMutants take what they must not take.
func acceptMutants() []Mutant {
	return []Mutant{
		// ids
		{Name: "id-nil-accepted", For: ids("ENV-006"), Fault: "it takes an envelope whose id is nil", Reason: tookIt, change: forgiving(wire.IDNil)},
		{Name: "id-of-any-version-accepted", For: ids("ENV-015"), Fault: "it takes ids of every version", Reason: tookIt, change: forgiving(wire.IDNotV4)},
		{Name: "id-of-version-7-accepted", For: ids("ENV-015"), Fault: "it takes ids of version 7 too", Reason: tookIt, change: together(forgiving(wire.IDNotV4), refusing(func(c *call) bool { return !strings.ContainsRune("47", rune(c.env.ID[14])) }))},
		{Name: "id-of-version-1-accepted", For: ids("ENV-015"), Fault: "it takes ids of version 1 too", Reason: tookIt, change: together(forgiving(wire.IDNotV4), refusing(func(c *call) bool { return !strings.ContainsRune("41", rune(c.env.ID[14])) }))},
		{Name: "id-of-any-variant-accepted", For: ids("ENV-015"), Fault: "it takes ids of every variant", Reason: tookIt, change: forgiving(wire.IDNotRFCVariant)},
		{Name: "id-never-looked-at", For: ids("ENV-006", "ENV-015"), Fault: "it checks only that the id looks like a UUID", Reason: tookIt, change: forgiving(wire.IDNil, wire.IDNotV4, wire.IDNotRFCVariant)},
		{Name: "id-any-text-accepted", For: ids("ENV-006", "ENV-010", "ENV-015"), Also: ids("ENV-011"), Fault: "it takes any text as id", Reason: tookIt, change: forgiving(wire.IDNil, wire.IDNotV4, wire.IDNotRFCVariant, wire.IDNotUUID)},
		{Name: "id-empty-accepted", For: ids("ENV-010"), Also: ids("ENV-011"), Fault: "it takes an empty id", Reason: tookIt, change: together(forgiving(wire.IDNotUUID), refusing(func(c *call) bool { return len(c.env.ID) != 0 && len(c.env.ID) != 36 }))},
		{Name: "id-with-more-behind-accepted", For: ids("ENV-010"), Also: ids("ENV-011"), Fault: "it takes an id by its first 36 characters", Reason: tookIt, change: together(forgiving(wire.IDNotUUID), refusing(func(c *call) bool { return len(c.env.ID) < 36 }))},
		{Name: "id-any-type-accepted", For: ids("ENV-010"), Also: ids("ENV-011"), Fault: "it takes an id of any type", Reason: tookIt, change: together(forgiving(wire.IDNotString), noRefWithoutID)},
		{Name: "id-null-accepted", For: ids("ENV-010"), Also: ids("ENV-011"), Fault: "it takes a null id and makes one up", Reason: tookIt, change: together(forgiving(wire.IDNotString), refusing(func(c *call) bool { return memberKind(c, "id") != wire.Null && memberKind(c, "id") != wire.String }), noRefWithoutID)},
		{Name: "id-number-accepted", For: ids("ENV-010"), Also: ids("ENV-011"), Fault: "it takes a number as id", Reason: tookIt, change: together(forgiving(wire.IDNotString), refusing(func(c *call) bool { return memberKind(c, "id") != wire.Number && memberKind(c, "id") != wire.String }), noRefWithoutID)},

		// members that lack
		{Name: "id-missing-accepted", For: ids("ENV-009"), Also: ids("ENV-014", "ENV-011"), Fault: "it takes an envelope without id", Reason: tookIt, change: together(forgiving(wire.MissingID), noRefWithoutID)},
		{Name: "kind-missing-accepted", For: ids("ENV-009"), Also: ids("ENV-014"), Fault: "it takes an envelope without kind for one of an unknown kind", Reason: tookIt, change: forgiving(wire.MissingKind)},
		{Name: "payload-missing-accepted", For: ids("ENV-009"), Also: ids("ENV-014"), Fault: "it takes an envelope without payload", Reason: tookIt, change: forgiving(wire.MissingPayload)},
		{Name: "all-missing-accepted", For: ids("ENV-009"), Also: ids("ENV-014", "ENV-011"), Fault: "it takes an empty object", Reason: tookIt, change: together(forgiving(wire.MissingID, wire.MissingKind, wire.MissingPayload), noRefWithoutID)},

		// types
		{Name: "kind-any-type-accepted", For: ids("ENV-010"), Fault: "it takes a kind of any type for an unknown one", Reason: tookIt, change: forgiving(wire.KindNotString)},
		{Name: "kind-null-accepted", For: ids("ENV-010"), Fault: "it takes a null kind for an unknown one", Reason: tookIt, change: together(forgiving(wire.KindNotString), kindOfType(wire.Null))},
		{Name: "kind-number-accepted", For: ids("ENV-010"), Fault: "it takes a number for the place of a kind in its list", Reason: tookIt, change: together(forgiving(wire.KindNotString), kindOfType(wire.Number))},
		{Name: "kind-object-accepted", For: ids("ENV-010"), Fault: "it takes an object whose one name is the kind", Reason: tookIt, change: together(forgiving(wire.KindNotString), kindOfType(wire.Object))},
		{Name: "kind-array-accepted", For: ids("ENV-010"), Fault: "it takes an array that holds the kind", Reason: tookIt, change: together(forgiving(wire.KindNotString), kindOfType(wire.Array))},
		{Name: "kind-boolean-accepted", For: ids("ENV-010"), Fault: "it takes true for a kind", Reason: tookIt, change: together(forgiving(wire.KindNotString), kindOfType(wire.Bool))},
		{Name: "payload-any-type-accepted", For: ids("ENV-010"), Fault: "it takes a payload of any type", Reason: tookIt, change: forgiving(wire.PayloadNotObject)},
		{Name: "payload-null-accepted", For: ids("ENV-010"), Fault: "it takes a null payload as an empty one", Reason: tookIt, change: payloadOfType(wire.Null)},
		{Name: "payload-array-accepted", For: ids("ENV-010"), Fault: "it takes an array as payload", Reason: tookIt, change: payloadOfType(wire.Array)},
		{Name: "payload-text-accepted", For: ids("ENV-010"), Fault: "it takes a text as payload", Reason: tookIt, change: payloadOfType(wire.String)},
		{Name: "payload-number-accepted", For: ids("ENV-010"), Fault: "it takes a number as payload", Reason: tookIt, change: payloadOfType(wire.Number)},
		{Name: "payload-false-accepted", For: ids("ENV-010"), Fault: "it takes false as payload", Reason: tookIt, change: payloadOfType(wire.Bool)},

		// other forms of the envelope
		{Name: "array-of-values-accepted", For: ids("ENV-013"), Fault: "it takes an array of the members' values", Reason: tookIt,
			change: repairing(func(b []byte) []byte {
				v, err := wire.Parse(b)
				if err != nil || v.Kind != wire.Array || len(v.Array) < 3 {
					return b
				}
				return []byte(object(`"id":`+string(v.Array[0].Raw), `"kind":`+string(v.Array[1].Raw), `"payload":`+string(v.Array[2].Raw)))
			})},
		{Name: "array-of-one-accepted", For: ids("ENV-013"), Fault: "it takes an array that holds one envelope", Reason: tookIt,
			change: repairing(func(b []byte) []byte {
				if v, err := wire.Parse(b); err == nil && v.Kind == wire.Array && len(v.Array) == 1 {
					return v.Array[0].Raw
				}
				return b
			})},
		{Name: "batch-accepted", For: ids("STREAM-003"), Also: ids("ENV-013"), Fault: "it takes an array as a batch and answers each request in it", Reason: `2 JSON values`,
			change: serving(func(c *call) {
				body, ok := c.readToFIN()
				v, err := wire.Parse(body)
				if !ok || err != nil || v.Kind != wire.Array || len(v.Array) < 2 {
					if ok {
						c.handle(body)
					}
					return
				}
				for _, each := range v.Array {
					if env, problems := wire.Inspect(each.Raw); len(problems) == 0 {
						_ = c.stream.Write(c.peer.ctx, unhandled(env.ID).bytes())
					}
				}
				_ = c.stream.Finish()
			})},
		{Name: "any-json-accepted", For: ids("ENV-013"), Also: ids("ENV-009", "ENV-010", "ENV-014", "ENV-006", "ENV-015", "ENV-011"), Fault: "it answers whatever is JSON", Reason: tookIt,
			change: func(m *manner) {
				m.malformed = func(c *call) {
					if _, err := wire.Parse(c.body); err == nil {
						a := unhandled(wire.NewID())
						a.Ref = ""
						c.reply(a)
						return
					}
					c.drop(codeMalformed)
				}
			}},

		// names
		{Name: "names-any-case", For: ids("ENV-014"), Also: ids("ENV-011"), Fault: "names match in any case, and the last one wins", Reason: tookIt + `|ref is`,
			change: repairing(func(b []byte) []byte { return renamed(b, strings.ToLower) })},
		{Name: "names-any-case-kelvin", For: ids("ENV-014"), Also: ids("ENV-011"), Fault: "names match by Unicode's simple folding", Reason: tookIt + `|ref is`,
			change: repairing(func(b []byte) []byte {
				return renamed(b, func(name string) string {
					for _, n := range []string{"id", "kind", "payload", "ref"} {
						if strings.EqualFold(n, name) {
							return n
						}
					}
					return name
				})
			})},
		{Name: "names-capital-accepted", For: ids("ENV-014"), Also: ids("ENV-011"), Fault: "names may begin with a capital letter", Reason: tookIt, change: repairing(func(b []byte) []byte {
			return renamed(b, func(n string) string { return strings.ToLower(n[:min(1, len(n))]) + n[min(1, len(n)):] })
		})},
		{Name: "names-trimmed", For: ids("ENV-014"), Fault: "spaces around names are dropped", Reason: tookIt, change: repairing(func(b []byte) []byte { return renamed(b, strings.TrimSpace) })},
		{Name: "names-underscored", For: ids("ENV-014"), Fault: "it takes _id for id", Reason: tookIt, change: repairing(func(b []byte) []byte {
			return renamed(b, func(n string) string { return strings.TrimLeft(n, "_") })
		})},
		{Name: "case-variant-wins", For: ids("ENV-014"), Also: ids("ENV-011"), Fault: "a member ID replaces the id that is there", Reason: `ref is`,
			change: func(m *manner) {
				m.alter = func(c *call, a *answer) {
					for _, e := range c.env.Extra {
						if strings.EqualFold(e.Name, "id") {
							a.Ref = string(e.Value.Raw)
						}
					}
				}
			}},
		{Name: "encoding-json", For: ids("ENV-009", "ENV-010", "ENV-014", "LIMIT-004"), Also: ids("PAY-004", "ENV-011", "ENV-006", "ENV-013", "ENV-015"), Fault: "it decodes with Go's encoding/json and checks only the kind", Reason: tookIt + `|ref is`,
			change: func(m *manner) {
				m.repair = func(b []byte) []byte {
					var e struct {
						ID      string
						Kind    string
						Payload json.RawMessage
					}
					if json.Unmarshal(b, &e) != nil {
						return b
					}
					if len(e.Payload) == 0 {
						e.Payload = []byte("{}")
					}
					return wire.Outgoing{ID: e.ID, Kind: e.Kind, Payload: strings.ToValidUTF8(string(e.Payload), "\uFFFD")}.Bytes()
				}
				m.tolerate(wire.IDNotUUID, wire.PayloadNotObject)
			}},

		// bytes that are no JSON, or more than one value
		{Name: "trailing-data-accepted", For: ids("LIMIT-004"), Also: ids("PAY-004"), Fault: "it takes what stands behind the object", Reason: tookIt, change: forgiving(wire.TrailingData)},
		{Name: "streaming-decoder", For: ids("LIMIT-004", "PAY-004"), Fault: "a decoder that stops at the closing brace reads the body", Reason: tookIt,
			change: repairing(func(b []byte) []byte {
				if v, _, err := wire.ParsePrefix(b); err == nil {
					return v.Raw
				}
				return b
			})},
		{Name: "first-line-alone", For: ids("LIMIT-004", "LIMIT-005"), Fault: "only the first line of a body is read", Reason: tookIt + `|then a reset`,
			change: repairing(func(b []byte) []byte { line, _, _ := bytes.Cut(b, []byte("\n")); return line })},
		{Name: "two-requests-two-replies", For: ids("STREAM-003"), Also: ids("LIMIT-004", "PAY-004"), Fault: "each object on a stream is answered", Reason: `2 JSON values`,
			change: serving(func(c *call) {
				body, ok := c.readToFIN()
				if !ok {
					return
				}
				var replies []byte
				for rest := body; ; {
					v, next, err := wire.ParsePrefix(rest)
					if err != nil {
						break
					}
					if env, problems := wire.Inspect(v.Raw); len(problems) == 0 && env.Kind == "request" && c.stream.Bidi() {
						replies = append(replies, unhandled(env.ID).bytes()...)
					}
					rest = next
				}
				if len(replies) == 0 || bytes.Count(replies, []byte("unhandled")) < 2 {
					c.handle(body)
					return
				}
				_ = c.stream.Send(c.peer.ctx, replies)
			})},
		{Name: "nul-behind-accepted", For: ids("LIMIT-004"), Fault: "NULs behind the object are dropped", Reason: tookIt, change: repairing(func(b []byte) []byte { return bytes.TrimRight(b, "\x00") })},
		{Name: "nul-before-accepted", For: ids("LIMIT-004"), Fault: "NULs before the object are dropped", Reason: tookIt, change: repairing(func(b []byte) []byte { return bytes.TrimLeft(b, "\x00") })},
		{Name: "control-characters-accepted", For: ids("PAY-004"), Also: ids("LIMIT-004"), Fault: "control characters in texts are taken", Reason: tookIt, change: repairing(escapeControls)},
		{Name: "nul-in-text-accepted", For: ids("LIMIT-004"), Fault: "NULs in texts are taken", Reason: tookIt, change: repairing(func(b []byte) []byte {
			if bytes.HasPrefix(b, []byte("{")) && bytes.HasSuffix(b, []byte("}")) {
				return bytes.ReplaceAll(b, []byte{0}, []byte(`\u0000`))
			}
			return b
		})},
		{Name: "bom-accepted", For: ids("LIMIT-004"), Fault: "a byte order mark is skipped", Reason: tookIt, change: repairing(func(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF")) })},
		{Name: "utf-16-accepted", For: ids("LIMIT-004"), Fault: "UTF-16 is recognised by its mark", Reason: tookIt, change: repairing(fromUTF16)},
		{Name: "invalid-utf-8-replaced", For: ids("LIMIT-004"), Fault: "invalid UTF-8 is replaced", Reason: tookIt, change: repairing(func(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("\uFFFD")) })},
		{Name: "invalid-utf-8-unseen", For: ids("LIMIT-004"), Fault: "UTF-8 is never checked", Reason: tookIt, change: forgiving(wire.NotUTF8)},
		{Name: "latin-1-read", For: ids("LIMIT-004"), Fault: "what is not UTF-8 is read as Latin-1", Reason: tookIt, change: repairing(fromLatin1)},
		{Name: "brace-completed", For: ids("LIMIT-004", "PAY-004"), Fault: "a missing brace is put in", Reason: tookIt, change: repairing(func(b []byte) []byte {
			if _, err := wire.Parse(b); err != nil {
				if more := append(bytes.Clone(b), '}'); valid(more) {
					return more
				}
			}
			return b
		})},
		{Name: "empty-stream-answered", For: ids("LIMIT-004"), Also: ids("ENV-011"), Fault: "an empty stream gets the default error", Reason: tookIt, change: answeringMalformed(func(b []byte) bool { return len(b) == 0 })},
		{Name: "white-space-answered", For: ids("LIMIT-004"), Also: ids("ENV-011"), Fault: "white space alone gets the default error", Reason: tookIt, change: answeringMalformed(func(b []byte) bool { return len(b) > 0 && len(bytes.TrimSpace(b)) == 0 })},
		{Name: "malformed-answered", For: ids("LIMIT-004", "PAY-004", "ENV-009", "ENV-013"), Also: ids("ENV-011", "ENV-010", "ENV-014", "STREAM-003"), Fault: "whatever it cannot read gets the default error", Reason: tookIt, change: answeringMalformed(func([]byte) bool { return true })},
		{Name: "comma-accepted", For: ids("PAY-004"), Fault: "a comma before a closing bracket is taken", Reason: tookIt, change: replaced(`,\s*([}\]])`, "$1")},
		{Name: "comments-accepted", For: ids("PAY-004"), Fault: "comments are taken", Reason: tookIt, change: replaced(`/\*.*?\*/`, "")},
		{Name: "single-quotes-accepted", For: ids("PAY-004"), Fault: "single quotes are taken", Reason: tookIt, change: repairing(func(b []byte) []byte {
			if bytes.HasPrefix(b, []byte("{'")) {
				return bytes.ReplaceAll(b, []byte("'"), []byte(`"`))
			}
			return b
		})},
		{Name: "bare-names-accepted", For: ids("PAY-004"), Fault: "names without quotes are taken", Reason: tookIt, change: repairing(func(b []byte) []byte {
			if bytes.HasPrefix(b, []byte("{id:")) {
				b = bareName.ReplaceAll(b, []byte(`$1"$2":`))
				return bytes.ReplaceAll(b, []byte(":request"), []byte(`:"request"`))
			}
			return b
		})},
		{Name: "nan-accepted", For: ids("PAY-004"), Fault: "NaN and Infinity are taken", Reason: tookIt, change: replaced(`:(NaN|-?Infinity)\b`, ":0")},
		{Name: "leading-zero-accepted", For: ids("PAY-004"), Fault: "a leading zero is taken", Reason: tookIt, change: replaced(`:0+([1-9])`, ":$1")},
		{Name: "leading-plus-accepted", For: ids("PAY-004"), Fault: "a leading plus is taken", Reason: tookIt, change: replaced(`:\+([0-9])`, ":$1")},
		{Name: "bare-point-accepted", For: ids("PAY-004"), Fault: "a point with no digit behind it is taken", Reason: tookIt, change: replaced(`([0-9])\.([}\],])`, "$1$2")},
		{Name: "hexadecimal-accepted", For: ids("PAY-004"), Fault: "hexadecimal numbers are taken", Reason: tookIt, change: replaced(`:0x[0-9a-f]+`, ":16")},
		{Name: "true-capital-accepted", For: ids("PAY-004"), Fault: "True is taken", Reason: tookIt, change: replaced(`:True`, ":true")},
		{Name: "any-escape-accepted", For: ids("PAY-004"), Fault: "escapes that JSON does not know are taken", Reason: tookIt, change: replaced(`\\x([0-9a-fA-F]{2})`, `\u00$1`)},
		{Name: "raw-tab-accepted", For: ids("PAY-004"), Fault: "a raw tab in a text is taken", Reason: tookIt, change: replaced(`([a-z])\t([a-z])`, `$1\t$2`)},
		{Name: "comma-missing-accepted", For: ids("PAY-004"), Fault: "a missing comma is put in", Reason: tookIt, change: replaced(`" "`, `","`)},
		{Name: "brace-too-many-accepted", For: ids("PAY-004", "LIMIT-004"), Fault: "braces behind the object are dropped", Reason: tookIt, change: repairing(func(b []byte) []byte {
			if less := bytes.TrimSuffix(b, []byte("}")); valid(less) {
				return less
			}
			return b
		})},
		{Name: "length-before-skipped", For: ids("PAY-004"), Fault: "it takes four bytes of length before the object", Reason: tookIt, change: repairing(func(b []byte) []byte {
			if len(b) > 4 && b[0] == 0 && b[4] == '{' {
				return b[4:]
			}
			return b
		})},
		{Name: "any-space-accepted", For: ids("PAY-004"), Fault: "white space that is Unicode's and not JSON's is trimmed", Reason: tookIt, change: repairing(bytes.TrimSpace)},
		{Name: "http-accepted", For: ids("PAY-004"), Fault: "the body of an HTTP request is taken", Reason: tookIt, change: repairing(func(b []byte) []byte {
			if head, body, ok := bytes.Cut(b, []byte("\r\n\r\n")); ok && bytes.HasPrefix(head, []byte("POST ")) {
				return body
			}
			return b
		})},
		{Name: "yaml-accepted", For: ids("PAY-004"), Fault: "it reads YAML too", Reason: tookIt, change: repairing(func(b []byte) []byte {
			if rest, ok := bytes.CutPrefix(b, []byte("id: ")); ok && len(rest) > 36 {
				return wire.Outgoing{ID: string(rest[:36]), Kind: "request"}.Bytes()
			}
			return b
		})},
		{Name: "form-accepted", For: ids("PAY-004"), Fault: "it reads forms too", Reason: tookIt, change: repairing(func(b []byte) []byte {
			if rest, ok := bytes.CutPrefix(b, []byte("id=")); ok && len(rest) > 36 {
				return wire.Outgoing{ID: string(rest[:36]), Kind: "request"}.Bytes()
			}
			return b
		})},
		{Name: "payload-never-parsed", For: ids("PAY-004"), Also: ids("LIMIT-004"), Fault: "the payload is skipped by its braces and never parsed", Reason: tookIt, change: repairing(func(b []byte) []byte {
			if valid(b) {
				return b
			}
			m := skipped.FindSubmatch(b)
			if m == nil {
				return b
			}
			return append(append(bytes.Clone(m[1]), "{}"...), m[2]...)
		})},
	}
}

var (
	bareName = regexp.MustCompile(`([{,])([a-z]+):`)
	skipped  = regexp.MustCompile(`(?s)^(\{"id":"[0-9a-f-]{36}","kind":"request","payload":)\{.*\}(\})$`)
)

// noRefWithoutID: what has no id of a UUID's form gets a reply without ref.
func noRefWithoutID(m *manner) {
	m.alter = func(c *call, a *answer) {
		if !wire.SameUUID(c.env.ID, c.env.ID) {
			a.Ref = ""
		}
	}
}

// memberKind is the JSON type of a member of the envelope.
func memberKind(c *call, name string) wire.Kind {
	v, _ := c.env.Whole.Get(name)
	return v.Kind
}

// kindOfType takes kinds of one more type than text.
func kindOfType(k wire.Kind) change {
	return refusing(func(c *call) bool { return memberKind(c, "kind") != wire.String && memberKind(c, "kind") != k })
}

// payloadOfType takes payloads of one more type than object.
func payloadOfType(k wire.Kind) change {
	return together(forgiving(wire.PayloadNotObject), refusing(func(c *call) bool {
		return memberKind(c, "payload") != wire.Object && memberKind(c, "payload") != k
	}))
}

// answeringMalformed gives bytes that are no envelope the default error.
func answeringMalformed(which func([]byte) bool) change {
	return func(m *manner) {
		m.malformed = func(c *call) {
			if !c.stream.Bidi() || !which(c.body) {
				c.drop(codeMalformed)
				return
			}
			a := unhandled(c.env.ID)
			a.Ref = ""
			c.reply(a)
		}
	}
}

// renamed gives each member of an envelope another name.
func renamed(b []byte, name func(string) string) []byte {
	v, err := wire.Parse(b)
	if err != nil || v.Kind != wire.Object {
		return b
	}
	// The last of several with one name stays.
	at := map[string]int{}
	var members []string
	for _, m := range v.Object {
		n := name(m.Name)
		text := quote(n) + ":" + string(m.Value.Raw)
		if i, double := at[n]; double && n != m.Name {
			members[i] = text
			continue
		}
		at[n] = len(members)
		members = append(members, text)
	}
	return []byte(object(members...))
}

// replaced mends a body by a regular expression, if that makes it JSON.
func replaced(pattern, by string) change {
	expression := regexp.MustCompile(pattern)
	return repairing(func(b []byte) []byte {
		if valid(b) {
			return b
		}
		if mended := expression.ReplaceAll(b, []byte(by)); valid(mended) {
			return mended
		}
		return b
	})
}

func valid(b []byte) bool {
	_, err := wire.Parse(b)
	return err == nil
}

func escapeControls(b []byte) []byte {
	if valid(b) {
		return b
	}
	var out []byte
	inText := false
	for i, c := range b {
		if c == '"' && (i == 0 || b[i-1] != '\\') {
			inText = !inText
		}
		if inText && c < ' ' {
			out = append(out, `\u00`...)
			out = append(out, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			continue
		}
		out = append(out, c)
	}
	return out
}

func fromUTF16(b []byte) []byte {
	if !bytes.HasPrefix(b, []byte{0xff, 0xfe}) {
		return b
	}
	var units []uint16
	for i := 2; i+1 < len(b); i += 2 {
		units = append(units, uint16(b[i])|uint16(b[i+1])<<8)
	}
	return []byte(string(utf16.Decode(units)))
}

func fromLatin1(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	var out []rune
	for _, c := range b {
		out = append(out, rune(c))
	}
	return []byte(string(out))
}
