package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	alice = identity.AgentID("ed25519.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	bob   = identity.AgentID("ed25519.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")
)

func newDispatcher(t *testing.T, o Options) *Dispatcher {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func body(kind envelope.Kind, payload string) (uuid.UUID, []byte) {
	e := envelope.New(kind, []byte(payload))
	return e.ID, e.Append(nil)
}

// reply is a decoded answer.
type reply struct {
	ID, Kind, Ref string
	Payload       struct {
		Code, Message string
		Retryable     *bool
		N             int
	}
}

func bidi(t *testing.T, d *Dispatcher, from identity.AgentID, body []byte) reply {
	t.Helper()
	wire, ok := d.Bidi(context.Background(), from, body, nil)
	if !ok {
		t.Fatalf("no reply to %s", body)
	}
	if _, err := envelope.Decode(wire); err != nil {
		t.Fatalf("reply %s: %v", wire, err)
	}
	var r reply
	if err := json.Unmarshal(wire, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func wantError(t *testing.T, r reply, id uuid.UUID, code string, retryable bool) {
	t.Helper()
	if r.Kind != "error" || r.Ref != id.String() || r.ID == id.String() || r.Payload.Code != code ||
		r.Payload.Message == "" || r.Payload.Retryable == nil || *r.Payload.Retryable != retryable {
		t.Errorf("got %+v, want an error %s for %s", r, code, id)
	}
}

// handler answers as its function says.
type handler struct {
	mu        sync.Mutex
	take      func(from identity.AgentID, id uuid.UUID) bool
	cancelled chan uuid.UUID
}

func (h *handler) Request(from identity.AgentID, e *envelope.Envelope) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.take(from, e.ID)
}

func (h *handler) Cancelled(_ identity.AgentID, id uuid.UUID) { h.cancelled <- id }

func TestWithoutHandler(t *testing.T) {
	d := newDispatcher(t, Options{})
	for _, kind := range []envelope.Kind{envelope.Request, "future", ""} {
		id, b := body(kind, `{}`)
		r := bidi(t, d, alice, b)
		wantError(t, r, id, "unhandled", false)
		if want := "no application handler registered for request '" + id.String() + "'"; r.Payload.Message != want {
			t.Errorf("message %q, want %q", r.Payload.Message, want)
		}
	}
	for _, kind := range []envelope.Kind{envelope.Message, envelope.Error, envelope.Response} {
		id, b := body(kind, `{}`)
		wantError(t, bidi(t, d, alice, b), id, "invalid_envelope", false)
	}
	id, b := body(envelope.Request, `[]`)
	wantError(t, bidi(t, d, alice, b), id, "invalid_envelope", false)
	if _, ok := d.Bidi(context.Background(), alice, []byte("junk"), nil); ok {
		t.Error("junk was answered")
	}
}

func TestUpperCaseIDIsAnsweredInLowerCase(t *testing.T) {
	d := newDispatcher(t, Options{})
	id, b := body(envelope.Request, `{}`)
	b = []byte(strings.Replace(string(b), id.String(), strings.ToUpper(id.String()), 1))
	r := bidi(t, d, alice, b)
	wantError(t, r, id, "unhandled", false)
	if !strings.Contains(r.Payload.Message, id.String()) {
		t.Errorf("message %q", r.Payload.Message)
	}
}

type observer chan string

func (o observer) Inbound(from identity.AgentID, e *envelope.Envelope) {
	o <- string(from[8]) + " " + string(e.Kind) + " " + string(e.Payload)
}

func TestObservers(t *testing.T) {
	d := newDispatcher(t, Options{})
	one, two := make(observer, 16), make(observer, 16)
	detach := d.Attach(one)
	d.Attach(two)
	send := func(kind envelope.Kind, payload string) {
		_, b := body(kind, payload)
		d.Uni(alice, b)
	}
	send(envelope.Request, `{}`)
	send(envelope.Response, `{}`)
	d.Uni(alice, []byte(`{}`))
	send(envelope.Message, `{"a": 1}`)
	send(envelope.Error, `{}`)
	send("future", `{}`)
	for _, o := range []observer{one, two} {
		for _, want := range []string{`a message {"a": 1}`, "a error {}", "a future {}"} {
			if got := <-o; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
	detach()
	detach()
	send(envelope.Message, `{}`)
	<-two
	if len(one) != 0 {
		t.Error("shown after detach")
	}
}

func TestHandlerReplies(t *testing.T) {
	d := newDispatcher(t, Options{})
	h := &handler{}
	l, err := d.Acquire(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Acquire(h); !errors.Is(err, ErrHandlerBusy) {
		t.Errorf("second lease: %v", err)
	}
	for _, kind := range []envelope.Kind{envelope.Response, envelope.Error} {
		h.take = func(from identity.AgentID, id uuid.UUID) bool {
			if err := l.Reply(id, from, envelope.Message, []byte(`{}`)); !errors.Is(err, ErrBadKind) {
				t.Errorf("reply of another kind: %v", err)
			}
			if err := l.Reply(id, from, kind, make([]byte, envelope.MaxSize)); !errors.Is(err, ErrTooLarge) {
				t.Errorf("reply too large: %v", err)
			}
			if err := l.Reply(id, bob, kind, []byte(`{}`)); !errors.Is(err, ErrRequestNotFound) {
				t.Errorf("another peer's request: %v", err)
			}
			if err := l.Reply(id, "", kind, []byte(`{"n":7}`)); err != nil {
				t.Error(err)
			}
			if err := l.Reply(id, from, kind, []byte(`{"n":8}`)); !errors.Is(err, ErrRequestNotFound) {
				t.Errorf("second reply: %v", err)
			}
			return true
		}
		id, b := body(envelope.Request, `{}`)
		if r := bidi(t, d, alice, b); r.Kind != string(kind) || r.Ref != id.String() || r.Payload.N != 7 {
			t.Errorf("got %+v", r)
		}
	}
	h.take = func(from identity.AgentID, id uuid.UUID) bool { return l.Decline(id, from) == nil }
	id, b := body(envelope.Request, `{}`)
	wantError(t, bidi(t, d, alice, b), id, "unhandled", false)

	h.take = func(identity.AgentID, uuid.UUID) bool { return false }
	id, b = body(envelope.Request, `{}`)
	wantError(t, bidi(t, d, alice, b), id, "unhandled", false)
	if err := l.Decline(id, alice); !errors.Is(err, ErrNotHandler) {
		t.Errorf("after the lease: %v", err)
	}
	if _, err := d.Acquire(h); err != nil {
		t.Errorf("after an overflow: %v", err)
	}
}

// waiting starts a request and returns once the handler has it.
func waiting(t *testing.T, ctx context.Context, d *Dispatcher, from identity.AgentID, b []byte, taken chan struct{}) <-chan reply {
	t.Helper()
	out := make(chan reply, 1)
	go func() {
		defer close(out)
		if wire, ok := d.Bidi(ctx, from, b, nil); ok {
			var r reply
			_ = json.Unmarshal(wire, &r)
			out <- r
		}
	}()
	<-taken
	return out
}

func TestSameIDFromTwoPeers(t *testing.T) {
	d := newDispatcher(t, Options{MaxPending: 2})
	taken := make(chan struct{}, 4)
	h := &handler{take: func(identity.AgentID, uuid.UUID) bool { taken <- struct{}{}; return true }}
	l, _ := d.Acquire(h)
	id, b := body(envelope.Request, `{}`)
	a := waiting(t, t.Context(), d, alice, b, taken)
	wantError(t, bidi(t, d, alice, b), id, "invalid_envelope", false) // once more while it waits
	c := waiting(t, t.Context(), d, bob, b, taken)
	if err := l.Decline(id, ""); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("no peer named: %v", err)
	}
	other, b2 := body(envelope.Request, `{}`)
	wantError(t, bidi(t, d, alice, b2), other, "overloaded", true)

	for peer, n := range map[identity.AgentID]int{alice: 1, bob: 2} {
		if err := l.Reply(id, peer, envelope.Response, fmt.Appendf(nil, `{"n":%d}`, n)); err != nil {
			t.Error(err)
		}
	}
	if r := <-a; r.Payload.N != 1 {
		t.Errorf("alice got %+v", r)
	}
	if r := <-c; r.Payload.N != 2 {
		t.Errorf("bob got %+v", r)
	}
}

func TestReleaseAnswersAll(t *testing.T) {
	d := newDispatcher(t, Options{})
	taken := make(chan struct{}, 4)
	l, _ := d.Acquire(&handler{take: func(identity.AgentID, uuid.UUID) bool { taken <- struct{}{}; return true }})
	id, b := body(envelope.Request, `{}`)
	a := waiting(t, t.Context(), d, alice, b, taken)
	c := waiting(t, t.Context(), d, bob, b, taken)
	l.Release()
	l.Release()
	wantError(t, <-a, id, "unhandled", false)
	wantError(t, <-c, id, "unhandled", false)
}

func TestRequesterGivesUp(t *testing.T) {
	d := newDispatcher(t, Options{})
	taken := make(chan struct{}, 1)
	h := &handler{cancelled: make(chan uuid.UUID, 1), take: func(identity.AgentID, uuid.UUID) bool { taken <- struct{}{}; return true }}
	l, _ := d.Acquire(h)
	ctx, cancel := context.WithCancel(t.Context())
	id, b := body(envelope.Request, `{}`)
	out := waiting(t, ctx, d, alice, b, taken)
	cancel()
	if r, ok := <-out; ok {
		t.Errorf("answered: %+v", r)
	}
	if got := <-h.cancelled; got != id {
		t.Errorf("told of %s", got)
	}
	if err := l.Decline(id, alice); !errors.Is(err, ErrRequestNotFound) {
		t.Errorf("late decline: %v", err)
	}
}

func TestSilentHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(t, Options{})
		if _, err := d.Acquire(&handler{take: func(identity.AgentID, uuid.UUID) bool { return true }}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		id, b := body(envelope.Request, `{}`)
		wantError(t, bidi(t, d, alice, b), id, "timeout", true)
		if took := time.Since(start); took != DefaultRequestTimeout {
			t.Errorf("after %s", took)
		}
	})
}

func TestRepliesRaceWithDeadlines(t *testing.T) {
	d := newDispatcher(t, Options{RequestTimeout: time.Millisecond})
	var l *Lease
	var replies sync.WaitGroup
	h := &handler{take: func(from identity.AgentID, id uuid.UUID) bool {
		replies.Go(func() { _ = l.Reply(id, from, envelope.Response, []byte(`{}`)) })
		return true
	}}
	l, _ = d.Acquire(h)
	var requests sync.WaitGroup
	for range 200 {
		requests.Go(func() {
			id, b := body(envelope.Request, `{}`)
			wire, ok := d.Bidi(t.Context(), alice, b, nil)
			if !ok || !strings.Contains(string(wire), `"ref":"`+id.String()) {
				t.Errorf("got %s", wire)
			}
		})
	}
	requests.Wait()
	replies.Wait()
	if len(d.pending) != 0 {
		t.Errorf("%d requests left behind", len(d.pending))
	}
}

func TestNewChecksItsOptions(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("no error without a logger")
	}
	if _, err := New(Options{Logger: slog.New(slog.DiscardHandler), MaxPending: -1}); err == nil {
		t.Error("took a negative limit")
	}
}

func BenchmarkDefaultError(b *testing.B) {
	d, _ := New(Options{Logger: slog.New(slog.DiscardHandler)})
	_, in := body(envelope.Request, `{"message":"hello"}`)
	out := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = d.Bidi(context.Background(), alice, in, out[:0])
	}
}
