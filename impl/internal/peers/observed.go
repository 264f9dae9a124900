package peers

import (
	"net/netip"
	"slices"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

// Change says what an observation led to.
type Change int

const (
	// Nothing: it was known, is our own, or there is no room for more.
	Nothing Change = iota
	// NewAddr: an admitted peer may be dialled at a further address.
	NewAddr
	// NewPeer: a daemon not known so far is admitted.
	NewPeer
	// NewCandidate: a daemon not known so far waits for its enrolment.
	NewCandidate
)

// Observe takes in an observation and says what it led to. A daemon not known
// becomes a peer with automatic trust, unless its owner had removed it or its
// address is that of a pinned peer with another key; it becomes a candidate
// otherwise. Nothing is stored.
func (b *Book) Observe(o Observation) Change {
	if o.AgentID == b.o.Own || !o.Addr.IsValid() || identity.DeriveAgentID(o.PublicKey) != o.AgentID {
		return Nothing
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e, known := b.peers[o.AgentID]
	if known {
		if !e.PublicKey.Equal(o.PublicKey) || len(e.seen) >= maxAddrs || slices.Contains(e.seen, o.Addr) {
			return Nothing
		}
		// Copied: change may have to put the old entry back.
		more := *e
		more.seen = append(slices.Clone(e.seen), o.Addr)
		b.peers[o.AgentID] = &more
		if e.Candidate || e.Addr == o.Addr.String() {
			return Nothing
		}
		return NewAddr
	}
	if b.sightings >= maxSightings {
		return Nothing
	}
	fresh := &entry{Peer: Peer{ID: o.AgentID, PublicKey: slices.Clone(o.PublicKey), Source: Discovered}}
	fresh.seen = append(fresh.seen, o.Addr)
	holder := b.pinnedAt(o.Addr.String(), o.AgentID)
	fresh.Candidate = b.o.Trust == config.TrustEnroll || holder != "" || slices.Contains(b.forgotten, o.AgentID)
	b.put(fresh)
	if holder != "" {
		b.o.Logger.Warn("a daemon announces itself with another key at the address of a pinned peer; it is not admitted, enrol it with `axon connect` if the change is meant",
			"address", o.Addr.String(), "pinned", holder, "announced", o.AgentID)
	}
	if fresh.Candidate {
		return NewCandidate
	}
	return NewPeer
}

// Forget takes an observation back. A daemon that is neither pinned nor has
// proved its key goes with its last one; Forget then returns true.
func (b *Book) Forget(o Observation) (gone bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, known := b.peers[o.AgentID]
	if !known || !slices.Contains(e.seen, o.Addr) {
		return false
	}
	less := *e
	less.seen = slices.DeleteFunc(slices.Clone(e.seen), func(a netip.AddrPort) bool { return a == o.Addr })
	if len(less.seen) == 0 && !less.pinned && !less.proven {
		b.drop(o.AgentID)
		return true
	}
	b.peers[o.AgentID] = &less
	return false
}
