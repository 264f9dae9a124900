package transport

import (
	"context"
	"sync"

	"github.com/axonproto/axon/impl/internal/identity"
)

// What half-received bodies may cost. A body over smallBuffer takes a slot
// before more of it is read, and room for all of it with the slot, so that each
// body that has one can be completed. Those that wait for one are not read: the
// peer's flow control credit then holds it back, nothing is dropped. A slot is
// given back when the body has been answered or its stream has failed.
//
// So one peer with c connections holds at most
//
//	slotsPerPeer × 2 × (envelope.MaxSize+1)  +  c × (2 × maxStreams × smallBuffer + connWindow)
//	16 MiB, replies included                 +  c × (4 MiB + 20 MiB)
//
// and all peers together 128 MiB + c × 24 MiB. Without slots it would be 264 MiB
// for each connection. To that come large replies to small requests that the peer does
// not read, see backlog.go: 4 MiB for each connection, and 64 MiB for all that the
// handler can have at a time.
//
// The connection window has to hold what the waiting streams have sent
// (2 × maxStreams × streamWindow), else their unread bytes would use up the
// credit of those that hold a slot, and nobody could go on.
const (
	slotsPerPeer = 128
	slotsInAll   = 1024
)

// slots hands out leave to receive a large body: first come, first served
// within a peer, and in turns among peers.
type slots struct {
	perPeer int

	mu     sync.Mutex // guards the rest
	free   int
	shares map[identity.AgentID]*share
	ring   []*share // those with somebody waiting, next turn first
}

// share is what one peer has and wants.
type share struct {
	used    int
	waiting []chan struct{} // closed when the slot is given
}

func newSlots(perPeer, inAll int) *slots {
	return &slots{perPeer: perPeer, free: inAll, shares: map[identity.AgentID]*share{}}
}

// acquire waits for a slot; the error is that of ctx.
func (s *slots) acquire(ctx context.Context, peer identity.AgentID) (waited bool, err error) {
	s.mu.Lock()
	sh := s.shares[peer]
	if sh == nil {
		sh = &share{}
		s.shares[peer] = sh
	}
	if s.free > 0 && sh.used < s.perPeer && len(sh.waiting) == 0 {
		s.free--
		sh.used++
		s.mu.Unlock()
		return false, nil
	}
	turn := make(chan struct{})
	sh.waiting = append(sh.waiting, turn)
	if len(sh.waiting) == 1 {
		s.ring = append(s.ring, sh)
	}
	s.mu.Unlock()
	select {
	case <-turn:
		return true, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range sh.waiting {
		if other == turn {
			sh.waiting = append(sh.waiting[:i], sh.waiting[i+1:]...)
			s.tidy(peer, sh)
			return true, ctx.Err()
		}
	}
	// It was given in the meantime.
	s.put(peer, sh)
	return true, ctx.Err()
}

func (s *slots) release(peer identity.AgentID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(peer, s.shares[peer])
}

// put takes a slot back and gives out what is free; the caller holds the lock.
func (s *slots) put(peer identity.AgentID, sh *share) {
	s.free++
	sh.used--
	for range len(s.ring) {
		if s.free == 0 {
			break
		}
		next := s.ring[0]
		s.ring = append(s.ring[:0], s.ring[1:]...)
		if len(next.waiting) > 0 && next.used < s.perPeer {
			s.free--
			next.used++
			close(next.waiting[0])
			next.waiting = next.waiting[1:]
		}
		if len(next.waiting) > 0 {
			s.ring = append(s.ring, next)
		}
	}
	s.tidy(peer, sh)
}

func (s *slots) tidy(peer identity.AgentID, sh *share) {
	if len(sh.waiting) > 0 {
		return
	}
	for i, other := range s.ring {
		if other == sh {
			s.ring = append(s.ring[:i], s.ring[i+1:]...)
			break
		}
	}
	if sh.used == 0 {
		delete(s.shares, peer)
	}
}
