package discovery

import (
	"slices"
	"time"

	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
)

// Bounds of what is remembered. What does not fit is not taken in until
// something else has gone stale: new claims never push out old ones.
const (
	maxPeers        = 1024
	maxObservations = 16 // of one peer
)

// directGrace is how long an address that does not belong to the link is held
// back, for a better one to come.
const directGrace = time.Second

// table is what is remembered. It is owned by one goroutine.
type table struct {
	timing timing
	peers  map[identity.AgentID][]*memory
}

type memory struct {
	peers.Observation
	direct bool
	first  time.Time
	last   time.Time
	told   time.Time // when the sink was told last; zero: never
}

func newTable(t timing) *table {
	return &table{timing: t, peers: map[identity.AgentID][]*memory{}}
}

// see takes in a sighting and reports whether the sink is to be told, and
// whether there was no room for it.
func (t *table) see(o peers.Observation, direct bool, now time.Time) (tell, full bool) {
	list, known := t.peers[o.AgentID]
	i := slices.IndexFunc(list, func(m *memory) bool { return m.Addr == o.Addr })
	if i < 0 {
		if !known && len(t.peers) >= maxPeers || len(list) >= maxObservations {
			return false, true
		}
		i = len(list)
		list = append(list, &memory{Observation: o, direct: direct, first: now})
		t.peers[o.AgentID] = list
	}
	m := list[i]
	m.last = now
	m.direct = m.direct || direct
	if !m.direct {
		better := slices.ContainsFunc(list, func(m *memory) bool { return m.direct })
		if better || now.Sub(m.first) < directGrace {
			return false, false
		}
	}
	if !m.told.IsZero() && now.Sub(m.told) < t.timing.repeat {
		return false, false
	}
	m.told = now
	return true, false
}

// sweep drops what is stale and returns those of it that the sink was told of.
func (t *table) sweep(now time.Time) []peers.Observation {
	var lost []peers.Observation
	for id, list := range t.peers {
		list = slices.DeleteFunc(list, func(m *memory) bool {
			stale := now.Sub(m.last) >= t.timing.stale
			if stale && !m.told.IsZero() {
				lost = append(lost, m.Observation)
			}
			return stale
		})
		if len(list) == 0 {
			delete(t.peers, id)
		} else {
			t.peers[id] = list
		}
	}
	return lost
}
