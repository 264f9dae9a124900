package transport

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"
)

// TestDialTriesAddressesSideBySide needs no more than a head start for each
// address that swallows what is sent to it.
func TestDialTriesAddressesSideBySide(t *testing.T) {
	ctx := testContext(t)
	a, b := newIdentity(t), newIdentity(t)
	dialer, _ := listen(t, a, pinned(b), func(o *Options) { o.HandshakeTimeout = ceiling })
	listener, _ := listen(t, b, pinned(a), nil)
	hole, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer hole.Close()
	begin := time.Now()
	want := listener.Addr().String()
	got, err := dialer.Dial(ctx, b.ID, hole.LocalAddr().String(), "no-such-host.invalid:1", "nonsense", want)
	if err != nil || got != want {
		t.Fatalf("%q, %v", got, err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	c, ok := dialer.Connection(b.ID)
	if !ok || !c.Dialled || c.Addr != want || c.RTT <= 0 || dialer.Peers() != 1 {
		t.Errorf("%+v", c)
	}
	if _, err := dialer.Dial(ctx, b.ID); err != nil {
		t.Errorf("connected already: %v", err)
	}
	dialer.Disconnect(b.ID)
	for dialer.Connected(b.ID) {
		if ctx.Err() != nil {
			t.Fatal("still connected")
		}
	}
	if _, err := dialer.Dial(ctx, b.ID); !errors.Is(err, errNoAddr) {
		t.Errorf("no address: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := dialer.Dial(short, b.ID, hole.LocalAddr().String()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestMove dials a connected peer anew and gives the old connection up.
func TestMove(t *testing.T) {
	ctx := testContext(t)
	a, b := newIdentity(t), newIdentity(t)
	dialer, _ := listen(t, a, pinned(b), nil)
	listener, _ := listen(t, b, pinned(a), nil)
	if _, err := dialer.Dial(ctx, b.ID, listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	old := dialer.choose(b.ID)
	if _, err := dialer.Move(ctx, b.ID, listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-old.qc.Context().Done():
	case <-ctx.Done():
		t.Fatal("the old connection lives on")
	}
	if got, err := dialer.Exchange(ctx, b.ID, []byte("still there?")); err != nil || string(got) != "still there?" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestShutdownWaitsForOwnRequests gives what we asked time for its answer.
func TestShutdownWaitsForOwnRequests(t *testing.T) {
	ctx := testContext(t)
	a, b := newIdentity(t), newIdentity(t)
	dialer, _ := listen(t, a, pinned(b), nil)
	listener, h := listen(t, b, pinned(a), nil)
	if _, err := dialer.Dial(ctx, b.ID, listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		got, err := dialer.Exchange(ctx, b.ID, []byte("hold"))
		if err == nil && string(got) != "hold" {
			err = errors.New(string(got))
		}
		answered <- err
	}()
	<-h.held
	down := make(chan error, 1)
	go func() { down <- dialer.Shutdown(ctx) }()
	for !dialer.draining.Load() {
		if ctx.Err() != nil {
			t.Fatal("not draining")
		}
	}
	if err := dialer.Send(ctx, b.ID, []byte("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	close(h.hold)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
}

// TestNewerConnectionOfARestartedPeer is used although the ruling on cross-dials
// would prefer the older one.
func TestNewerConnectionOfARestartedPeer(t *testing.T) {
	ctx := testContext(t)
	a, b := newIdentity(t), newIdentity(t)
	low, high := a, b
	if b.ID < a.ID {
		low, high = b, a
	}
	e, _ := listen(t, low, pinned(high), nil)
	listener, _ := listen(t, high, pinned(low), nil)
	if _, err := e.Dial(ctx, high.ID, listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	_ = newRemote(t).mustDial(ctx, e, high)
	find := func() (dialled, accepted *conn) {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, c := range e.byPeer[high.ID] {
			if c.dialled {
				dialled = c
			} else {
				accepted = c
			}
		}
		return dialled, accepted
	}
	dialled, accepted := find()
	for accepted == nil {
		if ctx.Err() != nil {
			t.Fatal("not taken in")
		}
		dialled, accepted = find()
	}
	if got := e.choose(high.ID); got != dialled {
		t.Error("a cross-dial is not ruled by the lower agent id")
	}
	e.mu.Lock()
	dialled.since = accepted.since.Add(-crossDialWindow)
	e.mu.Unlock()
	if got := e.choose(high.ID); got != accepted {
		t.Error("the older connection is chosen")
	}
}

// TestRestartedPeer tells by a stateless reset that its state is lost.
func TestRestartedPeer(t *testing.T) {
	ctx := testContext(t)
	a, b := newIdentity(t), newIdentity(t)
	dialer, _ := listen(t, a, pinned(b), nil)
	var h *echo
	// mortal is an endpoint that can be killed: its socket goes, nobody is told.
	mortal := func(at string) *Endpoint {
		h = newEcho()
		e, err := Listen(Options{Identity: b, Pins: pinned(a), Handler: h, Logger: slog.New(slog.DiscardHandler), Addr: at})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Shutdown(ctx) })
		return e
	}
	listener := mortal("127.0.0.1:0")
	addr := listener.Addr().String()
	if _, err := dialer.Dial(ctx, b.ID, addr); err != nil {
		t.Fatal(err)
	}
	// As long as any envelope: very small packets draw no reset.
	body := bytes.Repeat([]byte("x"), 120)
	if _, err := dialer.Exchange(ctx, b.ID, body); err != nil {
		t.Fatal(err)
	}
	_ = listener.udp.Close()
	listener = mortal(addr)
	// Just now it was there: what was sent may have been its handler's last request.
	if _, err := dialer.Exchange(ctx, b.ID, body); !restarted(err) || !errors.Is(err, ErrPeer) || Undelivered(err) {
		t.Fatalf("%v", err)
	}
	if dialer.Connected(b.ID) {
		t.Error("the lost connection is still chosen")
	}
	if _, err := dialer.Dial(ctx, b.ID, addr); err != nil {
		t.Fatal(err)
	}
	if got, err := dialer.Exchange(ctx, b.ID, body); err != nil || !bytes.Equal(got, body) {
		t.Errorf("%q, %v", got, err)
	}

	// On a connection that was silent for a while nothing is lost, and nothing has
	// reached a handler that could come a second time.
	for name, send := range map[string]func() error{
		"request": func() error { _, err := dialer.Exchange(ctx, b.ID, body); return err },
		"message": func() error { return dialer.Send(ctx, b.ID, body) },
	} {
		_ = listener.udp.Close()
		listener = mortal(addr)
		dialer.choose(b.ID).lastHeard.Store(0)
		if err := send(); !restarted(err) || !Undelivered(err) {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := dialer.Dial(ctx, b.ID, addr); err != nil {
			t.Fatal(err)
		}
		dialer.choose(b.ID).lastHeard.Store(0)
		if err := send(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "message" {
			if got := <-h.uni; got != string(body) {
				t.Errorf("%q", got)
			}
		}
	}
}
