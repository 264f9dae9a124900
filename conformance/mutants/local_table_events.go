package mutants

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/axonproto/axon/harness/wire"
)

// inInbound changes the envelope of inbound events.
func inInbound(f func(e shownEnvelope, r *record)) func(*localManner) {
	return envelopes(func(e shownEnvelope, r *record) {
		if e.env.Kind != "request" && e.env.Kind != "response" {
			f(e, r)
		}
	})
}

// dropping leaves inbound events out.
func dropping(when func(e wire.Value) bool) func(*localManner) {
	return func(m *localManner) {
		m.event = func(_ *localClient, e *record) []*record {
			v, _ := wire.Parse([]byte(e.get("envelope")))
			if e.get("event") == quote("inbound") && when(v) {
				return nil
			}
			return []*record{e}
		}
	}
}

func kindOf(v wire.Value) string {
	kind, _ := v.Get("kind")
	return kind.String
}

// standard tells whether a kind is one of the four.
func standard(kind string) bool {
	return kind == "request" || kind == "response" || kind == "message" || kind == "error"
}

// eventMutants are wrong about what clients are shown.
func eventMutants() []Mutant {
	return []Mutant{
		{Name: "events-with-ok", For: ids("IPC-068"), Anywhere: true, Reason: `it is \{|the line is|got \{`, Ceiling: quick, Lost: true, Fault: "events have ok",
			local: showing("inbound", func(_ *localClient, e *record) { e.set("ok", "true") })},
		{Name: "events-with-req-id", For: ids("IPC-068"), Anywhere: true, Reason: `it is \{`, Fault: "events have a req_id that is null",
			local: showing("", func(_ *localClient, e *record) { e.set("req_id", "null") })},
		{Name: "events-other-name", For: ids("IPC-069"), Anywhere: true, Lost: true, Reason: `it did not come|it was not shown`, Ceiling: quick, Fault: "the event is named message",
			local: showing("inbound", func(_ *localClient, e *record) { e.set("event", quote("message")) })},
		{Name: "events-first-takes", For: ids("IPC-069"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `it did not come|it was not shown|it was shown`, Fault: "the first client takes an event away from the others", local: lacking("everyone is shown")},
		{Name: "events-twice", For: ids("IPC-069"), Also: ids("IPC-073", "IPC-074"), Reason: `it was shown`, Fault: "each event is shown twice", local: func(m *localManner) {
			m.event = func(_ *localClient, e *record) []*record { return []*record{e, e.copied()} }
		}},
		{Name: "events-no-errors", For: ids("IPC-069", "KIND-007"), Ceiling: quick, Reason: `it did not come|it was not shown`, Fault: "unsolicited errors are not shown", local: dropping(func(v wire.Value) bool { return kindOf(v) == "error" })},
		{Name: "events-no-unknown", For: ids("IPC-069", "FWD-003"), Also: ids("FWD-004", "ENV-012"), Ceiling: quick, Reason: `it did not come|it was not shown`, Fault: "envelopes of an unknown kind are not shown", local: dropping(func(v wire.Value) bool { return !standard(kindOf(v)) })},
		{Name: "events-no-empty-kind", For: ids("FWD-003"), Also: ids("FWD-004"), Ceiling: quick, Reason: `it was not shown`, Fault: "an envelope of an empty kind is not shown", local: dropping(func(v wire.Value) bool { return kindOf(v) == "" })},
		{Name: "events-kind-unknown", For: ids("FWD-004", "IPC-070"), Also: ids("FWD-003"), Reason: `it was shown "unknown"|the line is`, Fault: "an unknown kind is shown as unknown",
			local: inInbound(func(e shownEnvelope, r *record) {
				if !standard(e.env.Kind) {
					r.set("kind", quote("unknown"))
				}
			})},
		{Name: "events-kind-lower", For: ids("FWD-004", "IPC-070"), Also: ids("FWD-003"), Reason: `it was shown "|the line is`, Fault: "an unknown kind is shown in lower case",
			local: inInbound(func(e shownEnvelope, r *record) { r.set("kind", quote(strings.ToLower(e.env.Kind))) })},
		{Name: "events-from-wire", For: ids("IPC-070", "ENV-012"), Reason: `the line is|it has|from is`, Fault: "from and to of a message are taken from the wire", local: envelopes(fromWire("message"))},
		{Name: "events-frame-from-wire", For: ids("ENV-012", "IPC-070"), Also: ids("IPC-040"), Reason: `from is|the line is`, Fault: "an event's from is the one on the wire", local: func(m *localManner) {
			var mu sync.Mutex
			claimed := map[string]string{}
			m.shown = func(e shownEnvelope) *record {
				if v, n := e.env.Whole.Get("from"); n > 0 {
					mu.Lock()
					claimed[e.env.ID] = string(v.Raw)
					mu.Unlock()
				}
				return e.record()
			}
			m.event = func(_ *localClient, e *record) []*record {
				v, _ := wire.Parse([]byte(e.get("envelope")))
				id, _ := v.Get("id")
				mu.Lock()
				defer mu.Unlock()
				if from := claimed[id.String]; from != "" {
					e.set("from", from)
				}
				return []*record{e}
			}
		}},
		{Name: "events-no-to", For: ids("IPC-070", "ENV-012"), Reason: `the line is|it has`, Fault: "the envelope that is shown has no to",
			local: inInbound(func(_ shownEnvelope, r *record) { r.set("to", "") })},
		{Name: "events-no-ref", For: ids("IPC-070"), Reason: `the line is`, Fault: "the envelope that is shown has no ref",
			local: inInbound(func(_ shownEnvelope, r *record) { r.set("ref", "") })},
		{Name: "events-as-received", For: ids("IPC-070"), Reason: `the line is`, Fault: "further members of the wire are shown",
			local: inInbound(func(e shownEnvelope, r *record) {
				for _, m := range e.env.Whole.Object {
					if r.get(m.Name) == "" && m.Name != "ref" {
						r.set(m.Name, string(m.Value.Raw))
					}
				}
			})},
		{Name: "events-line-64k", For: ids("IPC-071"), Also: ids("PAY-001"), Ceiling: quick, Reason: `it was not shown`, Fault: "an event may have 65,536 bytes, and one that has more is dropped", local: func(m *localManner) {
			m.event = func(_ *localClient, e *record) []*record {
				if len(e.text()) > 65536 {
					return nil
				}
				return []*record{e}
			}
		}},
		{Name: "events-large-cut", For: ids("IPC-071"), Also: ids("PAY-001"), Reason: `it became`, Fault: "the payload of a large envelope is not shown",
			local: inInbound(func(e shownEnvelope, r *record) {
				if len(e.env.Payload.Raw) > 60000 {
					r.set("payload", `{"cut":true}`)
				}
			})},
		{Name: "events-cut-panics", For: ids("IPC-072"), Also: ids("PAY-001"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `it was not shown|it did not come`, Fault: "a preview that is cut inside of a character ends all delivery", local: func(m *localManner) {
			m.event = func(c *localClient, e *record) []*record {
				v, _ := wire.Parse([]byte(e.get("envelope")))
				if p, _ := v.Get("payload"); len(p.Raw) > 256 && !utf8.Valid(p.Raw[:256]) {
					c.d.stopped = true // show is called with d.mu held
					return nil
				}
				return []*record{e}
			}
		}},
		{Name: "events-cut-lost", For: ids("IPC-072"), Also: ids("PAY-001"), Ceiling: quick, Reason: `it was not shown`, Fault: "an envelope whose preview is cut inside of a character is not shown",
			local: dropping(func(v wire.Value) bool {
				p, _ := v.Get("payload")
				return len(p.Raw) > 256 && !utf8.RuneStart(p.Raw[256])
			})},
		{Name: "events-slow-dropped", For: ids("IPC-073"), Also: ids("IPC-054"), Heavy: true, Lost: true, Ceiling: 2 * quick, Reason: `its connection is open`, Fault: "lines for a client that does not read are dropped", local: lacking("a client that lags is let go")},
		{Name: "events-sender-waits", For: ids("IPC-073"), Anywhere: true, Heavy: true, Lost: true, Ceiling: 2 * quick, Reason: `it was shown \d+ of|it took no more|no credit|granted none`, Fault: "delivery waits for a client that does not read", local: lacking("nobody waits for a slow client")},
		{Name: "events-stop-after-lag", For: ids("IPC-073", "IPC-074"), Heavy: true, Anywhere: true, Lost: true, Ceiling: 2 * quick, Reason: `it did not come|it was shown \d+ of`, Fault: "delivery stops for good when a client is let go", local: lacking("delivery outlives a client that lags")},
		{Name: "events-stop-after-leaving", For: ids("IPC-074"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `it did not come|it was not shown`, Fault: "delivery stops for good when a client leaves", local: lacking("delivery outlives a client that leaves")},
		{Name: "events-replayed", For: ids("IPC-075"), Also: ids("IPC-069"), Anywhere: true, Lost: true, Reason: `it was shown`, Fault: "a new client is shown what came before it", local: lacking("what is past is past")},
		{Name: "events-requests-too", For: ids("IPC-075"), Reason: `it was shown`, Fault: "requests that nobody handles are shown as inbound events", local: func(m *localManner) {
			m.unheld = func(d *localDaemon, c *call) {
				e := rec("event", quote("inbound"), "from", quote(c.link.from()), "envelope", d.m.shown(shownEnvelope{env: c.env, from: c.link.from(), to: d.own()}).text())
				d.mu.Lock()
				defer d.mu.Unlock()
				for _, w := range d.clients {
					w.show(e)
				}
			}
		}},
	}
}
