package peers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/axonproto/axon/impl/internal/atomicfile"
	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

// File is the name of the learned pins in the state root.
const File = "known_peers.json"

// maxFileSize in bytes; more is taken for damage. As many peers as there may be, with
// the longest addresses, take less.
const maxFileSize = 8 << 20

// fileShape is known_peers.json.
type fileShape struct {
	Version int        `json:"version"`
	Peers   []filePeer `json:"peers"`
	// Forgotten are peers that their owner removed: discovery alone does not
	// bring them back.
	Forgotten []string `json:"forgotten,omitempty"`
}

type filePeer struct {
	AgentID   string `json:"agent_id"`
	PublicKey string `json:"public_key"`
	Addr      string `json:"addr,omitempty"`
	Source    Source `json:"source"`
}

// Check tells whether the known peers of a state root can be read, as the next
// start would. No file at all is fine.
func Check(root string) error {
	_, _, err := readFile(filepath.Join(root, File))
	return err
}

// encode gives the file's text; the caller holds the lock. Static peers and
// sightings are left out.
func (b *Book) encode() ([]byte, error) {
	shape := fileShape{Version: 1, Peers: []filePeer{}}
	for _, id := range slices.Sorted(maps.Keys(b.peers)) {
		e := b.peers[id]
		if e.Source == Static || !e.pinned {
			continue
		}
		shape.Peers = append(shape.Peers, filePeer{string(e.ID), identity.EncodePublicKey(e.PublicKey), e.Addr, e.Source})
	}
	for _, id := range b.forgotten {
		shape.Forgotten = append(shape.Forgotten, string(id))
	}
	text, err := json.MarshalIndent(shape, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("store known peers: %w", err)
	}
	return append(text, '\n'), nil
}

func (b *Book) store(text []byte) error {
	if err := atomicfile.Write(b.path, text, 0o600); err != nil {
		return fmt.Errorf("store known peers: %w; check the free space and the permissions of the state root", err)
	}
	return nil
}

func readFile(path string) (list []Peer, forgotten []identity.AgentID, err error) {
	text, err := readBounded(path)
	if err != nil || text == nil {
		return nil, nil, err
	}
	return decode(text)
}

// decode reads what encode writes.
func decode(text []byte) (list []Peer, forgotten []identity.AgentID, err error) {
	var shape fileShape
	if err := json.Unmarshal(text, &shape); err != nil {
		return nil, nil, err
	}
	if shape.Version != 1 {
		return nil, nil, fmt.Errorf("it has version %d, this daemon knows version 1", shape.Version)
	}
	if len(shape.Peers) > maxPeers || len(shape.Forgotten) > maxForgotten {
		return nil, nil, errors.New("it lists too many peers")
	}
	seen := map[identity.AgentID]bool{}
	for i, item := range shape.Peers {
		p, err := item.check()
		if err != nil {
			return nil, nil, fmt.Errorf("peer %d: %w", i, err)
		}
		if seen[p.ID] {
			return nil, nil, fmt.Errorf("peer %d: %s is listed twice", i, p.ID)
		}
		seen[p.ID] = true
		list = append(list, p)
	}
	for i, text := range shape.Forgotten {
		id, err := identity.ParseAgentID(text)
		if err != nil {
			return nil, nil, fmt.Errorf("forgotten %d: %w", i, err)
		}
		if seen[id] {
			return nil, nil, fmt.Errorf("forgotten %d: %s is listed twice", i, id)
		}
		seen[id] = true
		forgotten = append(forgotten, id)
	}
	return list, forgotten, nil
}

func (item filePeer) check() (Peer, error) {
	key, err := identity.ParsePublicKey(item.PublicKey)
	if err != nil {
		return Peer{}, err
	}
	id, err := identity.ParseAgentID(item.AgentID)
	if err != nil {
		return Peer{}, err
	}
	if id != identity.DeriveAgentID(key) {
		return Peer{}, identity.ErrUnexpectedAgent
	}
	if item.Addr != "" {
		if err := config.CheckAddr(item.Addr); err != nil {
			return Peer{}, err
		}
	}
	source := item.Source
	if source != Enrolled {
		source = Cached
	}
	return Peer{ID: id, PublicKey: key, Addr: item.Addr, Source: source}, nil
}

// readBounded returns nil when there is no file.
func readBounded(path string) ([]byte, error) {
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
	return os.ReadFile(path)
}
