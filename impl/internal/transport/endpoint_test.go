package transport

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

// closed waits until the peer has closed and returns why.
func closed(t *testing.T, ctx context.Context, qc *quic.Conn) *quic.ApplicationError {
	t.Helper()
	select {
	case <-qc.Context().Done():
	case <-ctx.Done():
		t.Fatal("the connection stays open")
	}
	var app *quic.ApplicationError
	if !errors.As(context.Cause(qc.Context()), &app) || !app.Remote || app.ErrorCode != 0 {
		t.Fatalf("closed with %v, want code 0 from the peer", context.Cause(qc.Context()))
	}
	return app
}

func TestConnectionLimit(t *testing.T) {
	ctx := testContext(t)
	own, peer := newIdentity(t), newIdentity(t)
	e, _ := listen(t, own, pinned(peer), func(o *Options) { o.MaxConnections = 2 })
	r := newRemote(t)
	first := r.mustDial(ctx, e, peer)
	alive(t, ctx, first)
	second := r.mustDial(ctx, e, peer)
	alive(t, ctx, second)
	if got := closed(t, ctx, r.mustDial(ctx, e, peer)); got.ErrorMessage != "connection limit reached" {
		t.Errorf("reason %q", got.ErrorMessage)
	}
	alive(t, ctx, first)
	alive(t, ctx, second)
}

func TestStalledHandshakesDelayNobody(t *testing.T) {
	ctx := testContext(t)
	own, peer := newIdentity(t), newIdentity(t)
	// They stall for longer than any slow machine takes for the honest one.
	e, _ := listen(t, own, pinned(peer), func(o *Options) { o.HandshakeTimeout = 2 * ceiling })
	// A relay that lets through the first datagram only: the handshake stalls.
	for range 100 {
		front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = front.Close() })
		tr := &quic.Transport{Conn: firstOnly{front, new(bool)}}
		stalled, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = tr.Dial(stalled, e.Addr(), remoteTLS(t, peer), nil)
		}()
		t.Cleanup(func() { cancel(); <-done; _ = tr.Close() })
	}
	start := time.Now()
	alive(t, ctx, newRemote(t).mustDial(ctx, e, peer))
	if took := time.Since(start); took > ceiling/2 {
		t.Errorf("an honest peer waited %s", took)
	}
}

// firstOnly sends one datagram and swallows the rest.
type firstOnly struct {
	net.PacketConn
	sent *bool
}

func (f firstOnly) WriteTo(p []byte, addr net.Addr) (int, error) {
	if *f.sent {
		return len(p), nil
	}
	*f.sent = true
	return f.PacketConn.WriteTo(p, addr)
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	ctx := testContext(t)
	own, peer := newIdentity(t), newIdentity(t)
	e, h := listen(t, own, pinned(peer), nil)
	r := newRemote(t)
	qc, idle := r.mustDial(ctx, e, peer), r.mustDial(ctx, e, peer)
	alive(t, ctx, idle)
	answer := make(chan error, 1)
	go func() {
		_, err := ask(ctx, qc, []byte("hold"))
		answer <- err
	}()
	<-h.held
	down := make(chan error, 1)
	go func() { down <- e.Shutdown(ctx) }()
	if got := closed(t, ctx, idle); got.ErrorMessage == "" {
		t.Error("closed without a reason")
	}
	close(h.hold)
	if err := <-answer; err != nil {
		t.Errorf("the request under way: %v", err)
	}
	closed(t, ctx, qc)
	if err := <-down; err != nil {
		t.Error(err)
	}
}

// TestShutdownWaitsForALostReply: the reply is written, and lost at first.
func TestShutdownWaitsForALostReply(t *testing.T) {
	ctx := testContext(t)
	own, peer := newIdentity(t), newIdentity(t)
	e, h := listen(t, own, pinned(peer), nil)
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	path := &lossy{PacketConn: front}
	tr := &quic.Transport{Conn: path}
	t.Cleanup(func() { _ = tr.Close(); _ = front.Close() })
	qc, err := tr.Dial(ctx, e.Addr(), remoteTLS(t, peer), nil)
	if err != nil {
		t.Fatal(err)
	}
	alive(t, ctx, qc)
	answer := make(chan error, 1)
	go func() {
		_, err := ask(ctx, qc, []byte("hold"))
		answer <- err
	}()
	<-h.held
	path.deaf.Store(true)
	time.AfterFunc(150*time.Millisecond, func() { path.deaf.Store(false) })
	down := make(chan error, 1)
	go func() { down <- e.Shutdown(ctx) }()
	close(h.hold)
	if err := <-answer; err != nil {
		t.Errorf("the reply was not sent again: %v", err)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
}

// lossy hears nothing while it is deaf.
type lossy struct {
	net.PacketConn
	deaf atomic.Bool
}

func (l *lossy) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, addr, err := l.PacketConn.ReadFrom(p)
		if err != nil || !l.deaf.Load() {
			return n, addr, err
		}
	}
}

