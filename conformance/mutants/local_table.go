package mutants

import (
	"slices"
	"strings"

	"github.com/axonproto/axon/harness/control"
)

// localMutants break the local API, or what shows only through it.
func localMutants() []Mutant {
	list := slices.Concat(socketMutants(), lineMutants(), sendMutants(), handlerMutants(), peersMutants(), eventMutants(), drivenMutants())
	if !control.CanDialAsOther() {
		// Nobody here could tell.
		list = slices.DeleteFunc(list, func(m Mutant) bool { return slices.Contains(m.For, "AXON-IPC-003") })
	}
	return list
}

// localOddities are daemons whose local API does what is allowed.
func localOddities() []Oddity {
	return []Oddity{
		{Name: "odd-local-correct", What: "a daemon with a local API that does nothing odd", heavy: true, local: func(*localManner) {}},
		{Name: "odd-local-deadline", What: "its handlers have a second", minutes: true, local: hasty(func(*localManner) {})},
		{Name: "odd-local-order", What: "the members of its lines stand in the reverse order", local: func(m *localManner) {
			m.line = func(_ *localClient, r *record) []byte {
				r = r.copied()
				slices.Reverse(r.members)
				return []byte(unbroken(r.text()) + "\n")
			}
		}},
		{Name: "odd-local-spaces", What: "its lines have spaces between their members, and end in a carriage return and a newline", local: func(m *localManner) {
			m.line = func(_ *localClient, r *record) []byte {
				return []byte("  " + strings.Replace(unbroken(r.text()), "{", "{ ", 1) + " \r\n")
			}
		}},
		{Name: "odd-local-escapes", What: "its lines escape every letter outside of ASCII", local: func(m *localManner) {
			m.line = func(_ *localClient, r *record) []byte {
				text := unbroken(r.text())
				if escaped := ascii(text); len(escaped) <= localLine {
					text = escaped
				}
				return []byte(text + "\n")
			}
		}},
		{Name: "odd-local-further-members", What: "its answers and events have further members", local: func(m *localManner) {
			m.answer = func(_ *localClient, _ *localCommand, a *record) []*record { return []*record{a.set("took_ms", "1")} }
			m.event = func(_ *localClient, e *record) []*record { return []*record{e.set("at", `"now"`)} }
		}},
		{Name: "odd-local-candidates", What: "it shows every client a peer_candidate with each answer", local: func(m *localManner) {
			m.answer = func(c *localClient, _ *localCommand, a *record) []*record {
				e := rec("event", quote("peer_candidate"), "agent_id", quote("ed25519.00112233445566778899aabbccddeeff"),
					"public_key", quote(c.d.peer.identity.PublicBase64()), "addr", quote("192.0.2.1:7100"), "source", quote("mdns"))
				return []*record{e, a}
			}
		}},
		{Name: "odd-local-members-ignored", What: "it ignores members that it does not know", Warns: ids("IPC-018"), local: lacking("members are known")},
		{Name: "odd-local-any-order", What: "it answers commands without req_id as they are done", Warns: ids("IPC-021"), local: lacking("commands without req_id keep their order")},
		{Name: "odd-local-last-peer", What: "where several peers wait under one id a reply without peer goes to the last one", Warns: ids("IPC-052"), local: lacking("the peer is named where several wait")},
	}
}

// hasty gives handlers a second.
func hasty(f func(*localManner)) func(*localManner) {
	return func(m *localManner) {
		m.deadline = shortDeadline
		f(m)
	}
}

// lacking leaves rules out.
func lacking(rules ...rule) func(*localManner) {
	return func(m *localManner) {
		for _, r := range rules {
			m.lax[r] = true
		}
	}
}

// saying changes what commands of some names are answered with; with no name, what
// any line is.
func saying(names string, f func(c *localClient, a *record)) func(*localManner) {
	return func(m *localManner) {
		m.answer = func(c *localClient, cmd *localCommand, a *record) []*record {
			if names == "" || cmd != nil && slices.Contains(strings.Fields(names), cmd.name) {
				f(c, a)
			}
			return []*record{a}
		}
	}
}

// erring changes error answers.
func erring(f func(a *record)) func(*localManner) {
	return saying("", func(_ *localClient, a *record) {
		if a.failed() {
			f(a)
		}
	})
}

// showing changes events of a name; with none, any.
func showing(name string, f func(c *localClient, e *record)) func(*localManner) {
	return func(m *localManner) {
		m.event = func(c *localClient, e *record) []*record {
			if name == "" || e.get("event") == quote(name) {
				f(c, e)
			}
			return []*record{e}
		}
	}
}

// envelopes changes envelopes as clients see them.
func envelopes(f func(e shownEnvelope, r *record)) func(*localManner) {
	return func(m *localManner) {
		m.shown = func(e shownEnvelope) *record {
			r := e.record()
			f(e, r)
			return r
		}
	}
}

// putting changes what goes on the wire.
func putting(f func(o *outgoing)) func(*localManner) {
	return func(m *localManner) {
		m.encode = func(o outgoing) []byte {
			f(&o)
			return o.bytes()
		}
	}
}

// listing changes a peer's entry in the answer to peers; those made by nil are left
// out.
func listing(f func(d *localDaemon, k *pinned, e *record) *record) func(*localManner) {
	return func(m *localManner) {
		m.listed = func(d *localDaemon, k *pinned) *record { return f(d, k, d.entry(k)) }
	}
}

// ascii escapes what is beyond ASCII in JSON.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16Of(r) {
			b.WriteString(`\u` + hex4(unit))
		}
	}
	return b.String()
}
