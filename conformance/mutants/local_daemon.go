package mutants

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
)

// localDaemon is a peer with a local API, in a state root of its own, that behaves
// as its manner says.
type localDaemon struct {
	m        localManner
	peer     *peer
	root     string
	listener *net.UnixListener
	started  time.Time
	work     sync.WaitGroup // clients, watchers of connections

	// single is held by manners that do one thing at a time.
	single sync.Mutex

	mu             sync.Mutex // guards what follows
	book           []*pinned
	links          map[string][]*link // live ones by Agent ID, the oldest first
	clients        []*localClient     // in the order in which they came
	taken          int                // places
	numbered       int                // clients so far
	holder         *localClient
	pending        []*pending
	sent, received int64
	stopped        bool // delivery, by a fault
	past           []*record
}

// pinned is a peer that the daemon knows.
type pinned struct {
	id     string
	key    ed25519.PublicKey
	addr   string
	source string
	// dialling is held while a connection is being made.
	dialling sync.Mutex
	// dialled: the daemon itself has made a connection.
	dialled atomic.Bool
}

// startLocal starts a daemon that knows one key. Close it when done.
func startLocal(m localManner, admitted credential.Identity) (*localDaemon, error) {
	root, err := os.MkdirTemp("", "axon-")
	if err != nil {
		return nil, fmt.Errorf("make a state root: %w", err)
	}
	d := &localDaemon{m: m, root: root, started: time.Now(), links: map[string][]*link{}}
	d.book = []*pinned{{id: admitted.AgentID(), key: admitted.Public(), source: "static"}}
	wire := m.wire
	if meet := wire.meet; meet != nil {
		wire.meet = func(l *link) { meet(l); d.meet(l) }
	}
	admit := wire.admit
	wire.admit = func(p *peer, s tls.ConnectionState) error {
		if len(s.PeerCertificates) > 0 && d.admits(s.PeerCertificates[0]) {
			return nil
		}
		if d.lax("strangers are refused") {
			return nil
		}
		return admit(p, s)
	}
	wire.request, wire.unknown = d.counting(d.request), d.counting(wire.unknown)
	oneWay, misplaced := d.inbound, wire.misplaced
	wire.oneWay = func(c *call) { d.count(c); oneWay(c) }
	wire.misplaced = func(c *call) { d.count(c); misplaced(c) }
	d.m.wire = wire
	// What admits is the book; the one pin of a mere peer is nobody's.
	nobody, err := credential.New()
	if err != nil {
		return nil, err
	}
	if d.peer, err = startPeer(wire, nobody); err != nil {
		_ = os.RemoveAll(root)
		return nil, err
	}
	if err := d.bind(); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// lax tells whether a rule is left out.
func (d *localDaemon) lax(r rule) bool { return d.m.lax[r] }

func (d *localDaemon) bind() error {
	path := filepath.Join(d.root, d.m.socket)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("bind a local API: %w", err)
	}
	d.listener = l
	if err := os.Chmod(path, d.m.mode); err != nil {
		return fmt.Errorf("bind a local API: %w", err)
	}
	d.work.Go(d.accept)
	return nil
}

// path of the socket.
func (d *localDaemon) path() string { return filepath.Join(d.root, d.m.socket) }

// close ends everything and waits.
func (d *localDaemon) close() {
	d.peer.cancel()
	if d.listener != nil {
		_ = d.listener.Close()
	}
	d.mu.Lock()
	for _, c := range d.clients {
		_ = c.conn.Close()
	}
	d.mu.Unlock()
	d.peer.close()
	d.work.Wait()
	_ = os.RemoveAll(d.root)
}

// admits tells whether the book holds a certificate's key.
func (d *localDaemon) admits(c *x509.Certificate) bool {
	key, ok := credentialKey(c)
	if !ok {
		return false
	}
	k := d.lookup(credential.AgentID(key))
	return k != nil && k.key.Equal(key)
}

// lookup finds a known peer, nil when there is none.
func (d *localDaemon) lookup(id string) *pinned {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.find(id)
}

// find is lookup with d.mu held.
func (d *localDaemon) find(id string) *pinned {
	for _, k := range d.book {
		if k.id == id {
			return k
		}
	}
	return nil
}

