// Package links keeps the connections to known peers: it dials at the start, on
// demand and on discovery, tries again with growing pauses, looks host names up
// anew, and knows how each peer stands.
//
// It imports config, identity, peers, rarelog and transport. It serves
// AXON-TLS-007 and -008, AXON-LEARN-003 and the peers of AXON-IPC and AXON-DISC.
package links

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/rarelog"
	"github.com/axonproto/axon/impl/internal/transport"
)

// ErrUnknown reports a peer that is not admitted.
var ErrUnknown = errors.New("no such peer; `axon peers` lists the known ones, `axon connect TOKEN` adds one")

// ErrCandidate reports a peer that was seen but never enrolled.
var ErrCandidate = errors.New("the peer was seen on the network and is not enrolled; run `axon connect` with its agent id")

// ErrNoAddr reports a peer that is not connected and cannot be dialled.
var ErrNoAddr = errors.New("the peer is not connected and no address is known for it; start its daemon, or add it again with an address")

// Network is what the keeper needs of the transport.
type Network interface {
	Dial(ctx context.Context, peer identity.AgentID, addrs ...string) (string, error)
	Move(ctx context.Context, peer identity.AgentID, addrs ...string) (string, error)
	Resolve(ctx context.Context, addr string) ([]netip.AddrPort, error)
	Connection(peer identity.AgentID) (transport.Connection, bool)
	Disconnect(peer identity.AgentID)
}

// Options of a Keeper.
type Options struct {
	Book   *peers.Book  // required
	Logger *slog.Logger // required
	// Candidate is told of each daemon that waits for its enrolment; it must
	// not block. Nil: nobody is told.
	Candidate func(peers.Peer)
	// Jitter gives numbers from 0 to 1. Nil: random ones.
	Jitter func() float64
}

const (
	dialTimeout     = 10 * time.Second // of one attempt, all addresses together
	resolveInterval = 60 * time.Second // a connected peer's host name is looked up
	firstPause      = time.Second
	longestPause    = 30 * time.Second
	// settled is how long a connection must have lived to count as a success:
	// a peer that refuses us does so after the handshake looked good.
	settled = 5 * time.Second
	// background bounds the attempts that nobody waits for.
	background = 32
)

// Keeper keeps the connections. Its methods may be called from any goroutine;
// Close waits for all that it started.
type Keeper struct {
	o    Options
	rare *rarelog.Log
	room chan struct{} // one token for each background attempt

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex // guards the rest, and the links' fields
	network Network    // nil before Start
	closed  bool
	links   map[identity.AgentID]*link
}

// link is the state of one admitted peer.
type link struct {
	id     identity.AgentID
	ctx    context.Context // ends when the peer is dropped
	cancel context.CancelFunc
	wake   chan struct{} // its loop has something to look at

	news     chan struct{} // closed at the next change of its connections
	attempt  *attempt      // under way
	failures int           // since the last connection that settled
	due      time.Time     // no attempt before
	up       bool          // had a connection when last looked at
	upSince  time.Time
	ever     bool   // had one since the start
	via      string // the address that we dialled last
}

// attempt is one dial; several may wait for it.
type attempt struct {
	done chan struct{}
	err  error // valid once done is closed
}

// New returns a Keeper that does nothing before Start. It is a peers.Sink and a
// transport.Watcher.
func New(o Options) (*Keeper, error) {
	if o.Book == nil || o.Logger == nil {
		return nil, errors.New("links: Options.Book and Logger are required; set both")
	}
	if o.Candidate == nil {
		o.Candidate = func(peers.Peer) {}
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	k := &Keeper{o: o, rare: rarelog.New(o.Logger), room: make(chan struct{}, background), links: map[identity.AgentID]*link{}}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k, nil
}

// Start begins to keep the connections to all admitted peers.
func (k *Keeper) Start(n Network) {
	k.mu.Lock()
	k.network = n
	k.mu.Unlock()
	for _, p := range k.o.Book.List() {
		if !p.Candidate {
			k.ensure(p.ID)
		}
	}
}

// Close ends all attempts. Connections stay: they are the transport's.
func (k *Keeper) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.cancel()
	k.wg.Wait()
}

// ensure returns the link of a peer, made and started when it is missing; nil
// when the keeper is not running.
func (k *Keeper) ensure(id identity.AgentID) *link {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.links[id]; l != nil {
		return l
	}
	if k.closed || k.network == nil {
		return nil
	}
	l := &link{id: id, wake: make(chan struct{}, 1), news: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(k.ctx)
	k.links[id] = l
	k.wg.Go(func() { k.keep(l) })
	return l
}

func (k *Keeper) drop(id identity.AgentID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.links[id]; l != nil {
		l.cancel()
		delete(k.links, id)
	}
}

func (l *link) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// hurry lets the next attempt begin at once.
func (k *Keeper) hurry(l *link) {
	if l == nil {
		return
	}
	k.mu.Lock()
	l.due = time.Time{}
	k.mu.Unlock()
	l.poke()
}

// Proven implements transport.Watcher.
func (k *Keeper) Proven(id identity.AgentID) {
	if err := k.o.Book.Proven(id); err != nil {
		k.rare.Note(slog.LevelWarn, "a discovered peer's key could not be pinned; it is pinned at a later contact", slog.Any("error", err))
	}
}

// Changed implements transport.Watcher.
func (k *Keeper) Changed(id identity.AgentID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.links[id]; l != nil {
		close(l.news)
		l.news = make(chan struct{})
		l.poke()
	}
}

// Observe implements peers.Sink.
func (k *Keeper) Observe(o peers.Observation) {
	switch k.o.Book.Observe(o) {
	case peers.NewPeer, peers.NewAddr:
		k.hurry(k.ensure(o.AgentID))
	case peers.NewCandidate:
		if p, ok := k.o.Book.Lookup(o.AgentID); ok {
			k.o.Candidate(p)
		}
	}
}

// Forget implements peers.Sink.
func (k *Keeper) Forget(o peers.Observation) {
	if k.o.Book.Forget(o) {
		k.drop(o.AgentID)
	}
}

// Add pins a peer, durably, and begins to connect to it.
func (k *Keeper) Add(p peers.Peer) error {
	if err := k.o.Book.Add(p); err != nil {
		return err
	}
	k.o.Logger.Info("peer added", "peer", p.ID, "address", p.Addr)
	l := k.ensure(p.ID)
	if l != nil {
		k.mu.Lock()
		l.failures = 0
		k.mu.Unlock()
	}
	k.hurry(l)
	return nil
}

// Remove forgets a peer and closes its connections. It returns ErrUnknown for
// one that is not known.
func (k *Keeper) Remove(id identity.AgentID) error {
	p, _ := k.o.Book.Lookup(id)
	known, err := k.o.Book.Remove(id)
	switch {
	case err != nil:
		return err
	case !known:
		return ErrUnknown
	}
	k.drop(id)
	k.mu.Lock()
	n := k.network
	k.mu.Unlock()
	if n != nil {
		n.Disconnect(id)
	}
	k.o.Logger.Info("peer removed", "peer", id)
	if p.Source == peers.Static {
		k.o.Logger.Warn("the removed peer stands in config.yaml and comes back at the next start; take it out there, too", "peer", id)
	}
	return nil
}
