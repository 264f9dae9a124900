// Package dispatch decides what becomes of an inbound envelope: a request goes
// to the holder of the one handler lease, or gets the default error; what comes
// on a unidirectional stream goes to the observers. It knows neither where
// bodies come from nor what handlers and observers are.
//
// It imports envelope, identity and rarelog. It serves AXON-KIND-002, -005, -007
// and -008, AXON-FWD-002 to -004, AXON-STREAM-003 to -005 and -010,
// AXON-DEFERR-001 to -009, AXON-ERRPAY-001 to -004 and AXON-ENV-012.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/rarelog"
)

// Defaults of Options.
const (
	DefaultMaxPending     = 1024
	DefaultRequestTimeout = 30 * time.Second
)

// Options of a Dispatcher.
type Options struct {
	Logger *slog.Logger // required
	// MaxPending is how many requests may wait for the handler at a time;
	// more are answered with the code overloaded. Zero: 1,024.
	MaxPending int
	// RequestTimeout is how long a handler may take. Zero: 30 s.
	RequestTimeout time.Duration
}

// Dispatcher routes inbound envelopes. Its methods may be called from any
// goroutine.
type Dispatcher struct {
	maxPending int
	timeout    time.Duration
	logger     *slog.Logger
	drops      *rarelog.Log
	received   atomic.Uint64
	replied    atomic.Uint64

	// lease is nil when nobody holds it: the common request is then answered
	// without a lock.
	lease     atomic.Pointer[Lease]
	observers atomic.Pointer[[]*attachment]

	mu      sync.Mutex // guards pending, and changes of lease and observers
	pending map[key]*pending
}

// key tells requests apart: two peers may use the same id.
type key struct {
	peer identity.AgentID
	id   uuid.UUID
}

// pending is a request that waits for its handler. Whoever takes it out of the
// map, under the lock, ends it; so there is exactly one end.
type pending struct {
	lease *Lease
	// answer carries the encoded reply, or nil for a request declined.
	answer chan []byte
}

// New returns a Dispatcher without a handler and without observers.
func New(o Options) (*Dispatcher, error) {
	if o.Logger == nil {
		return nil, errors.New("dispatch: Options.Logger is nil; set it")
	}
	if o.MaxPending < 0 || o.RequestTimeout < 0 {
		return nil, errors.New("dispatch: Options.MaxPending or RequestTimeout is negative; use zero for the default")
	}
	if o.MaxPending == 0 {
		o.MaxPending = DefaultMaxPending
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = DefaultRequestTimeout
	}
	return &Dispatcher{
		maxPending: o.MaxPending, timeout: o.RequestTimeout, logger: o.Logger,
		drops: rarelog.New(o.Logger), pending: map[key]*pending{},
	}, nil
}

// Received returns how many valid envelopes have come in.
func (d *Dispatcher) Received() uint64 { return d.received.Load() }

// Replied returns how many replies have gone out.
func (d *Dispatcher) Replied() uint64 { return d.replied.Load() }

// Bidi takes the body of a bidirectional stream that a peer opened and returns
// the reply to write on it, which may be appended to dst. It waits for the
// handler, if there is one. It returns false when there is nothing to reply:
// the body is no envelope, or ctx ended because the requester gave up.
func (d *Dispatcher) Bidi(ctx context.Context, from identity.AgentID, body, dst []byte) ([]byte, bool) {
	reply, ok := d.answer(ctx, from, body, dst)
	if ok {
		d.replied.Add(1)
	}
	return reply, ok
}

