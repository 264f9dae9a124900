package dispatch

import (
	"slices"
	"sync"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

// Observer is shown what comes in on unidirectional streams.
type Observer interface {
	// Inbound is called with an envelope of kind message, error, or one not
	// known. It must not block, and must not keep the envelope after it
	// returned: one slow observer would hold up the others.
	Inbound(from identity.AgentID, e *envelope.Envelope)
}

// attachment gives each Attach an identity of its own.
type attachment struct{ Observer }

// Attach shows an observer all envelopes from now on, until detach is called.
// A call that is under way may still reach it after that.
func (d *Dispatcher) Attach(o Observer) (detach func()) {
	a := &attachment{o}
	d.change(func(list []*attachment) []*attachment { return append(list, a) })
	return sync.OnceFunc(func() {
		d.change(func(list []*attachment) []*attachment {
			return slices.DeleteFunc(list, func(b *attachment) bool { return a == b })
		})
	})
}

// change replaces the list by a changed copy: readers take no lock.
func (d *Dispatcher) change(f func([]*attachment) []*attachment) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*attachment
	if old := d.observers.Load(); old != nil {
		list = slices.Clone(*old)
	}
	list = f(list)
	d.observers.Store(&list)
}

func (d *Dispatcher) observe(from identity.AgentID, e *envelope.Envelope) {
	if list := d.observers.Load(); list != nil {
		for _, a := range *list {
			a.Inbound(from, e)
		}
	}
}
