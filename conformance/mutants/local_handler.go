package mutants

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/axonproto/axon/harness/wire"
)

// pending is a request that waits for the handler.
type pending struct {
	from, id string
	holder   *localClient
	done     chan *answer // takes one
}

// acquire gives the lease to a client.
func (c *localClient) acquire(cmd *localCommand) *record {
	d := c.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holder != nil && d.holder != c && !d.lax("there is one lease") {
		return no("handler_busy", "another client holds the lease; stop it first")
	}
	d.holder = c
	if d.lax("serve is answered before the first request") {
		time.AfterFunc(20*time.Millisecond, func() { c.say(cmd, yes("serving", "true")) })
		return nil
	}
	// Under the lock, so that no request is shown before.
	c.say(cmd, yes("serving", "true"))
	return nil
}

// release ends the lease of a client that has gone, and its requests.
func (d *localDaemon) release(c *localClient) {
	d.mu.Lock()
	if d.holder == c && !d.lax("the lease ends with its holder") {
		d.holder = nil
	}
	var orphans []*pending
	for _, p := range d.pending {
		if p.holder == c {
			orphans = append(orphans, p)
		}
	}
	if d.lax("the requests of a lost holder are ended") {
		orphans = nil
	}
	if d.lax("all requests of a lost holder are ended") && len(orphans) > 1 {
		orphans = orphans[:1]
	}
	d.mu.Unlock()
	for _, p := range orphans {
		if d.takeOut(p) {
			p.done <- d.m.orphaned(p.id)
		}
	}
}

// takeOut removes a request and reports whether it still waited.
func (d *localDaemon) takeOut(p *pending) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.pending, p)
	if i < 0 {
		return false
	}
	d.pending = slices.Delete(d.pending, i, i+1)
	return true
}

// request hands a request to the lease holder and waits for the end of it.
func (d *localDaemon) request(c *call) *answer {
	p := &pending{from: c.link.from(), id: c.env.ID, done: make(chan *answer, 1)}
	d.mu.Lock()
	p.holder = d.holder
	full := len(d.pending) >= d.m.maxPending
	if p.holder != nil && full && d.lax("those that wait are left alone") {
		oldest := d.pending[0]
		d.pending = d.pending[1:]
		oldest.done <- d.m.overloaded(oldest.id)
		full = false
	}
	if p.holder == nil || full {
		d.mu.Unlock()
		if full && p.holder != nil {
			return d.m.overloaded(p.id)
		}
		d.m.unheld(d, c)
		return unhandled(p.id)
	}
	if d.lax("requests are told apart by their peers") {
		d.pending = slices.DeleteFunc(d.pending, func(o *pending) bool { return o.id == p.id })
	}
	d.pending = append(d.pending, p)
	watchers := []*localClient{p.holder}
	if d.lax("requests are for the holder alone") {
		watchers = append([]*localClient(nil), d.clients...)
	}
	e := rec("event", quote("request"), "request_id", quote(p.id), "from", quote(p.from),
		"envelope", d.m.shown(shownEnvelope{env: c.env, from: p.from, to: d.own()}).text())
	for _, w := range watchers {
		w.show(e)
	}
	if d.lax("requests are no inbound events") {
		for _, w := range d.clients {
			if w != p.holder {
				w.show(e.copied().set("event", quote("inbound")))
			}
		}
	}
	d.mu.Unlock()
	return d.await(c, p)
}

// await is the end of a request: the handler's answer, the deadline, or that the
// requester gives up.
func (d *localDaemon) await(c *call, p *pending) *answer {
	ctx, cancel := context.WithCancel(c.peer.ctx)
	gaveUp := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		if _, stopped, err := c.stream.AwaitStop(ctx); err == nil && stopped {
			close(gaveUp)
		}
	})
	defer watch.Wait()
	defer cancel()
	deadline := time.NewTimer(d.m.deadline)
	defer deadline.Stop()
	if d.lax("the handler has a deadline") {
		deadline.Stop()
	}
	select {
	case a := <-p.done:
		if a == nil { // by a fault
			_ = c.stream.Finish()
		}
		return a
	case <-deadline.C:
		if d.lax("a late reply is refused") || d.takeOut(p) {
			return d.m.late(p.id)
		}
		select {
		case a := <-p.done:
			return a
		case <-c.peer.ctx.Done(): // a fault may have lost it
			return nil
		}
	case <-gaveUp:
		if d.lax("a late reply is refused") {
			return nil
		}
		if d.takeOut(p) && !d.lax("the holder is told of requesters that give up") {
			p.holder.show(rec("event", quote("request_cancelled"), "request_id", quote(p.id), "from", quote(p.from)))
		}
		return nil
	case <-c.peer.ctx.Done():
		return nil
	}
}

// settle is reply and decline.
func (c *localClient) settle(cmd *localCommand) *record {
	d := c.d
	id, ok := cmd.text("request_id")
	if !ok {
		return no("invalid_command", cmd.name+" needs request_id, a text; name the request")
	}
	peer, named := cmd.text("peer")
	kind, okKind := cmd.text("kind")
	payload, n := cmd.v.Get("payload")
	a := &answer{ID: quote(wire.NewID()), Kind: quote(kind), Ref: quote(id), Payload: string(payload.Raw)}
	var refusal *record
	switch {
	case cmd.name == "decline":
	case !okKind || kind != "response" && kind != "error" && !d.lax("a reply is a response or an error"):
		refusal = no("invalid_command", "kind is neither response nor error; correct it")
	case n != 1 || payload.Kind != wire.Object && !d.lax("a reply's payload is an object"):
		refusal = no("invalid_command", "payload is no object; send one")
	case len(a.bytes()) > d.m.maxEnvelope:
		refusal = no("message_too_large", "the envelope would have more than 65,536 bytes; send less")
	}
	d.mu.Lock()
	holds := d.holder == c
	d.mu.Unlock()
	if !holds && !d.lax("only the holder answers") {
		if d.lax("who is refused changes nothing") {
			if p, _ := d.waiting(id, peer, named); p != nil && d.takeOut(p) {
				p.done <- unhandled(id)
			}
		}
		return no("not_handler", "this client does not hold the lease; send serve first")
	}
	if refusal != nil && !d.lax("a refused reply leaves the request waiting") {
		return refusal
	}
	p, several := d.waiting(id, peer, named)
	switch {
	case several && !d.lax("the peer is named where several wait"):
		return no("invalid_command", "several peers sent a request with that id; name one by peer")
	case p == nil || !d.takeOut(p):
		if d.lax("a request takes one reply") {
			return yes("request_id", quote(id))
		}
		return no("request_not_found", "no such request waits; it may have been answered already")
	case refusal != nil: // taken out before the check, by a fault
		p.done <- unhandled(id)
		return refusal
	}
	if cmd.name == "decline" {
		a = d.m.declined(p.id)
	}
	p.done <- a
	return yes("request_id", quote(id))
}

// waiting finds a request, and whether several peers wait under its id.
func (d *localDaemon) waiting(id, peer string, named bool) (p *pending, several bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lax("replies are matched by their ids") && len(d.pending) > 0 {
		return d.pending[0], false
	}
	for _, o := range d.pending {
		if !wire.SameUUID(o.id, id) || named && o.from != d.lower(peer) && !d.lax("the named peer is meant") {
			continue
		}
		several = several || p != nil
		p = o
	}
	return p, several && !named
}