func (d *Dispatcher) answer(ctx context.Context, from identity.AgentID, body, dst []byte) ([]byte, bool) {
	e, err := envelope.Decode(body)
	if err != nil {
		var invalid *envelope.InvalidError
		if errors.As(err, &invalid) {
			return appendError(dst, invalid.ID, CodeInvalidEnvelope, invalid.Reason, false), true
		}
		d.drop(from, "dropped a stream that holds no envelope", slog.String("reason", err.Error()))
		return nil, false
	}
	d.received.Add(1)
	d.trace(from, &e)
	switch e.Kind {
	case envelope.Request:
		return d.request(ctx, from, &e, dst)
	case envelope.Message, envelope.Error:
		return appendError(dst, e.ID, CodeInvalidEnvelope,
			"an envelope of kind '"+string(e.Kind)+"' belongs on a unidirectional stream and was not delivered; send it there, or send a request here", false), true
	case envelope.Response:
		return appendError(dst, e.ID, CodeInvalidEnvelope,
			"a response belongs on the stream of its request and cannot open one; send a request here, or a message on a unidirectional stream", false), true
	default:
		return appendDefaultError(dst, e.ID), true
	}
}

// Uni takes the body of a unidirectional stream that a peer opened.
func (d *Dispatcher) Uni(from identity.AgentID, body []byte) {
	e, err := envelope.Decode(body)
	if err != nil {
		d.drop(from, "dropped a unidirectional stream that holds no valid envelope", slog.String("reason", err.Error()))
		return
	}
	d.received.Add(1)
	d.trace(from, &e)
	switch e.Kind {
	case envelope.Request:
		d.drop(from, "dropped a request on a unidirectional stream, where it cannot be answered")
	case envelope.Response:
		d.drop(from, "dropped a response on a unidirectional stream, where it answers nothing")
	default:
		d.observe(from, &e)
	}
}

func (d *Dispatcher) drop(from identity.AgentID, what string, attrs ...slog.Attr) {
	d.drops.Note(slog.LevelInfo, what, append(attrs, slog.String("peer", string(from)))...)
}

// request hands a request to the lease holder and waits for the end of it.
func (d *Dispatcher) request(ctx context.Context, from identity.AgentID, e *envelope.Envelope, dst []byte) ([]byte, bool) {
	lease := d.lease.Load()
	if lease == nil {
		return appendDefaultError(dst, e.ID), true
	}
	k := key{from, e.ID}
	p := &pending{lease: lease, answer: make(chan []byte, 1)}
	if code, text := d.admit(k, p); code != "" {
		if code == CodeUnhandled {
			return appendDefaultError(dst, e.ID), true
		}
		return appendError(dst, e.ID, code, text, code == CodeOverloaded), true
	}
	if !lease.handler.Request(from, e) {
		lease.Release()
	}

	deadline := time.NewTimer(d.timeout)
	defer deadline.Stop()
	select {
	case wire := <-p.answer:
		return d.finish(wire, e.ID, dst)
	case <-deadline.C:
		if d.take(k, p) {
			return appendError(dst, e.ID, CodeTimeout,
				fmt.Sprintf("the application handler did not answer within %s; try again later or ask for less", d.timeout), true), true
		}
	case <-ctx.Done():
		if d.take(k, p) {
			lease.handler.Cancelled(from, e.ID)
			return nil, false
		}
	}
	// The answer won the race against the deadline.
	return d.finish(<-p.answer, e.ID, dst)
}

func (d *Dispatcher) finish(wire []byte, id uuid.UUID, dst []byte) ([]byte, bool) {
	if wire == nil {
		return appendDefaultError(dst, id), true
	}
	return wire, true
}

// admit enters a request, or returns the code and text of its refusal.
func (d *Dispatcher) admit(k key, p *pending) (code, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lease.Load() != p.lease {
		return CodeUnhandled, ""
	}
	if len(d.pending) >= d.maxPending {
		return CodeOverloaded, fmt.Sprintf("%d requests are waiting for the application already; try again later", d.maxPending)
	}
	if _, twice := d.pending[k]; twice {
		return CodeInvalidEnvelope, "a request with this id is still waiting for its answer; send each request with a fresh id"
	}
	d.pending[k] = p
	return "", ""
}

// take removes a request and reports whether it was still waiting.
func (d *Dispatcher) take(k key, p *pending) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending[k] != p {
		return false
	}
	delete(d.pending, k)
	return true
}
