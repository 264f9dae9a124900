package mutants

import (
	"strings"
)

// kindMutants write a wrong kind, or treat kinds wrongly.
func kindMutants() []Mutant {
	kind := func(raw string) change { return altering(func(_ *call, a *answer) { a.Kind = raw }) }
	wrong := ids("STREAM-004", "KIND-002", "DEFERR-001", "FWD-002", "DEFERR-008", "STREAM-006", "STREAM-008")
	return []Mutant{
		{Name: "kind-capital", For: ids("ENV-007"), Also: wrong, Fault: "the kind of its replies is Error", Reason: `kind-unknown: "Error"`, change: kind(`"Error"`)},
		{Name: "kind-upper-case", For: ids("ENV-007"), Also: wrong, Fault: "the kind of its replies is ERROR", Reason: `kind-unknown: "ERROR"`, change: kind(`"ERROR"`)},
		{Name: "kind-reply", For: ids("ENV-007", "STREAM-004"), Also: wrong, Fault: "the kind of its replies is reply", Reason: `kind-unknown: "reply"|"reply"`, change: kind(`"reply"`)},
		{Name: "kind-message", For: ids("STREAM-004", "KIND-002", "DEFERR-001"), Also: wrong, Fault: "the kind of its replies is message", Reason: `"message"`, change: kind(`"message"`)},
		{Name: "kind-kept", For: ids("STREAM-004", "KIND-002", "DEFERR-001"), Also: append(ids("ENV-007"), wrong...), Fault: "a reply has the kind of what it answers", Reason: `"request"|"future"`,
			change: altering(func(c *call, a *answer) { a.Kind = quote(c.env.Kind) })},
		{Name: "kind-response", For: ids("DEFERR-001", "FWD-002"), Fault: "the default error has the kind response", Reason: `"response"`, change: inDefault(func(_ *call, a *answer) { a.Kind = `"response"` })},
		{Name: "kind-number", For: ids("ENV-007"), Also: wrong, Fault: "the kind of its replies is a number", Reason: `kind-not-string`, change: kind("3")},
		{Name: "kind-object", For: ids("ENV-007"), Also: wrong, Fault: "the kind of its replies is an object with the name of the kind", Reason: `kind-not-string`, change: kind(`{"error":null}`)},
		{Name: "kind-null", For: ids("ENV-007"), Also: wrong, Fault: "the kind of its replies is null", Reason: `kind-not-string`, change: kind("null")},
		{Name: "kind-missing", For: ids("ENV-002"), Also: append(ids("ENV-007"), wrong...), Fault: "its replies have no kind", Reason: `missing-kind`, change: kind("")},
		{Name: "kind-named-type", For: ids("ENV-002"), Also: append(ids("ENV-007"), wrong...), Fault: "its replies have a member type for the kind", Reason: `missing-kind|extra-member: "type"`,
			change: altering(func(_ *call, a *answer) {
				a.Extra = append(a.Extra, `"type":`+a.Kind)
				a.Kind = ""
			})},
		{Name: "unknown-kind-response", For: ids("FWD-002"), Fault: "an unknown kind is answered by a response", Reason: `"response"`, change: inUnknown(func(_ *call, a *answer) { a.Kind = `"response"` })},
		{Name: "unknown-kind-message", For: ids("FWD-002", "STREAM-004"), Also: ids("FWD-001"), Fault: "an unknown kind is answered by a message", Reason: `"message"`, change: inUnknown(func(_ *call, a *answer) { a.Kind = `"message"` })},
		{Name: "unknown-kind-own-code", For: ids("FWD-002"), Fault: "an unknown kind is answered with the code unknown_kind", Reason: `code is "unknown_kind"`, change: inUnknown(func(_ *call, a *answer) { a.Code = `"unknown_kind"` })},
		{Name: "unknown-kind-invalid", For: ids("FWD-002"), Fault: "an unknown kind is refused as an invalid envelope", Reason: `code is "invalid_envelope"`,
			change: func(m *manner) { m.unknown = func(c *call) *answer { c.invalid("its kind is not known"); return nil } }},
		{Name: "unknown-kind-own-text", For: ids("FWD-002"), Fault: "the message for an unknown kind has its own words", Reason: `it is "unknown kind`,
			change: inUnknown(func(c *call, a *answer) {
				a.Message = quote("unknown kind in '" + c.env.ID + "', send a request instead")
			})},
		{Name: "unknown-kind-named-in-text", For: ids("FWD-002"), Fault: "the message for an unknown kind has the kind in place of the word request", Reason: `it is "no application handler registered for`,
			change: inUnknown(func(c *call, a *answer) {
				a.Message = quote("no application handler registered for " + c.env.Kind + " '" + c.env.ID + "'")
			})},
		{Name: "unknown-kind-retryable", For: ids("FWD-002"), Fault: "the error for an unknown kind is retryable", Reason: `retryable is true`, change: inUnknown(func(_ *call, a *answer) { a.Retryable = "true" })},
		{Name: "unknown-kind-id-of-request", For: ids("FWD-002"), Also: ids("ENV-005"), Fault: "the reply to an unknown kind has its id", Reason: `the reply's id is`, change: inUnknown(func(c *call, a *answer) { a.ID = quote(c.env.ID) })},
		{Name: "unknown-kind-reset", For: ids("FWD-001", "FWD-002"), Also: ids("ENV-001", "ENV-002", "ENV-003", "ENV-004", "ENV-007", "ENV-008", "STREAM-002", "ERRPAY-001", "ERRPAY-002", "ERRPAY-004"), Fault: "an unknown kind is reset", Reason: `no bytes, then a reset with code 1`,
			change: func(m *manner) { m.unknown = func(c *call) *answer { c.drop(codeMalformed); return nil } }},
		{Name: "unknown-kind-empty", For: ids("FWD-001", "FWD-002"), Also: ids("ENV-001", "ENV-002", "ENV-003", "ENV-004", "ENV-007", "ENV-008", "STREAM-002", "ERRPAY-001", "ERRPAY-002", "ERRPAY-004"), Fault: "an unknown kind gets nothing but FIN", Reason: `no bytes, then FIN`,
			change: func(m *manner) { m.unknown = func(c *call) *answer { _ = c.stream.Finish(); return nil } }},
		{Name: "unknown-kind-closes", For: ids("FWD-001", "FWD-002"), Also: ids("ENV-001", "ENV-002", "ENV-003", "ENV-004", "ENV-007", "ENV-008", "STREAM-002", "ERRPAY-001", "ERRPAY-002", "ERRPAY-004", "STREAM-005", "KIND-005", "KIND-008"), Fault: "an unknown kind on a bidirectional stream ends the connection", Reason: `application code 7`,
			change: func(m *manner) {
				m.unknown = func(c *call) *answer { c.link.hangUp(7, "unknown kind"); return nil }
			}},
		{Name: "unknown-kind-closes-one-way", For: ids("FWD-001"), Fault: "an unknown kind on a unidirectional stream ends the connection", Reason: `application code 7`,
			change: func(m *manner) {
				m.oneWay = func(c *call) {
					if !known(c.env.Kind) {
						c.link.hangUp(7, "unknown kind")
					}
				}
			}},
		{Name: "unknown-kind-silent", For: ids("FWD-002"), Also: ids("FWD-001", "ENV-001", "ENV-002", "ENV-003", "ENV-004", "ENV-007", "ENV-008", "STREAM-002", "ERRPAY-001", "ERRPAY-002", "ERRPAY-004"), Ceiling: quick, Fault: "an unknown kind is never answered", Reason: `no bytes, and the stream is still open`,
			change: func(m *manner) { m.unknown = func(*call) *answer { return nil } }},
		{Name: "kind-long-dropped", For: ids("FWD-001", "FWD-002"), Fault: "a kind of more than 64 characters is malformed", Reason: `no bytes, then a reset`,
			change: kindMalformed(func(k string) bool { return len(k) > 64 })},
		{Name: "kind-1000-dropped", For: ids("FWD-001"), Also: ids("FWD-002"), Fault: "a kind of 1,000 characters and more is malformed", Reason: `no bytes, then a reset`,
			change: kindMalformed(func(k string) bool { return len(k) >= 1000 })},
		{Name: "kind-empty-dropped", For: ids("FWD-001", "FWD-002"), Fault: "an empty kind is malformed", Reason: `no bytes, then a reset`,
			change: kindMalformed(func(k string) bool { return k == "" })},
		{Name: "kind-non-ascii-dropped", For: ids("FWD-001", "FWD-002"), Fault: "a kind outside of ASCII is malformed", Reason: `no bytes, then a reset`,
			change: kindMalformed(func(k string) bool { return strings.ContainsFunc(k, func(r rune) bool { return r > 127 }) })},
		{Name: "kind-with-space-dropped", For: ids("FWD-001"), Fault: "a kind that is no word is malformed", Reason: `no bytes, then a reset`,
			change: kindMalformed(func(k string) bool { return strings.ContainsAny(k, " \x00\\") })},
		{Name: "kind-unknown-means-internal", For: ids("FWD-001", "FWD-002"), Fault: "the kind unknown, its own sentinel, is malformed", Reason: `no bytes, then a reset`,
			change: kindMalformed(func(k string) bool { return k == "unknown" })},
		{Name: "kind-hello-is-special", For: ids("FWD-002", "STREAM-004"), Also: ids("ENV-007", "KIND-002"), Fault: "the kind hello is answered by a greeting of an older protocol", Reason: `"hello"|"response"`,
			change: inUnknown(func(c *call, a *answer) {
				if c.env.Kind == "hello" {
					a.Kind = `"hello"`
				}
			})},
		{Name: "kind-any-case", For: ids("FWD-002"), HasHandler: true, Fault: "REQUEST is taken for request, so the application answers it", Reason: `"response"`,
			change: together(echo, func(m *manner) {
				m.unknown = func(c *call) *answer {
					if strings.EqualFold(c.env.Kind, "request") {
						return m.request(c)
					}
					return unhandled(c.env.ID)
				}
			})},
		{Name: "unknown-kind-to-handler", For: ids("FWD-002"), HasHandler: true, Fault: "unknown kinds go to the application like requests", Reason: `"response"`,
			change: together(echo, func(m *manner) { m.unknown = m.request })},
		{Name: "kind-of-payload", For: ids("KIND-002"), Also: ids("ENV-011", "DEFERR-001", "DEFERR-002", "DEFERR-003", "DEFERR-004", "DEFERR-005", "DEFERR-006", "PAY-002"), Fault: "a kind inside the payload is taken for the envelope's", Reason: `invalid_envelope`,
			change: func(m *manner) {
				request := m.request
				m.request = func(c *call) *answer {
					if v, n := c.env.Payload.Get("kind"); n > 0 && v.String != "request" {
						c.invalid("it is no request")
						return nil
					}
					return request(c)
				}
			}},
	}
}

// kindMalformed drops envelopes by their kind.
func kindMalformed(odd func(string) bool) change {
	return func(m *manner) {
		m.unknown = func(c *call) *answer {
			if odd(c.env.Kind) {
				c.drop(codeMalformed)
				return nil
			}
			return unhandled(c.env.ID)
		}
	}
}

func known(kind string) bool {
	switch kind {
	case "request", "response", "message", "error":
		return true
	}
	return false
}
