package mutants

import (
	"github.com/axonproto/axon/harness/wire"
)

// shownEnvelope is an envelope that clients are shown.
type shownEnvelope struct {
	env      wire.Envelope
	from, to string
}

// record builds the envelope anew: what is shown is what a client may rely on.
func (e shownEnvelope) record() *record {
	r := rec("id", quote(e.env.ID), "kind", quote(e.env.Kind), "from", quote(e.from), "to", quote(e.to))
	r.set("payload", string(e.env.Payload.Raw))
	if e.env.Ref != nil {
		r.set("ref", quote(*e.env.Ref))
	}
	return r
}

// inbound shows every client what came on a unidirectional stream.
func (d *localDaemon) inbound(c *call) {
	if c.env.Kind == "request" || c.env.Kind == "response" {
		return
	}
	from := c.link.from()
	e := rec("event", quote("inbound"), "from", quote(from), "envelope", d.m.shown(shownEnvelope{env: c.env, from: from, to: d.own()}).text())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	if d.lax("what is past is past") {
		d.past = append(d.past, e)
	}
	for i, w := range d.clients {
		w.show(e)
		if i == 0 && d.lax("everyone is shown") {
			return
		}
	}
}

// show queues an event.
func (c *localClient) show(e *record) {
	for _, r := range c.d.m.event(c, e.copied()) {
		c.push(c.d.m.line(c, r))
	}
}
