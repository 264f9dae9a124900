package transport

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

func TestSlots(t *testing.T) {
	s := newSlots(2, 3)
	const a, b, c = identity.AgentID("a"), identity.AgentID("b"), identity.AgentID("c")
	ctx := t.Context()
	for _, peer := range []identity.AgentID{a, a, b} {
		if waited, err := s.acquire(ctx, peer); waited || err != nil {
			t.Fatal(waited, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.acquire(gone, c); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	got := make(chan identity.AgentID, 8)
	var wg sync.WaitGroup
	wait := func(peer identity.AgentID) {
		s.mu.Lock()
		before := len(s.ring)
		s.mu.Unlock()
		wg.Go(func() {
			if waited, err := s.acquire(ctx, peer); !waited || err != nil {
				t.Error(waited, err)
			}
			got <- peer
		})
		for queued := false; !queued; {
			s.mu.Lock()
			queued = len(s.ring) > before
			s.mu.Unlock()
		}
	}
	wait(a) // its share is used up, and there is none free
	wait(b)
	wait(c)
	s.release(b) // a may have none more: the turn passes to b
	if peer := <-got; peer != b {
		t.Errorf("the slot went to %s", peer)
	}
	s.release(a)
	s.release(a)
	if one, two := <-got, <-got; one == two || one == b || two == b {
		t.Errorf("the slots went to %s and %s", one, two)
	}
	wg.Wait()
	s.release(a)
	s.release(b)
	s.release(c)
	if s.free != 3 || len(s.shares) != 0 || len(s.ring) != 0 {
		t.Errorf("left: %d free, %v, %v", s.free, s.shares, s.ring)
	}
}

// TestManyLargeBodiesAtOnce sends more than have a slot, all at the same time:
// none may be lost, and none may wait for another for ever.
func TestManyLargeBodiesAtOnce(t *testing.T) {
	ctx := testContext(t)
	peer := newIdentity(t)
	// A slow machine is no reason to abort one.
	e, h := listen(t, newIdentity(t), pinned(peer), func(o *Options) { o.StreamTimeout = 2 * ceiling })
	qc := newRemote(t).mustDial(ctx, e, peer)
	body := bytes.Repeat([]byte("x"), envelope.MaxSize)
	const many = slotsPerPeer + slotsPerPeer/2
	var streams []*quic.SendStream
	for range many { // all have begun before any may end
		s, err := qc.OpenUniStreamSync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(body[:smallBuffer+1]); err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	var wg sync.WaitGroup
	for _, s := range streams {
		wg.Go(func() {
			if _, err := s.Write(body[smallBuffer+1:]); err != nil {
				t.Error(err)
			}
			_ = s.Close()
		})
	}
	for range many {
		select {
		case got := <-h.uni:
			if got != string(body) {
				t.Errorf("%d bytes", len(got))
			}
		case <-ctx.Done():
			t.Fatal("not all came")
		}
	}
	wg.Wait()
}

// TestStalledLargeBodies holds what a peer can make us keep: with every stream
// stalled in the middle of a large body, only those with a slot are read on,
// and small bodies still pass.
func TestStalledLargeBodies(t *testing.T) {
	ctx := testContext(t)
	peer, other := newIdentity(t), newIdentity(t)
	e, _ := listen(t, newIdentity(t), pinned(peer, other), nil)
	r := newRemote(t)
	qc := r.mustDial(ctx, e, peer)
	half := bytes.Repeat([]byte("x"), envelope.MaxSize/2)
	var stalled []*quic.SendStream
	for range 3 * slotsPerPeer {
		s, err := qc.OpenUniStreamSync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		stalled = append(stalled, s)
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			_, _ = s.Write(half) // blocks for those that are not read
		}()
		t.Cleanup(func() { <-wrote })
	}
	t.Cleanup(func() {
		for _, s := range stalled {
			s.CancelWrite(0)
		}
	})
	used := func() int {
		e.slots.mu.Lock()
		defer e.slots.mu.Unlock()
		if sh := e.slots.shares[peer.ID]; sh != nil {
			return sh.used
		}
		return 0
	}
	for used() < slotsPerPeer {
		alive(t, ctx, qc)
	}
	alive(t, ctx, qc)
	// Another peer is not concerned at all.
	second := r.mustDial(ctx, e, other)
	body := bytes.Repeat([]byte("y"), envelope.MaxSize)
	if got, err := ask(ctx, second, body); err != nil || !bytes.Equal(got, body) {
		t.Errorf("another peer: %d bytes, %v", len(got), err)
	}
	if got := used(); got != slotsPerPeer {
		t.Errorf("%d slots in use", got)
	}
	// With the stalled ones gone a large body of the same peer passes.
	for _, s := range stalled {
		s.CancelWrite(0)
	}
	if got, err := ask(ctx, qc, body); err != nil || !bytes.Equal(got, body) {
		t.Errorf("afterwards: %d bytes, %v", len(got), err)
	}
}