func TestShutdownEndsAtItsDeadline(t *testing.T) {
	ctx := testContext(t)
	own, peer := newIdentity(t), newIdentity(t)
	e, h := listen(t, own, pinned(peer), nil)
	qc := newRemote(t).mustDial(ctx, e, peer)
	answer := make(chan error, 1)
	go func() {
		_, err := ask(ctx, qc, []byte("hold"))
		answer <- err
	}()
	<-h.held
	over, cancel := context.WithCancel(ctx)
	cancel()
	if err := e.Shutdown(over); err != nil {
		t.Error(err)
	}
	if err := <-answer; err == nil {
		t.Error("answered though the handler hung")
	}
}

// pair returns two endpoints that know each other; the first has the lower id.
func pair(t *testing.T) (low, high *Endpoint, lowHandler, highHandler *echo) {
	t.Helper()
	a, b := newIdentity(t), newIdentity(t)
	if b.ID < a.ID {
		a, b = b, a
	}
	low, lowHandler = listen(t, a, pinned(b), nil)
	high, highHandler = listen(t, b, pinned(a), nil)
	return
}

func TestOneConnectionCarriesBothDirections(t *testing.T) {
	ctx := testContext(t)
	low, high, lowHandler, _ := pair(t)
	lowID, highID := low.o.Identity.ID, high.o.Identity.ID
	if _, err := low.Exchange(ctx, highID, []byte("x")); !errors.Is(err, ErrNotConnected) {
		t.Errorf("before the dial: %v", err)
	}
	for range 2 { // the second does nothing
		if _, err := high.Dial(ctx, lowID, low.Addr().String()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := high.Exchange(ctx, lowID, []byte("up"))
	if err != nil || string(got) != "up" {
		t.Fatalf("%q, %v", got, err)
	}
	got, err = low.Exchange(ctx, highID, []byte("down"))
	if err != nil || string(got) != "down" {
		t.Fatalf("%q, %v", got, err)
	}
	if err := high.Send(ctx, lowID, []byte("note")); err != nil {
		t.Fatal(err)
	}
	if got := <-lowHandler.uni; got != "note" {
		t.Errorf("got %q", got)
	}
	if _, err := high.Exchange(ctx, lowID, []byte("refuse")); err == nil {
		t.Error("a refused request gave a reply")
	}
	if _, err := high.Exchange(ctx, lowID, bytes.Repeat([]byte("a"), envelope.MaxSize+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	short, cancel := context.WithCancel(ctx)
	go func() { <-lowHandler.held; cancel() }()
	if _, err := high.Exchange(short, lowID, []byte("hold")); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

func TestCrossDialKeepsOne(t *testing.T) {
	ctx := testContext(t)
	low, high, lowHandler, highHandler := pair(t)
	lowID, highID := low.o.Identity.ID, high.o.Identity.ID
	if _, err := high.Dial(ctx, lowID, low.Addr().String()); err != nil {
		t.Fatal(err)
	}
	// Under way on the connection that will lose.
	answer := make(chan error, 1)
	go func() {
		_, err := high.Exchange(ctx, lowID, []byte("hold"))
		answer <- err
	}()
	<-lowHandler.held
	loser := only(t, low, highID)

	// The low side dials as if it had not seen the other's connection.
	qc, err := low.quic.Dial(ctx, high.Addr(), low.creds.dial(highID), low.quicConfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := low.adopt(qc, true); err != nil {
		t.Fatal(err)
	}
	if _, err := low.Exchange(ctx, highID, []byte("over the new one")); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*Endpoint{low, high} {
		other := highID
		if e == high {
			other = lowID
		}
		if c := e.choose(other); !c.lowerDialled(e.o.Identity.ID) {
			t.Error("chose the connection that the higher id dialled")
		}
	}
	close(lowHandler.hold)
	close(highHandler.hold)
	if err := <-answer; err != nil {
		t.Errorf("the request on the losing connection: %v", err)
	}
	if got := closed(t, ctx, loser.qc); got.ErrorMessage != reasonSuperseded {
		t.Errorf("reason %q", got.ErrorMessage)
	}
	if _, err := high.Exchange(ctx, lowID, []byte("after")); err != nil {
		t.Error(err)
	}
}

// only returns the one connection to a peer.
func only(t *testing.T, e *Endpoint, peer identity.AgentID) *conn {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.byPeer[peer]) != 1 {
		t.Fatalf("%d connections, want 1", len(e.byPeer[peer]))
	}
	return e.byPeer[peer][0]
}

func TestRemovedPeerIsCutOff(t *testing.T) {
	ctx := testContext(t)
	own, peer := newIdentity(t), newIdentity(t)
	p := pinned(peer)
	e, _ := listen(t, own, p, nil)
	qc := newRemote(t).mustDial(ctx, e, peer)
	alive(t, ctx, qc)
	p.mu.Lock()
	delete(p.keys, peer.ID)
	p.mu.Unlock()
	e.Disconnect(peer.ID)
	closed(t, ctx, qc)
}

func TestListenChecksItsOptions(t *testing.T) {
	if _, err := Listen(Options{}); err == nil {
		t.Error("no error for empty options")
	}
	own := newIdentity(t)
	e, h := listen(t, own, pinned(), nil)
	o := Options{Identity: own, Pins: pinned(), Handler: h, Logger: e.o.Logger, Addr: e.Addr().String()}
	if _, err := Listen(o); err == nil {
		t.Error("bound a port twice")
	}
	o.MaxConnections = -1
	if _, err := Listen(o); err == nil {
		t.Error("took a negative limit")
	}
}
