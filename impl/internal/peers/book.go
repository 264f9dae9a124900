// Package peers keeps what is known of other daemons: above all which key is
// pinned under which Agent ID. Pins come from the configuration (static) and
// from known_peers.json (learned or enrolled). Daemons that discovery has seen
// stand beside them: with automatic trust they are admitted, and pinned once
// they have proved their key; otherwise they are candidates.
//
// It imports identity, config and atomicfile. It serves AXON-TLS-004 and -008
// and the peers of AXON-IPC and AXON-DISC.
package peers

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/axonproto/axon/impl/internal/atomicfile"
	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

// Bounds of what is kept: it grows with what the network shows.
const (
	maxPeers     = 4096
	maxForgotten = 4096
	maxSightings = 1024 // daemons seen and not pinned
	maxAddrs     = 8    // observed addresses of one daemon
)

// Why a pin is refused.
var (
	ErrConflict = errors.New("remove the peer that is there first, if the change is meant")
	ErrFull     = errors.New("too many known peers; remove some with `axon forget`")
	ErrSelf     = errors.New("this is the daemon's own identity; give the token of the other daemon")
)

// Source says where a pin comes from.
type Source string

// The sources; a static pin wins over a stored one of the same agent.
const (
	Static     Source = "static"
	Discovered Source = "discovered"
	Cached     Source = "cached"
	Enrolled   Source = "enrolled"
)

// Peer is what is known of another daemon.
type Peer struct {
	ID        identity.AgentID
	PublicKey ed25519.PublicKey
	Addr      string // host:port; empty: not known, the peer dials us
	Source    Source
	// Candidate is set for one that was seen but is not admitted: it waits for
	// its enrolment.
	Candidate bool
}

// entry is a peer in the book.
type entry struct {
	Peer
	pinned bool // in the configuration or in the file
	proven bool // has proved its key since the start
	seen   []netip.AddrPort
}

// Options of Open.
type Options struct {
	Root   string           // the state root; required
	Own    identity.AgentID // never taken in as a peer
	Static []config.Peer
	Trust  config.Trust // what an observation leads to; empty: automatic
	Logger *slog.Logger // required
}

// Book holds the pins. Its methods may be called from any goroutine.
type Book struct {
	o    Options
	path string

	// writing is held from a change to the end of its way to the disk, so that
	// the file never goes back to an older state.
	writing sync.Mutex

	mu        sync.RWMutex // guards the rest; never held while the disk works
	peers     map[identity.AgentID]*entry
	forgotten []identity.AgentID // removed by the owner: never admitted by discovery
	sightings int                // entries that are not pinned
}

// Open builds the book of a state root, which nobody else may have open. A known_peers.json that cannot be used
// is set aside under a new name with a warning: it never stops a start.
func Open(o Options) *Book {
	b := &Book{o: o, path: filepath.Join(o.Root, File), peers: map[identity.AgentID]*entry{}}
	atomicfile.Tidy(b.path)
	stored, forgotten, err := readFile(b.path)
	if err != nil {
		aside := b.path + ".damaged-" + time.Now().UTC().Format("20060102T150405.000000000Z")
		attrs := []any{"file", b.path, "error", err}
		if moveErr := os.Rename(b.path, aside); moveErr != nil {
			attrs = append(attrs, "kept_in_place", moveErr)
		} else {
			attrs = append(attrs, "moved_to", aside)
		}
		o.Logger.Warn("known peers could not be read; starting without them, enrol the missing ones again", attrs...)
	}
	for _, p := range stored {
		b.peers[p.ID] = &entry{Peer: p, pinned: true}
	}
	b.forgotten = forgotten
	for _, p := range o.Static {
		b.peers[p.ID] = &entry{Peer: Peer{ID: p.ID, PublicKey: p.PublicKey, Addr: p.Addr, Source: Static}, pinned: true}
	}
	delete(b.peers, o.Own)
	return b
}

// Pinned returns the key that the agent must prove, when it is admitted.
func (b *Book) Pinned(id identity.AgentID) (ed25519.PublicKey, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	e, ok := b.peers[id]
	if !ok || e.Candidate {
		return nil, false
	}
	return e.PublicKey, true
}

// Lookup returns what is known of an agent, candidates included.
func (b *Book) Lookup(id identity.AgentID) (Peer, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	e, ok := b.peers[id]
	if !ok {
		return Peer{}, false
	}
	return e.shown(), true
}

// shown is the peer with an address that it was seen at, when it has no other.
func (e *entry) shown() Peer {
	p := e.Peer
	if p.Addr == "" && len(e.seen) > 0 {
		p.Addr = e.seen[0].String()
	}
	return p
}

// List returns all peers in the order of their Agent IDs, candidates last.
func (b *Book) List() []Peer {
	b.mu.RLock()
	defer b.mu.RUnlock()
	list := make([]Peer, 0, len(b.peers))
	for _, candidates := range []bool{false, true} {
		for _, id := range slices.Sorted(maps.Keys(b.peers)) {
			if e := b.peers[id]; e.Candidate == candidates {
				list = append(list, e.shown())
			}
		}
	}
	return list
}

// Addrs returns where a peer may be dialled, the stored address first.
func (b *Book) Addrs(id identity.AgentID) []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	e, ok := b.peers[id]
	if !ok {
		return nil
	}
	var list []string
	if e.Addr != "" {
		list = append(list, e.Addr)
	}
	for _, a := range e.seen {
		if text := a.String(); text != e.Addr {
			list = append(list, text)
		}
	}
	return list
}