// meet keeps a new connection, whoever dialled, for as long as it lives.
func (d *localDaemon) meet(l *link) {
	id := l.from()
	d.mu.Lock()
	d.links[id] = append(d.links[id], l)
	gone := d.find(id) == nil && !d.lax("strangers are refused") && !d.lax("who answers is the one meant")
	d.mu.Unlock()
	d.m.met(d, l)
	if gone { // removed while the handshake went on
		l.hangUp(0, "this peer was removed")
	}
	d.work.Go(func() {
		select {
		case <-l.conn.Done():
		case <-d.peer.ctx.Done():
			return
		}
		if d.lax("status follows the connections") {
			return
		}
		d.mu.Lock()
		d.links[id] = slices.DeleteFunc(d.links[id], func(o *link) bool { return o == l })
		d.mu.Unlock()
	})
}

// from is the Agent ID of the peer at the other end.
func (l *link) from() string {
	key := l.conn.PeerKey()
	if key == nil {
		return ""
	}
	return credential.AgentID(key)
}

// linked is a live connection with a peer, nil when there is none.
func (d *localDaemon) linked(id string) *link {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.links[id] {
		if l.conn.End() == nil {
			return l
		}
	}
	return nil
}

// errNoWay is wrapped by errors of making or keeping a connection.
var errNoWay = errors.New("the peer cannot be reached")

// connect gives a connection with a peer, and dials it when there is none.
func (d *localDaemon) connect(ctx context.Context, k *pinned) (*link, error) {
	if d.lax("commands do not wait for each other's dials") {
		d.single.Lock()
		defer d.single.Unlock()
	}
	k.dialling.Lock()
	defer k.dialling.Unlock()
	if l := d.linked(k.id); l != nil && !d.lax("connections are used in both directions") {
		return l, nil
	}
	if k.addr == "" || d.lax("known peers are dialled") {
		return nil, fmt.Errorf("%w: no address of it is known", errNoWay)
	}
	o := probe.DialOptions{Address: k.addr, ServerName: k.id, ExpectKey: k.key}
	d.m.dial(k, &o)
	conn, err := d.peer.endpoint.Dial(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoWay, err)
	}
	k.dialled.Store(true)
	d.peer.take(conn)
	if l := d.linked(k.id); l != nil {
		return l, nil
	}
	// A fault let another key pass: use the connection all the same.
	if other := credential.AgentID(conn.PeerKey()); other != k.id {
		if l := d.linked(other); l != nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("%w: the connection ended at once", errNoWay)
}

// add pins a peer.
func (d *localDaemon) add(key ed25519.PublicKey, addr string) (id string, conflict bool) {
	id = credential.AgentID(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, k := range d.book {
		switch {
		case k.id == id:
			if d.lax("adding again changes nothing") {
				d.book = append(d.book, &pinned{id: id, key: key, addr: addr, source: "enrolled"})
			}
			k.addr = addr
			return id, false
		case k.addr == addr && !d.lax("a pin is never replaced"):
			return id, true
		case k.addr == addr:
			d.book[i] = &pinned{id: id, key: key, addr: addr, source: "enrolled"}
			return id, false
		}
	}
	d.book = append(d.book, &pinned{id: id, key: key, addr: addr, source: "enrolled"})
	return id, false
}

// remove forgets a peer and ends its connections.
func (d *localDaemon) remove(id string) bool {
	d.mu.Lock()
	before := len(d.book)
	d.book = slices.DeleteFunc(d.book, func(k *pinned) bool { return k.id == id })
	found := len(d.book) < before
	links := append([]*link(nil), d.links[id]...)
	d.mu.Unlock()
	if found && !d.lax("removal closes the connection") {
		for _, l := range links {
			l.hangUp(0, "this peer was removed")
		}
	}
	return found
}

// status of a peer.
func (d *localDaemon) status(k *pinned) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lax("peers that dialled are connected") && !k.dialled.Load() {
		return "disconnected"
	}
	for _, l := range d.links[k.id] {
		if l.conn.End() == nil || d.lax("status follows the connections") {
			return "connected"
		}
	}
	return "disconnected"
}

// count notes a valid envelope that came.
func (d *localDaemon) count(c *call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lax("each kind counts") && c.env.Kind != "message" {
		return
	}
	d.received++
}

func (d *localDaemon) counting(f func(*call) *answer) func(*call) *answer {
	return func(c *call) *answer {
		d.count(c)
		return f(c)
	}
}

// lower brings an Agent ID to its usual form.
func (d *localDaemon) lower(id string) string {
	if d.lax("Agent IDs are compared without regard to case") {
		return id
	}
	return strings.ToLower(id)
}
