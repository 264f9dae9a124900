package links

import (
	"time"

	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
)

// Status says how a peer stands.
type Status string

// The values of Status.
const (
	Discovered   Status = "discovered"   // seen, never connected so far
	Connecting   Status = "connecting"   // an attempt is under way
	Connected    Status = "connected"    // there is a connection
	Backoff      Status = "backoff"      // an attempt failed, the next one has its time
	Disconnected Status = "disconnected" // no connection, and nothing to try
)

// Entry is one line of the list of peers.
type Entry struct {
	peers.Peer
	Status Status
	RTT    time.Duration // smoothed; valid when connected
}

// List returns all known peers, candidates last, each part in the order of the
// Agent IDs.
func (k *Keeper) List() []Entry {
	list := k.o.Book.List()
	entries := make([]Entry, len(list))
	for i, p := range list {
		entries[i] = k.entry(p)
	}
	return entries
}

func (k *Keeper) entry(p peers.Peer) Entry {
	e := Entry{Peer: p, Status: Disconnected}
	k.mu.Lock()
	n := k.network
	k.mu.Unlock()
	if p.Candidate {
		e.Status = Discovered
		return e
	}
	if n != nil {
		if c, ok := n.Connection(p.ID); ok {
			e.Status, e.RTT = Connected, c.RTT
			if e.Addr == "" {
				e.Addr = c.Addr
			}
			return e
		}
	}
	e.Status = k.status(p.ID, p)
	return e
}

func (k *Keeper) status(id identity.AgentID, p peers.Peer) Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.links[id]
	switch {
	case l == nil:
	case l.attempt != nil:
		return Connecting
	case l.failures > 0 && p.Addr != "":
		return Backoff
	case !l.ever && p.Source == peers.Discovered:
		return Discovered
	}
	return Disconnected
}
