package mutants

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan/netns"
	"github.com/axonproto/axon/harness/probe"
)

// neighbour is a small AXON daemon on a machine of its own: the correct peer, with
// discovery beside it. It behaves as its manner says.
type neighbour struct {
	manner   lanManner
	settings settings
	identity credential.Identity
	machine  *netns.Namespace
	peer     *peer
	ctx      context.Context // ends when it is closed
	cancel   context.CancelFunc
	work     sync.WaitGroup
	dials    chan struct{} // as many at once as it holds

	mu     sync.Mutex // guards what follows
	people map[string]*acquaintance
	gone   map[string]bool // whom a fault has it ignore
	air    *radio
	log    []string
}

// settings are those that a daemon is started with.
type settings struct {
	port      int
	second    time.Duration
	enrolment bool
	silent    bool // discovery is switched off
}

// sighting is a checked advert.
type sighting struct {
	id  string
	key ed25519.PublicKey
	at  netip.AddrPort
}

// observation is when a peer was last heard at an address.
type observation struct {
	at   netip.AddrPort
	last time.Time
}

// acquaintance is a peer that was pinned, or heard of.
type acquaintance struct {
	id     string
	key    ed25519.PublicKey
	pinned bool
	// proven is an address where the key was shown, or that the owner named.
	proven netip.AddrPort
	heard  []observation
	conn   *probe.Conn
	busy   bool // a dial is under way
}

func (p *acquaintance) connected() bool { return p.conn != nil && p.conn.End() == nil }

// maxDials is the number of dials that are under way at once.
const maxDials = 16

// startNeighbour starts one that knows what it knew before. Close it when done.
func startNeighbour(m lanManner, s settings, machine *netns.Namespace, id credential.Identity, pinned map[string]ed25519.PublicKey) (*neighbour, error) {
	n := &neighbour{manner: m, settings: s, identity: id, machine: machine, people: map[string]*acquaintance{}, gone: map[string]bool{}, dials: make(chan struct{}, maxDials)}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	for id, key := range pinned {
		n.people[id] = &acquaintance{id: id, key: key, pinned: true}
	}
	if err := m.start(n); err != nil {
		return nil, err
	}
	err := machine.Do(func() error {
		e, err := probe.New(probe.Options{Identity: id, Listen: fmt.Sprintf("0.0.0.0:%d", s.port)})
		if err != nil {
			return err
		}
		n.peer = &peer{manner: m.wire, identity: id, endpoint: e, notes: map[string]int{}}
		return nil
	})
	if err != nil {
		return nil, err
	}
	n.peer.manner.admit = func(_ *peer, state tls.ConnectionState) error { return n.admit(state) }
	n.peer.manner.meet = n.taken
	n.peer.ctx, n.peer.cancel = context.WithCancel(context.Background())
	if err := n.peer.listen(); err != nil {
		n.close()
		return nil, err
	}
	if !s.silent || m.offListens || m.offAsks {
		n.work.Go(n.tune)
	}
	return n, nil
}

func (n *neighbour) admit(state tls.ConnectionState) error {
	if len(state.PeerCertificates) > 0 {
		if key, ok := credentialKey(state.PeerCertificates[0]); ok && n.manner.admits(n, key) {
			return nil
		}
	}
	return errUnknownKey
}

// taken notes a connection that a peer made: its key has been proven.
func (n *neighbour) taken(l *link) {
	key := l.conn.PeerKey()
	if key == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.people[credential.AgentID(key)]; p != nil {
		p.pinned = true
		if !p.connected() {
			p.conn = l.conn
		}
	}
}

// observe remembers a sighting and has it dealt with.
func (n *neighbour) observe(s sighting) {
	n.mu.Lock()
	p := n.people[s.id]
	switch {
	case p == nil && (len(n.people) >= n.manner.most || n.taboo(s)):
		n.mu.Unlock()
		return
	case p == nil:
		p = &acquaintance{id: s.id, key: s.key}
		n.people[s.id] = p
	}
	i := slices.IndexFunc(p.heard, func(o observation) bool { return o.at == s.at })
	if i < 0 {
		p.heard = append(p.heard, observation{at: s.at})
		i = len(p.heard) - 1
	}
	p.heard[i].last = time.Now()
	n.mu.Unlock()
	n.manner.found(n, s)
}

// taboo: an address where the owner put another key leads to nobody else.
func (n *neighbour) taboo(s sighting) bool {
	for _, p := range n.people {
		if p.pinned && p.proven == s.at && p.id != s.id {
			return true
		}
	}
	return false
}

// meet dials whom it found, unless an owner has to say so first.
func (n *neighbour) meet(s sighting) {
	n.mu.Lock()
	p := n.people[s.id]
	wanted := p != nil && !p.connected() && !p.busy && (p.pinned || !n.settings.enrolment)
	if wanted {
		p.busy = true
	}
	n.mu.Unlock()
	if !wanted {
		return
	}
	n.work.Go(func() {
		defer func() {
			n.mu.Lock()
			p.busy = false
			n.mu.Unlock()
		}()
		select {
		case n.dials <- struct{}{}:
			defer func() { <-n.dials }()
		case <-n.ctx.Done():
			return
		}
		_, _ = n.reach(n.ctx, p)
	})
}

var errUnreachable = errors.New("the peer is reached at none of its addresses")

// reach returns the connection with a peer, dialling its addresses in turn.
func (n *neighbour) reach(ctx context.Context, p *acquaintance) (*probe.Conn, error) {
	n.mu.Lock()
	c, addresses, key := p.conn, n.manner.addresses(n, p), p.key
	live := p.connected()
	n.mu.Unlock()
	if live {
		return c, nil
	}
	for _, at := range addresses {
		c, err := n.dial(ctx, p.id, key, at)
		if err != nil {
			continue
		}
		n.mu.Lock()
		p.conn, p.pinned, p.proven = c, true, at
		n.mu.Unlock()
		return c, nil
	}
	return nil, errUnreachable
}

func (n *neighbour) dial(ctx context.Context, id string, key ed25519.PublicKey, at netip.AddrPort) (*probe.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*n.settings.second)
	defer cancel()
	c, err := n.peer.endpoint.Dial(ctx, probe.DialOptions{Address: at.String(), ServerName: id, ExpectKey: key})
	if err == nil {
		n.peer.take(c)
	}
	return c, err
}

// staleAfter and sweepEvery are in seconds.
const (
	staleAfter = 60
	sweepEvery = 5
)

// sweep forgets where peers have not been heard, and those that were never met.
func (n *neighbour) sweep() {
	n.mu.Lock()
	defer n.mu.Unlock()
	limit := time.Now().Add(-staleAfter * n.settings.second)
	for id, p := range n.people {
		p.heard = slices.DeleteFunc(p.heard, func(o observation) bool { return o.last.Before(limit) })
		if len(p.heard) == 0 && !p.pinned && !p.connected() {
			delete(n.people, id)
		}
	}
}

// pins are the keys that outlive it.
func (n *neighbour) pins() map[string]ed25519.PublicKey {
	n.mu.Lock()
	defer n.mu.Unlock()
	kept := map[string]ed25519.PublicKey{}
	for id, p := range n.people {
		if p.pinned && !n.manner.forgetful {
			kept[id] = p.key
		}
	}
	return kept
}

func (n *neighbour) note(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log = append(n.log, line)
}

// close ends everything and waits.
func (n *neighbour) close() {
	n.cancel()
	n.peer.close()
	n.work.Wait()
}