// Add pins a peer and stores it before it returns; on an error nothing has
// changed. A new address for a pinned key is taken over, except that of a
// static peer, which only its owner changes, in the configuration.
func (b *Book) Add(p Peer) error {
	if identity.DeriveAgentID(p.PublicKey) != p.ID {
		return fmt.Errorf("add peer %s: %w", p.ID, identity.ErrUnexpectedAgent)
	}
	if p.ID == b.o.Own {
		return fmt.Errorf("add peer %s: %w", p.ID, ErrSelf)
	}
	return b.change(func() error {
		old := b.peers[p.ID]
		if other := b.pinnedAt(p.Addr, p.ID); other != "" {
			return fmt.Errorf("the address %s is that of peer %s, which is pinned with another key: %w", p.Addr, other, ErrConflict)
		}
		pinned := old != nil && old.pinned
		switch {
		case old != nil && !old.PublicKey.Equal(p.PublicKey):
			return fmt.Errorf("another key is pinned for peer %s: %w", p.ID, ErrConflict)
		case pinned && old.Source == Static && p.Addr != "" && p.Addr != old.Addr:
			return fmt.Errorf("peer %s stands in %s with the address %q; change it there and start the daemon again: %w", p.ID, config.File, old.Addr, ErrConflict)
		case pinned && (old.Source == Static || old.Addr == p.Addr && old.Source == p.Source):
			return errUnchanged
		case !pinned && b.pinnedCount() >= maxPeers:
			return fmt.Errorf("add peer %s: %w", p.ID, ErrFull)
		}
		fresh := &entry{Peer: p, pinned: true}
		if old != nil {
			fresh.seen, fresh.proven = old.seen, old.proven
			if p.Addr == "" {
				fresh.Addr = old.Addr
			}
		}
		fresh.Candidate = false
		b.put(fresh)
		b.forgotten = slices.DeleteFunc(slices.Clone(b.forgotten), func(id identity.AgentID) bool { return id == p.ID })
		return nil
	})
}

// Remove forgets a peer and reports whether it was known. From now on discovery
// makes it a candidate at most. A static one comes back at the next start: its
// owner takes it out of the configuration.
func (b *Book) Remove(id identity.AgentID) (known bool, err error) {
	err = b.change(func() error {
		if _, known = b.peers[id]; !known {
			return errUnchanged
		}
		b.drop(id)
		if !slices.Contains(b.forgotten, id) {
			list := append(slices.Clone(b.forgotten), id)
			b.forgotten = list[max(0, len(list)-maxForgotten):]
		}
		return nil
	})
	return known, err
}

// Proven is told that an agent has proved its key on a connection. That pins,
// durably, one that discovery brought. An error means that the pin could not
// be stored; it is tried again at the next proof.
func (b *Book) Proven(id identity.AgentID) error {
	b.mu.Lock()
	e, ok := b.peers[id]
	if ok {
		e.proven = true
	}
	done := !ok || e.pinned || e.Candidate
	b.mu.Unlock()
	if done {
		return nil
	}
	return b.change(func() error {
		e, ok := b.peers[id]
		if !ok || e.pinned || e.Candidate {
			return errUnchanged
		}
		if b.pinnedCount() >= maxPeers {
			return fmt.Errorf("pin peer %s: %w", id, ErrFull)
		}
		pin := *e
		pin.pinned = true
		pin.Peer = e.shown()
		b.put(&pin)
		return nil
	})
}

// DialledAt is told that an agent has proved its key at an address that we
// dialled. One that discovery brought is from now on looked for there first.
func (b *Book) DialledAt(id identity.AgentID, addr string) error {
	b.mu.RLock()
	e, ok := b.peers[id]
	done := !ok || !e.pinned || e.Addr == addr || e.Source == Static || e.Source == Enrolled && e.Addr != ""
	b.mu.RUnlock()
	if done {
		return nil
	}
	return b.change(func() error {
		e, ok := b.peers[id]
		if !ok || !e.pinned {
			return errUnchanged
		}
		moved := *e
		moved.Addr = addr
		b.put(&moved)
		return nil
	})
}

// errUnchanged ends a change without a word and without a write.
var errUnchanged = errors.New("unchanged")

// change lets f change the maps, under the lock, and stores the result. When
// it cannot be stored everything is put back. f replaces entries and slices; it
// does not change those that are there.
func (b *Book) change(f func() error) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	peers, forgotten, sightings := maps.Clone(b.peers), b.forgotten, b.sightings
	if err := f(); err != nil {
		b.mu.Unlock()
		if errors.Is(err, errUnchanged) {
			return nil
		}
		return err
	}
	text, err := b.encode()
	b.mu.Unlock()
	if err == nil {
		err = b.store(text)
	}
	if err != nil {
		b.mu.Lock()
		b.peers, b.forgotten, b.sightings = peers, forgotten, sightings
		b.mu.Unlock()
	}
	return err
}

// put enters or replaces an entry; the caller holds the lock.
func (b *Book) put(e *entry) {
	b.drop(e.ID)
	b.peers[e.ID] = e
	if !e.pinned {
		b.sightings++
	}
}

func (b *Book) drop(id identity.AgentID) {
	if old, ok := b.peers[id]; ok {
		delete(b.peers, id)
		if !old.pinned {
			b.sightings--
		}
	}
}

func (b *Book) pinnedCount() int { return len(b.peers) - b.sightings }

// pinnedAt returns the pinned peer, other than id, whose stored address is addr.
func (b *Book) pinnedAt(addr string, id identity.AgentID) identity.AgentID {
	if addr == "" {
		return ""
	}
	for other, e := range b.peers {
		if other != id && e.pinned && e.Addr == addr {
			return other
		}
	}
	return ""
}
