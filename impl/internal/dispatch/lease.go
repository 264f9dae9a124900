package dispatch

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

// What the holder of the lease, or who wants it, may be told.
var (
	ErrHandlerBusy     = errors.New("another handler is registered; stop it first")
	ErrNotHandler      = errors.New("the handler lease is not held; take it again")
	ErrRequestNotFound = errors.New("no such request is waiting; it was answered, ran out of time or was given up")
	ErrAmbiguous       = errors.New("several peers wait for an answer to this request id; name the peer")
	ErrTooLarge        = fmt.Errorf("the envelope would be larger than %d bytes; send a smaller payload", envelope.MaxSize)
	ErrBadKind         = errors.New("a reply is a response or an error; use one of these kinds")
)

// Handler is an application as the dispatcher sees it. Neither method may
// block, and neither may keep the envelope after it returned.
type Handler interface {
	// Request hands over a request, which the handler ends through the lease,
	// then or later. It returns false when the handler cannot take it, which
	// ends the lease.
	Request(from identity.AgentID, e *envelope.Envelope) bool
	// Cancelled tells that the requester gave up; the request has ended.
	Cancelled(from identity.AgentID, id uuid.UUID)
}

// Lease is the right to answer requests, held by one handler at a time.
type Lease struct {
	d       *Dispatcher
	handler Handler
}

// Acquire gives the lease to a handler; ErrHandlerBusy when it is taken.
func (d *Dispatcher) Acquire(h Handler) (*Lease, error) {
	l := &Lease{d: d, handler: h}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lease.Load() != nil {
		return nil, ErrHandlerBusy
	}
	d.lease.Store(l)
	return l, nil
}

// Release ends the lease; requests that wait get the default error. A second
// call does nothing.
func (l *Lease) Release() {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	if !l.d.lease.CompareAndSwap(l, nil) {
		return
	}
	for k, p := range l.d.pending {
		if p.lease == l {
			delete(l.d.pending, k)
			p.answer <- nil
		}
	}
}

// Reply ends a request with a response or an error. The payload must be a JSON
// object. An empty peer stands for the only one that uses the id. On an error
// the request still waits.
func (l *Lease) Reply(id uuid.UUID, peer identity.AgentID, kind envelope.Kind, payload []byte) error {
	if kind != envelope.Response && kind != envelope.Error {
		return fmt.Errorf("reply of kind %q: %w", kind, ErrBadKind)
	}
	e := envelope.NewReply(kind, id, payload)
	wire := e.Append(make([]byte, 0, len(payload)+160))
	if len(wire) > envelope.MaxSize {
		return fmt.Errorf("reply of %d bytes: %w", len(wire), ErrTooLarge)
	}
	return l.end(id, peer, wire)
}

// Decline ends a request with the default error.
func (l *Lease) Decline(id uuid.UUID, peer identity.AgentID) error {
	return l.end(id, peer, nil)
}

func (l *Lease) end(id uuid.UUID, peer identity.AgentID, wire []byte) error {
	d := l.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lease.Load() != l {
		return ErrNotHandler
	}
	k := key{peer, id}
	if peer == "" {
		found := 0
		for candidate := range d.pending {
			if candidate.id == id {
				k = candidate
				found++
			}
		}
		if found > 1 {
			return ErrAmbiguous
		}
	}
	p := d.pending[k]
	if p == nil || p.lease != l {
		return ErrRequestNotFound
	}
	delete(d.pending, k)
	p.answer <- wire // never blocks: it has room for one, and gets one
	return nil
}
