package mutants

import (
	"github.com/axonproto/axon/harness/wire"
)

// replying changes what the handler's answer becomes on the wire.
func replying(f func(c *call, a *answer)) func(*localManner) {
	return func(m *localManner) {
		m.wire.alter = func(c *call, a *answer) {
			if a.Payload != "" { // the handler's own
				f(c, a)
			}
		}
	}
}

// handlerMutants are wrong about the lease and the requests behind it.
func handlerMutants() []Mutant {
	return []Mutant{
		{Name: "lease-broadcast", For: ids("IPC-039"), Also: ids("IPC-041", "IPC-075"), Reason: `it was shown`, Fault: "requests are shown to every client", local: lacking("requests are for the holder alone")},
		{Name: "lease-inbound-too", For: ids("IPC-039", "IPC-075"), Also: ids("IPC-041"), Reason: `it was shown`, Fault: "other clients are shown requests as inbound events", local: lacking("requests are no inbound events")},
		{Name: "lease-no-serving", For: ids("IPC-039"), Also: ids("IPC-042", "IPC-054"), Reason: `the line is`, Fault: "serve is answered without serving",
			local: saying("serve", func(_ *localClient, a *record) { a.set("serving", "") })},
		{Name: "lease-own-number", For: ids("IPC-040"), Also: ids("IPC-039", "IPC-053"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `the line is|it did not come`, Fault: "request_id is a number of the daemon's own",
			local: showing("request", func(c *localClient, e *record) { e.set("request_id", "7") })},
		{Name: "lease-from-wire", For: ids("IPC-040"), Also: ids("IPC-070", "ENV-012"), Reason: `the line is`, Fault: "from and to of a request are taken from the wire", local: envelopes(fromWire("request"))},
		{Name: "lease-no-ref", For: ids("IPC-040"), Reason: `the line is`, Fault: "a request is shown without its ref",
			local: envelopes(func(e shownEnvelope, r *record) {
				if e.env.Kind == "request" {
					r.set("ref", "")
				}
			})},
		{Name: "lease-null-ref", For: ids("IPC-040"), Reason: `the line is`, Fault: "a request without ref is shown with one that is null",
			local: envelopes(func(e shownEnvelope, r *record) {
				if e.env.Kind == "request" && e.env.Ref == nil {
					r.set("ref", "null")
				}
			})},
		{Name: "lease-last-wins", For: ids("IPC-041"), Also: ids("IPC-042"), Reason: `"serving":true`, Fault: "the last one to ask has the lease", local: lacking("there is one lease")},
		{Name: "lease-kept", For: ids("IPC-042"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `handler_busy|is given the handler lease`, Fault: "the lease outlives its holder", local: lacking("the lease ends with its holder")},
		{Name: "lease-replies-in-order", For: ids("IPC-043"), Also: ids("IPC-044", "IPC-051", "IPC-052", "DEFERR-008", "DEFERR-009"), Anywhere: true, Reason: `it became|ref is|carried|payload`, Fault: "replies go to the requests in their order", local: lacking("replies are matched by their ids")},
		{Name: "lease-error-as-response", For: ids("IPC-043", "DEFERR-009"), Also: ids("ERRPAY-003"), Reason: `carried`, Fault: "the handler's error goes out as a response",
			local: replying(func(_ *call, a *answer) { a.Kind = quote("response") })},
		{Name: "lease-reply-ref", For: ids("IPC-043"), Also: ids("IPC-046", "IPC-045", "IPC-050", "IPC-051", "DEFERR-008", "DEFERR-009", "ERRPAY-003", "PAY-001", "ENV-011"), Anywhere: true, Reason: `ref`, Fault: "the handler's reply goes out with the id of another request as its ref",
			local: replying(func(_ *call, a *answer) { a.Ref = quote(wire.NewID()) })},
		{Name: "lease-reply-wrapped", For: ids("IPC-043", "DEFERR-009", "PAY-001", "ERRPAY-003"), Also: ids("IPC-045", "IPC-046", "IPC-050", "IPC-051", "DEFERR-008"), Reason: `it became`, Fault: "the handler's payload goes out inside of an object",
			local: replying(func(_ *call, a *answer) { a.Payload = `{"result":` + a.Payload + `}` })},
		{Name: "lease-reply-rounded", For: ids("PAY-001"), Reason: `it became`, Fault: "the handler's payload is decoded and encoded anew",
			local: replying(func(_ *call, a *answer) { a.Payload = reencoded(a.Payload) })},
		{Name: "lease-request-rounded", For: ids("PAY-001"), Reason: `it became`, Fault: "the payload that the handler is given is decoded and encoded anew",
			local: envelopes(func(e shownEnvelope, r *record) {
				if e.env.Kind == "request" {
					r.set("payload", reencoded(string(e.env.Payload.Raw)))
				}
			})},
		{Name: "lease-inbound-rounded", For: ids("PAY-001"), Also: ids("IPC-072"), Reason: `it became`, Fault: "the payload that watchers are shown is decoded and encoded anew",
			local: envelopes(func(e shownEnvelope, r *record) {
				if e.env.Kind == "message" {
					r.set("payload", reencoded(string(e.env.Payload.Raw)))
				}
			})},
		{Name: "lease-error-conventional", For: ids("ERRPAY-003"), Also: ids("IPC-043", "DEFERR-009"), Reason: `it became`, Fault: "an error of the handler is brought to code and message",
			local: replying(func(_ *call, a *answer) {
				if a.Kind == quote("error") {
					a.Payload = `{"code":"handler_error","message":"the handler failed","retryable":false}`
				}
			})},
		{Name: "lease-reply-again", For: ids("IPC-044"), Also: ids("IPC-053", "IPC-049"), Reason: `got \{"ok":true`, Fault: "a second reply is answered by yes, though it goes nowhere", local: lacking("a request takes one reply")},
		{Name: "lease-reply-again-code", For: ids("IPC-044"), Also: ids("IPC-053", "IPC-049"), Reason: `got \{"ok":false`, Fault: "a second reply is a bad command",
			local: recoding("reply decline", "request_not_found", "invalid_command")},
		{Name: "lease-anyone-replies", For: ids("IPC-045"), Also: ids("IPC-011", "IPC-012", "IPC-013", "IPC-014"), Reason: `got \{`, Fault: "any client may answer", local: lacking("only the holder answers")},
		{Name: "lease-refused-ends", For: ids("IPC-045"), Reason: `request_not_found`, Fault: "who is refused for not holding the lease ends the request", local: lacking("who is refused changes nothing")},
		{Name: "lease-bad-reply-ends", For: ids("IPC-046"), Reason: `request_not_found`, Fault: "a reply that is refused ends the request", local: lacking("a refused reply leaves the request waiting")},
		{Name: "lease-any-kind", For: ids("IPC-046"), Reason: `got \{"ok":true`, Fault: "a reply may have any kind", local: lacking("a reply is a response or an error")},
		{Name: "lease-any-payload", For: ids("IPC-046"), Reason: `got \{"ok":true`, Fault: "a reply may have any payload", local: lacking("a reply's payload is an object")},
		{Name: "lease-decline-code", For: ids("IPC-047", "DEFERR-007"), Also: ids("IPC-051"), Reason: `declined`, Fault: "declining leads to an error with a code of its own",
			local: func(m *localManner) {
				m.declined = func(id string) *answer { return turned(id, "declined", "the application declined this request") }
			}},
		{Name: "lease-decline-retryable", For: ids("IPC-047", "DEFERR-007"), Also: ids("IPC-051"), Reason: `retryable`, Fault: "declining leads to the default error, but for retryable",
			local: func(m *localManner) {
				m.declined = func(id string) *answer {
					a := unhandled(id)
					a.Retryable = "true"
					return a
				}
			}},
		{Name: "lease-decline-empty", For: ids("IPC-047", "DEFERR-007"), Also: ids("IPC-051", "IPC-044", "KIND-002"), Reason: `no bytes`, Fault: "declining leads to an empty finish", local: func(m *localManner) { m.declined = func(string) *answer { return nil } }},
		{Name: "lease-orphans-wait", For: ids("IPC-048", "DEFERR-008"), Also: ids("IPC-054"), Lost: true, Reason: `still open|no bytes|timeout|code`, Ceiling: quick, Fault: "the requests of a holder that left wait for the deadline", local: lacking("the requests of a lost holder are ended")},
		{Name: "lease-first-orphan", For: ids("IPC-048"), Also: ids("IPC-050", "IPC-054"), Lost: true, Reason: `still open|no bytes|timeout|code`, Ceiling: quick, Fault: "of a holder that left one request is ended", local: lacking("all requests of a lost holder are ended")},
		{Name: "lease-orphan-code", For: ids("IPC-048"), Also: ids("IPC-054", "DEFERR-008"), Reason: `handler_lost`, Fault: "the requests of a holder that left end by another error",
			local: func(m *localManner) {
				m.orphaned = func(id string) *answer {
					return turned(id, "handler_lost", "the application has gone; try again later")
				}
			}},
		{Name: "lease-no-deadline", For: ids("IPC-049"), Lost: true, Ceiling: quick, Reason: `still open|no bytes`, Fault: "a handler may take as long as it likes", local: hasty(lacking("the handler has a deadline"))},
		{Name: "lease-deadline-default", For: ids("IPC-049"), Reason: `unhandled`, Fault: "the default error ends a request that the handler did not answer", local: hasty(func(m *localManner) { m.late = unhandled })},
		{Name: "lease-deadline-final", For: ids("IPC-049"), Reason: `retryable`, Fault: "a request that the handler did not answer may not be tried again", local: hasty(func(m *localManner) {
			m.late = func(id string) *answer {
				a := turned(id, "timeout", "the application did not answer in time")
				a.Retryable = "false"
				return a
			}
		})},
		{Name: "lease-late-reply", For: ids("IPC-049", "IPC-053"), Anywhere: true, Reason: `got \{"ok":true|it did not come`, Ceiling: 2 * quick, Fault: "a reply that comes too late is answered by yes", local: hasty(lacking("a late reply is refused"))},
		{Name: "lease-no-bound", For: ids("IPC-050"), Heavy: true, Lost: true, Ceiling: 2 * quick, Reason: `still open|no bytes|timeout`, Fault: "any number of requests may wait", local: func(m *localManner) { m.maxPending = 1 << 20 }},
		{Name: "lease-oldest-dropped", For: ids("IPC-050"), Heavy: true, Lost: true, Ceiling: 2 * quick, Reason: `carried|code|still open|no bytes`, Fault: "a request too many ends the oldest one", local: lacking("those that wait are left alone")},
		{Name: "lease-overload-code", For: ids("IPC-050"), Heavy: true, Reason: `unhandled`, Fault: "a request too many gets the default error", local: func(m *localManner) { m.overloaded = unhandled }},
		{Name: "lease-overload-final", For: ids("IPC-050"), Heavy: true, Reason: `retryable`, Fault: "a request too many may not be tried again", local: func(m *localManner) {
			m.overloaded = func(id string) *answer {
				a := turned(id, "overloaded", "too many requests are waiting for the application")
				a.Retryable = "false"
				return a
			}
		}},
		{Name: "lease-thousand", For: ids("IPC-050"), Heavy: true, Lost: true, Ceiling: 2 * quick, Reason: `it was shown|carried`, Fault: "1,000 requests may wait", local: func(m *localManner) { m.maxPending = 1000 }},
		{Name: "lease-by-id-alone", For: ids("IPC-051"), Also: ids("IPC-052"), Lost: true, Ceiling: quick, Reason: `.`, Fault: "a request replaces one of another peer with its id", local: lacking("requests are told apart by their peers")},
		{Name: "lease-peer-ignored", For: ids("IPC-051"), Reason: `it became|payload|carried`, Fault: "the peer that a reply names is not looked at", local: lacking("the named peer is meant")},
		{Name: "lease-last-peer", For: ids("IPC-052"), Reason: `got \{"ok":true`, Fault: "without peer the last of several requests is answered", local: lacking("the peer is named where several wait")},
		{Name: "lease-silent-cancel", For: ids("IPC-053"), Ceiling: quick, Reason: `it did not come`, Fault: "the holder is not told of a requester that gave up", local: lacking("the holder is told of requesters that give up")},
		{Name: "lease-cancel-code", For: ids("IPC-053"), Reason: `the line is`, Fault: "request_cancelled does not say from whom the request was", local: showing("request_cancelled", func(_ *localClient, e *record) { e.set("from", "") })},
		{Name: "lease-deaf-holder", For: ids("IPC-054"), Also: ids("IPC-073"), Heavy: true, Lost: true, Ceiling: 2 * quick, Reason: `still waited|code|timeout`, Fault: "lines for a holder that does not read are dropped, and it keeps the lease", local: lacking("a client that lags is let go")},
	}
}

// fromWire takes from and to of a kind from the wire.
func fromWire(kind string) func(e shownEnvelope, r *record) {
	return func(e shownEnvelope, r *record) {
		for _, name := range []string{"from", "to"} {
			if v, n := e.env.Whole.Get(name); n > 0 && e.env.Kind == kind {
				r.set(name, string(v.Raw))
			}
		}
	}
}
