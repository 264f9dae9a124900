package mutants

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// reencoded passes a value through Go's own types, as one does who does not know
// better: numbers are rounded, repeated names dropped, lone surrogates replaced.
func reencoded(raw string) string {
	var v any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return "{}"
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// inResponse changes the reply that a caller is given.
func inResponse(f func(a *record, response wire.Value)) func(*localManner) {
	return saying("send", func(_ *localClient, a *record) {
		if raw := a.get("response"); raw != "" {
			v, _ := wire.Parse([]byte(raw))
			f(a, v)
		}
	})
}

// recoding gives an error another code.
func recoding(command, from, to string) func(*localManner) {
	return saying(command, func(_ *localClient, a *record) {
		if a.get("error") == quote(from) {
			a.set("error", quote(to))
		}
	})
}

// lessOf is a value without one of its members, as raw JSON.
func lessOf(v wire.Value, name string) string {
	r := &record{}
	for _, m := range v.Object {
		if m.Name != name {
			r.members = append(r.members, pairOf{m.Name, string(m.Value.Raw)})
		}
	}
	return r.text()
}

// sendMutants are wrong about the command send.
func sendMutants() []Mutant {
	return []Mutant{
		{Name: "local-response-payload", For: ids("IPC-022"), Also: ids("IPC-023", "IPC-027", "IPC-038", "IPC-019", "KIND-006", "KIND-009", "ERRPAY-003"), Reason: `the line is|payload`, Fault: "the caller is given the payload alone",
			local: inResponse(func(a *record, v wire.Value) {
				p, _ := v.Get("payload")
				a.set("response", string(p.Raw))
			})},
		{Name: "local-response-no-id", For: ids("IPC-022"), Reason: `the line is`, Fault: "the reply is given without its id",
			local: inResponse(func(a *record, v wire.Value) { a.set("response", lessOf(v, "id")) })},
		{Name: "local-response-no-ref", For: ids("IPC-022"), Reason: `the line is`, Fault: "the reply is given without its ref",
			local: inResponse(func(a *record, v wire.Value) { a.set("response", lessOf(v, "ref")) })},
		{Name: "local-msg-id-own", For: ids("IPC-022", "IPC-024"), Reason: `the line is`, Fault: "msg_id is another than the id on the wire",
			local: saying("send", func(_ *localClient, a *record) {
				if !a.failed() {
					a.set("msg_id", quote(wire.NewID()))
				}
			})},
		{Name: "local-response-cut", For: ids("IPC-022"), Also: ids("IPC-009"), Reason: `it became`, Fault: "a large payload of a reply is cut",
			local: inResponse(func(a *record, v wire.Value) {
				if p, _ := v.Get("payload"); len(p.Raw) > 60000 {
					a.set("response", strings.Replace(string(v.Raw), string(p.Raw), `{"cut":true}`, 1))
				}
			})},
		{Name: "local-response-no-from", For: ids("IPC-023"), Also: ids("IPC-038"), Reason: `the line is`, Fault: "the reply is given without from and to",
			local: inResponse(func(a *record, v wire.Value) {
				u, _ := wire.Parse([]byte(lessOf(v, "from")))
				a.set("response", lessOf(u, "to"))
			})},
		{Name: "local-response-from-wire", For: ids("IPC-023"), Reason: `the line is`, Fault: "from and to of a reply are taken from the wire",
			local: envelopes(func(e shownEnvelope, r *record) {
				for _, name := range []string{"from", "to"} {
					if v, n := e.env.Whole.Get(name); n > 0 && e.env.Kind == "response" {
						r.set(name, string(v.Raw))
					}
				}
			})},
		{Name: "local-message-response", For: ids("IPC-024"), Reason: `the line is`, Fault: "the answer for a message has a response that is null",
			local: saying("send", func(_ *localClient, a *record) {
				if !a.failed() && a.get("response") == "" {
					a.set("response", "null")
				}
			})},
		{Name: "local-message-waits", For: ids("IPC-024"), Also: ids("IPC-005", "IPC-009", "IPC-019", "IPC-020", "IPC-026", "IPC-035", "IPC-055", "IPC-056", "IPC-057", "IPC-060", "IPC-062", "IPC-065", "IPC-066"), Lost: true, Ceiling: quick, Reason: `it did not come`, Fault: "a message is answered when the peer has sent something",
			local: func(m *localManner) {
				m.carry = func(x *carriage) ([]byte, error) {
					back, err := x.run()
					if x.o.kind == "message" {
						<-x.ctx.Done()
					}
					return back, err
				}
			}},
		{Name: "local-payload-rounded", For: ids("IPC-025"), Reason: `it became`, Fault: "payloads are decoded and encoded anew on their way out",
			local: putting(func(o *outgoing) { o.payload = reencoded(o.payload) })},
		{Name: "local-payload-surrogate", For: ids("IPC-025"), Reason: `it became`, Fault: "a lone surrogate becomes a question mark on its way out",
			local: putting(func(o *outgoing) { o.payload = strings.ReplaceAll(o.payload, `\ud800`, "?") })},
		{Name: "local-payload-names", For: ids("IPC-025"), Reason: `it became|payload`, Fault: "members of a payload that are named as those of commands are dropped",
			local: putting(func(o *outgoing) {
				v, _ := wire.Parse([]byte(o.payload))
				o.payload = lessOf(v, "req_id")
			})},
		{Name: "local-payload-wrapped", For: ids("IPC-025"), Also: ids("KIND-001", "KIND-004", "IPC-035", "STREAM-001"), Reason: `it became`, Fault: "payloads go out inside of an object", local: putting(func(o *outgoing) { o.payload = `{"data":` + o.payload + `}` })},
		{Name: "local-ref-dropped", For: ids("IPC-026"), Reason: `the envelope is`, Fault: "the ref of a message is dropped",
			local: putting(func(o *outgoing) {
				if o.kind == "message" {
					o.ref = nil
				}
			})},
		{Name: "local-ref-request-dropped", For: ids("IPC-026"), Reason: `the envelope is`, Fault: "the ref of a request is dropped",
			local: putting(func(o *outgoing) {
				if o.kind == "request" {
					o.ref = nil
				}
			})},
		{Name: "local-ref-null-sent", For: ids("IPC-026"), Also: ids("REF-001", "IPC-035"), Anywhere: true, Reason: `the envelope has one`, Fault: "with no reference a null ref stands on the wire", local: func(m *localManner) {
			m.encode = func(o outgoing) []byte {
				if o.ref != nil {
					return o.bytes()
				}
				b := o.bytes()
				return append(b[:len(b)-1], `,"ref":null}`...)
			}
		}},
		{Name: "local-remote-error", For: ids("IPC-027"), Also: ids("KIND-006", "ERRPAY-003"), Reason: `got \{"ok":false|it was told`, Fault: "an error of the peer is an error of the command", local: func(m *localManner) {
			m.answer = func(_ *localClient, cmd *localCommand, a *record) []*record {
				v, _ := wire.Parse([]byte(a.get("response")))
				if kind, _ := v.Get("kind"); kind.String == "error" {
					a = no("peer_unreachable", "the peer answered by an error; look at its log").set("req_id", cmd.reqID)
				}
				return []*record{a}
			}
		}},
		{Name: "local-remote-error-both", For: ids("IPC-027"), Reason: `the line is`, Fault: "the answer has an error beside the peer's error",
			local: inResponse(func(a *record, v wire.Value) {
				if kind, _ := v.Get("kind"); kind.String == "error" {
					a.set("error", quote("peer_unreachable"))
				}
			})},
		{Name: "local-remote-code-mapped", For: ids("IPC-027"), Reason: `got \{"ok":false`, Fault: "a peer's error with the code timeout is taken for one's own", local: func(m *localManner) {
			m.answer = func(_ *localClient, cmd *localCommand, a *record) []*record {
				if strings.Contains(a.get("response"), `"code":"timeout"`) {
					a = no("timeout", "no reply came within the time; give more of it").set("req_id", cmd.reqID)
				}
				return []*record{a}
			}
		}},
		{Name: "local-unknown-unreachable", For: ids("IPC-028"), Also: ids("IPC-012", "IPC-013", "IPC-059", "IPC-062"), Reason: `peer_unreachable`, Fault: "a peer that is not known is unreachable", local: recoding("send", "peer_not_found", "peer_unreachable")},
		{Name: "local-self-unknown", For: ids("IPC-029"), Also: ids("IPC-012", "IPC-013"), Reason: `peer_not_found`, Fault: "the daemon does not know itself", local: lacking("the receiver is another")},
		{Name: "local-lost-waits", For: ids("IPC-030"), Also: ids("TLS-008", "IPC-037"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `it did not come|timeout`, Fault: "the whole time is waited for a peer that is lost", local: lacking("a lost peer is told at once")},
		{Name: "local-lost-timeout", For: ids("IPC-030"), Anywhere: true, Reason: `"timeout"`, Fault: "a peer that is lost is a time-out", local: lacking("a lost peer is no time-out")},
		{Name: "local-lost-not-found", For: ids("IPC-030"), Reason: `peer_not_found`, Fault: "a peer that cannot be reached is not found", local: recoding("send", "peer_unreachable", "peer_not_found")},
		{Name: "local-timeout-unreachable", For: ids("IPC-031"), Also: ids("IPC-032"), Reason: `peer_unreachable`, Fault: "a time-out is told as a peer that cannot be reached", local: lacking("a time-out is told as one")},
		{Name: "local-timeout-early", For: ids("IPC-031"), Also: ids("IPC-032"), Reason: `it came after`, Fault: "half the time is waited", local: lacking("a request waits for as long as it is told")},
		{Name: "local-timeout-dial", For: ids("IPC-031"), Also: ids("IPC-030"), Lost: true, Reason: `it did not come|it came after|peer_unreachable`, Fault: "the time does not include dialling", local: lacking("the time includes dialling")},
		{Name: "local-stream-forgotten", For: ids("IPC-032", "IPC-033"), Ceiling: 2 * quick, Reason: `the stream is open`, Fault: "the stream of a request that timed out is forgotten", local: lacking("a stream is given up")},
		{Name: "local-request-outlives", For: ids("IPC-033"), Ceiling: quick, Lost: true, Reason: `the stream is open`, Fault: "requests go on when their client has left", local: lacking("requests end with their client")},
		{Name: "local-timeout-clipped", For: ids("IPC-034"), Reason: `got \{|it opened`, Ceiling: 2 * quick, Lost: true, Fault: "time-outs out of bounds are clipped", local: lacking("a time-out is within its bounds")},
		{Name: "local-timeout-text", For: ids("IPC-034"), Reason: `it did not come|got \{|it opened`, Ceiling: quick, Lost: true, Fault: "a time-out may be a text", local: lacking("a time-out is a number")},
		{Name: "local-timeout-message", For: ids("IPC-034"), Reason: `got \{"ok":true`, Fault: "a message may have a time-out", local: lacking("a message has no time-out")},
		{Name: "local-timeout-limit", For: ids("IPC-034"), Reason: `invalid_command`, Fault: "a time-out of an hour is refused", local: func(m *localManner) {
			m.act = func(_ *localClient, cmd *localCommand) *record {
				if v, _ := cmd.v.Get("timeout_secs"); v.Number == "3600" {
					return no("invalid_command", "timeout_secs is more than 3,599; give less")
				}
				return nil
			}
		}},
		{Name: "local-size-of-payload", For: ids("IPC-035"), Also: ids("LIMIT-007"), Reason: `got \{"ok":true|it opened`, Fault: "the payload is measured in place of the envelope", local: lacking("the envelope is measured")},
		{Name: "local-size-unchecked", For: ids("IPC-035", "LIMIT-007"), Also: ids("IPC-046"), Lost: true, Ceiling: quick, Reason: `got \{|it opened|it did not come|it was given`, Fault: "envelopes of any size are sent", local: func(m *localManner) { m.maxEnvelope = 1 << 20 }},
		{Name: "local-size-less", For: ids("IPC-035"), Reason: `message_too_large`, Fault: "an envelope may have 65,535 bytes", local: func(m *localManner) { m.maxEnvelope-- }},
		{Name: "local-size-cut", For: ids("LIMIT-007", "IPC-035"), Reason: `it was given|it opened|got \{`, Lost: true, Ceiling: quick, Fault: "a payload that is too large is sent without its text", local: putting(func(o *outgoing) {
			if len(o.payload) > 65000 {
				o.payload = `{"cut":true}`
			}
		})},
		{Name: "local-sends-any-kind", For: ids("IPC-036"), Reason: `got \{"ok":true|it opened`, Fault: "envelopes of any kind are sent", local: lacking("only requests and messages are sent")},
		{Name: "local-reply-any-ref", For: ids("IPC-037", "REF-006"), Reason: `"ok":true`, Fault: "the ref of a reply is not looked at", local: lacking("a reply names its request")},
		{Name: "local-reply-no-ref", For: ids("IPC-037", "REF-006"), Reason: `"ok":true`, Fault: "a reply without ref is taken", local: lacking("a reply without ref is none")},
		{Name: "local-reply-any-kind", For: ids("IPC-037"), Reason: `"ok":true`, Fault: "the kind of a reply is not looked at", local: lacking("a reply has one of two kinds")},
		{Name: "local-reply-no-envelope", For: ids("IPC-037"), Reason: `"ok":true`, Fault: "a reply may lack members", local: lacking("a reply is an envelope")},
		{Name: "local-reply-two", For: ids("IPC-037"), Reason: `"ok":true`, Fault: "of two replies the first is taken", local: lacking("one reply comes back")},
		{Name: "local-case-matters", For: ids("IPC-038"), Ceiling: quick, Reason: `peer_not_found`, Fault: "an Agent ID in upper case is another", local: lacking("Agent IDs are compared without regard to case")},
		{Name: "local-case-echoed", For: ids("IPC-038"), Also: ids("IPC-057", "IPC-061"), Reason: `the line is`, Fault: "an Agent ID is given back as it was written, or in upper case", local: lacking("answers are in lower case")},
	}
}

// drivenMutants are wrong about messages and connections in ways that show only when
// they are made to act, or when one sees what they deliver.
func drivenMutants() []Mutant {
	return []Mutant{
		{Name: "drive-request-uni", For: ids("KIND-001"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `unidirectional`, Fault: "requests go out on unidirectional streams", local: func(m *localManner) {
			m.carry = func(x *carriage) ([]byte, error) {
				x.o.kind = "message"
				_, err := x.run()
				if err == nil {
					<-x.ctx.Done()
					err = x.ctx.Err()
				}
				return nil, err
			}
		}},
		{Name: "drive-message-bidi", For: ids("KIND-004"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `bidirectional`, Fault: "messages go out on bidirectional streams", local: func(m *localManner) {
			m.carry = func(x *carriage) ([]byte, error) {
				if x.o.kind == "request" {
					return x.run()
				}
				s, err := x.link.conn.OpenBidi(x.ctx)
				if err == nil {
					err = s.Send(x.ctx, x.body)
				}
				return nil, err
			}
		}},
		{Name: "drive-error-recoded", For: ids("KIND-006"), Also: ids("IPC-027", "ERRPAY-003"), Reason: `it became`, Fault: "the code of a peer's error is replaced",
			local: inResponse(func(a *record, v wire.Value) {
				if kind, _ := v.Get("kind"); kind.String == "error" {
					p, _ := v.Get("payload")
					a.set("response", strings.Replace(string(v.Raw), string(p.Raw), `{"code":"remote_error"}`, 1))
				}
			})},
		{Name: "drive-error-swallowed", For: ids("KIND-006"), Also: ids("IPC-027", "ERRPAY-003"), Lost: true, Ceiling: quick, Reason: `it was told nothing|it did not come`, Fault: "an error of the peer ends nothing", local: func(m *localManner) {
			m.carry = func(x *carriage) ([]byte, error) {
				back, err := x.run()
				if env, _ := wire.Inspect(back); env.Kind == "error" {
					<-x.ctx.Done()
					return nil, x.ctx.Err()
				}
				return back, err
			}
		}},
		{Name: "drive-error-as-response", For: ids("KIND-006"), Also: ids("IPC-027", "ERRPAY-003"), Reason: `it was given|the line is`, Fault: "an error of the peer is given as a response",
			local: inResponse(func(a *record, v wire.Value) {
				a.set("response", strings.Replace(string(v.Raw), `"kind":"error"`, `"kind":"response"`, 1))
			})},
		{Name: "drive-payload-rounded", For: ids("KIND-009"), Also: ids("IPC-022"), Reason: `it became`, Fault: "the payload of a reply is decoded and encoded anew",
			local: envelopes(func(e shownEnvelope, r *record) {
				if e.env.Kind == "response" {
					r.set("payload", reencoded(string(e.env.Payload.Raw)))
				}
			})},
		{Name: "drive-gives-up", For: ids("KIND-009"), Reason: `timeout`, Fault: "no request waits for more than a second", local: func(m *localManner) {
			m.carry = func(x *carriage) ([]byte, error) {
				ctx, cancel := within(x.ctx)
				defer cancel()
				x.ctx = ctx
				back, err := x.run()
				if ctx.Err() != nil {
					err = fmt.Errorf("%w: timeout", errNoWay)
				}
				return back, err
			}
		}},
		{Name: "drive-ref-null", For: ids("REF-001"), Also: ids("IPC-026", "IPC-035"), Anywhere: true, Reason: `the envelope has one`, Fault: "a request without a reference has a ref that is null", local: func(m *localManner) {
			m.encode = func(o outgoing) []byte {
				b := o.bytes()
				if o.ref != nil || o.kind == "message" {
					return b
				}
				return append(b[:len(b)-1], `,"ref":null}`...)
			}
		}},
		{Name: "drive-ref-nil", For: ids("REF-001"), Also: ids("IPC-026", "IPC-035"), Anywhere: true, Reason: `the envelope has one`, Fault: "a message without a reference has the nil UUID as its ref", local: putting(func(o *outgoing) {
			if o.ref == nil && o.kind == "message" {
				none := "00000000-0000-0000-0000-000000000000"
				o.ref = &none
			}
		})},
		{Name: "drive-one-stream", For: ids("STREAM-001"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `JSON values|was used twice|opens a stream|it opened no stream|still open`, Fault: "all messages to a peer go out on one stream", local: func(m *localManner) {
			var streams perLink[*probe.Stream]
			m.carry = func(x *carriage) (back []byte, err error) {
				if x.o.kind == "request" {
					return x.run()
				}
				streams.with(x.link, func(s **probe.Stream) {
					if *s == nil {
						if *s, err = x.link.conn.OpenUni(x.ctx); err != nil {
							return
						}
					}
					err = (*s).Write(x.ctx, x.body)
				})
				return nil, err
			}
		}},
		{Name: "drive-two-at-once", For: ids("STREAM-001"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `JSON values`, Fault: "each second message travels with the one before", local: func(m *localManner) {
			m.carry = func(x *carriage) ([]byte, error) {
				if x.o.kind == "message" && x.d.peer.count("messages")%2 == 0 {
					x.body = append(x.body, x.body...)
				}
				return x.run()
			}
		}},
		{Name: "drive-no-sni", For: ids("TLS-007"), Reason: `the SNI was ""`, Fault: "a dial names no server", local: dialling(func(o *probe.DialOptions) { o.ServerName = "" })},
		{Name: "drive-sni-host", For: ids("TLS-007"), Reason: `the SNI was "peer.example"`, Fault: "a dial names a host", local: dialling(func(o *probe.DialOptions) { o.ServerName = "peer.example" })},
		{Name: "drive-any-key", For: ids("TLS-008"), Also: ids("IPC-030"), Lost: true, Ceiling: quick, Reason: `it opened stream|it was given|told nothing`, Fault: "whoever answers at the address is taken for the peer", local: together2(lacking("who answers is the one meant"), dialling(func(o *probe.DialOptions) { o.ExpectKey = nil }))},
		{Name: "drive-no-certificate", For: ids("TLS-009"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `it showed none|the caller was told|it opened no stream`, Fault: "a dial shows no certificate", local: dialling(func(o *probe.DialOptions) { o.NoCertificate = true })},
		{Name: "drive-certificate-withheld", For: ids("TLS-009"), Ceiling: quick, Lost: true, Reason: `it showed none|the caller was told|it opened no stream`, Fault: "a dial shows no certificate where the listener names authorities that do not match", local: dialling(withhold)},
	}
}
