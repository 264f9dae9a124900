// Package peers keeps what is known of other daemons: above all which key is
// pinned under which Agent ID. Pins come from the configuration (static) and
// from known_peers.json (learned or enrolled).
//
// It imports identity, config and atomicfile. It serves AXON-TLS-004 and -008.
package peers

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/axonproto/axon/impl/internal/atomicfile"
	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

// File is the name of the learned pins in the state root.
const File = "known_peers.json"

const (
	maxPeers    = 4096    // bound of the file: it grows with what the network shows
	maxFileSize = 4 << 20 // bytes; more is taken for damage
)

// ErrConflict reports an attempt to put another key under a pinned Agent ID.
var ErrConflict = errors.New("another key is pinned for this peer; remove the peer first if the change is meant")

// ErrFull reports that no more peers can be stored.
var ErrFull = errors.New("too many known peers; remove some with `axon forget`")

// Source says where a pin comes from.
type Source string

// The sources; a static pin wins over a stored one of the same agent.
const (
	Static     Source = "static"
	Discovered Source = "discovered"
	Cached     Source = "cached"
	Enrolled   Source = "enrolled"
)

// Peer is a pinned peer.
type Peer struct {
	ID        identity.AgentID
	PublicKey ed25519.PublicKey
	Addr      string // host:port; empty: not known, the peer dials us
	Source    Source
}

// Book holds the pins. Its methods may be called from any goroutine.
type Book struct {
	path string

	mu    sync.RWMutex // guards all below; held while the file is written
	peers map[identity.AgentID]Peer
}

// Open builds the book of a state root. A known_peers.json that cannot be used
// is set aside under a new name with a warning: it never stops a start.
func Open(root string, static []config.Peer, now time.Time, logger *slog.Logger) *Book {
	b := &Book{path: filepath.Join(root, File), peers: map[identity.AgentID]Peer{}}
	stored, err := readFile(b.path)
	if err != nil {
		aside := b.path + ".damaged-" + now.UTC().Format("20060102T150405.000000000Z")
		attrs := []any{"file", b.path, "error", err}
		if moveErr := os.Rename(b.path, aside); moveErr != nil {
			attrs = append(attrs, "kept_in_place", moveErr)
		} else {
			attrs = append(attrs, "moved_to", aside)
		}
		logger.Warn("known peers could not be read; starting without them, enrol the missing ones again", attrs...)
	}
	for _, p := range stored {
		b.peers[p.ID] = p
	}
	for _, p := range static {
		b.peers[p.ID] = Peer{ID: p.ID, PublicKey: p.PublicKey, Addr: p.Addr, Source: Static}
	}
	return b
}

// Pinned returns the key that the agent must prove.
func (b *Book) Pinned(id identity.AgentID) (ed25519.PublicKey, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	p, ok := b.peers[id]
	return p.PublicKey, ok
}

// Lookup returns what is known of an agent.
func (b *Book) Lookup(id identity.AgentID) (Peer, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	p, ok := b.peers[id]
	return p, ok
}

// List returns all peers in the order of their Agent IDs.
func (b *Book) List() []Peer {
	b.mu.RLock()
	defer b.mu.RUnlock()
	list := make([]Peer, 0, len(b.peers))
	for _, id := range slices.Sorted(maps.Keys(b.peers)) {
		list = append(list, b.peers[id])
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
	b.mu.Lock()
	defer b.mu.Unlock()
	old, known := b.peers[p.ID]
	switch {
	case known && !old.PublicKey.Equal(p.PublicKey):
		return fmt.Errorf("add peer %s: %w", p.ID, ErrConflict)
	case known && (old.Source == Static || old.Addr == p.Addr && old.Source == p.Source):
		return nil
	case !known && len(b.peers) >= maxPeers:
		return fmt.Errorf("add peer %s: %w", p.ID, ErrFull)
	}
	b.peers[p.ID] = p
	if err := b.save(); err != nil {
		if known {
			b.peers[p.ID] = old
		} else {
			delete(b.peers, p.ID)
		}
		return err
	}
	return nil
}

// Remove forgets a peer and reports whether it was known. A static one comes
// back at the next start: its owner takes it out of the configuration.
func (b *Book) Remove(id identity.AgentID) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, known := b.peers[id]
	if !known {
		return false, nil
	}
	delete(b.peers, id)
	if err := b.save(); err != nil {
		b.peers[id] = old
		return false, err
	}
	return true, nil
}

// fileShape is known_peers.json.
type fileShape struct {
	Version int        `json:"version"`
	Peers   []filePeer `json:"peers"`
}

type filePeer struct {
	AgentID   string `json:"agent_id"`
	PublicKey string `json:"public_key"`
	Addr      string `json:"addr,omitempty"`
	Source    Source `json:"source"`
}

// save writes all but the static peers; the caller holds the lock.
func (b *Book) save() error {
	shape := fileShape{Version: 1, Peers: []filePeer{}}
	for _, id := range slices.Sorted(maps.Keys(b.peers)) {
		p := b.peers[id]
		if p.Source == Static {
			continue
		}
		shape.Peers = append(shape.Peers, filePeer{string(p.ID), identity.EncodePublicKey(p.PublicKey), p.Addr, p.Source})
	}
	text, err := json.MarshalIndent(shape, "", "  ")
	if err != nil {
		return fmt.Errorf("store known peers: %w", err)
	}
	if err := atomicfile.Write(b.path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("store known peers: %w; check the free space and the permissions of the state root", err)
	}
	return nil
}

func readFile(path string) ([]Peer, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > maxFileSize {
		return nil, errors.New("it is too large")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var shape fileShape
	if err := json.Unmarshal(text, &shape); err != nil {
		return nil, err
	}
	if shape.Version != 1 {
		return nil, fmt.Errorf("it has version %d, this daemon knows version 1", shape.Version)
	}
	if len(shape.Peers) > maxPeers {
		return nil, errors.New("it lists too many peers")
	}
	list := make([]Peer, 0, len(shape.Peers))
	for i, item := range shape.Peers {
		key, err := identity.ParsePublicKey(item.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("peer %d: %w", i, err)
		}
		id, err := identity.ParseAgentID(item.AgentID)
		if err != nil {
			return nil, fmt.Errorf("peer %d: %w", i, err)
		}
		if id != identity.DeriveAgentID(key) {
			return nil, fmt.Errorf("peer %d: %w", i, identity.ErrUnexpectedAgent)
		}
		source := item.Source
		if source != Enrolled {
			source = Cached
		}
		list = append(list, Peer{ID: id, PublicKey: key, Addr: item.Addr, Source: source})
	}
	return list, nil
}
