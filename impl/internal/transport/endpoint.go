package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/rarelog"
)

// Endpoint is one UDP socket and the connections over it, in both directions.
// Its methods may be called from any goroutine; Shutdown waits for all that it
// started.
type Endpoint struct {
	o          Options
	creds      *credentials
	udp        *net.UDPConn
	quic       *quic.Transport
	quicConfig *quic.Config
	listener   *quic.Listener
	rare       *rarelog.Log
	slots      *slots

	// accepting ends when no further connection or stream is to be served.
	accepting     context.Context
	stopAccepting context.CancelFunc
	draining      atomic.Bool
	handshakes    atomic.Int64 // of dialers, not yet through
	sources       *sources
	wg            sync.WaitGroup
	shutdown      sync.Once
	shutdownErr   error

	mu     sync.Mutex // guards the rest
	closed bool       // no connection is taken in any more
	total  int        // connections in byPeer
	byPeer map[identity.AgentID][]*conn
}

// Listen binds the socket and begins to serve.
func Listen(o Options) (*Endpoint, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	creds, err := newCredentials(&o)
	if err != nil {
		return nil, err
	}
	// A reset key that survives a restart lets peers notice the restart at
	// once; derived from the identity it needs no file of its own.
	secret, err := o.Identity.DeriveSecret("axon stateless reset", len(quic.StatelessResetKey{}))
	if err != nil {
		return nil, fmt.Errorf("derive reset key: %w", err)
	}
	resetKey := quic.StatelessResetKey(secret)
	addr, err := net.ResolveUDPAddr("udp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w; give a host that this machine has, or leave it out", o.Addr, err)
	}
	udp, err := net.ListenUDP("udp", addr)
	if err != nil {
		return nil, explainBind(o.Addr, err)
	}

	e := &Endpoint{o: o, creds: creds, udp: udp, rare: rarelog.New(o.Logger), slots: newSlots(slotsPerPeer, slotsInAll), sources: newSources(failedBurst, failedRate), byPeer: map[identity.AgentID][]*conn{}}
	e.accepting, e.stopAccepting = context.WithCancel(context.Background())
	e.quicConfig = o.quic()
	e.quic = &quic.Transport{
		Conn:                socket{udp},
		StatelessResetKey:   &resetKey,
		ConnContext:         e.beginHandshake,
		VerifySourceAddress: e.mustProveAddress,
	}
	e.listener, err = e.quic.Listen(creds.listen(), e.quicConfig)
	if err != nil {
		e.stopAccepting()
		_ = e.quic.Close()
		_ = udp.Close()
		return nil, fmt.Errorf("listen on %s: %w", udp.LocalAddr(), err)
	}
	e.wg.Go(e.accept)
	return e, nil
}

func explainBind(addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("listen on UDP %s: %w; another program uses the port: stop it, or choose another with --port", addr, err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen on UDP %s: %w; choose a port above 1023 with --port", addr, err)
	}
	return fmt.Errorf("listen on UDP %s: %w; choose another address with --listen or --port", addr, err)
}

// Addr returns the address that is really bound.
func (e *Endpoint) Addr() net.Addr { return e.udp.LocalAddr() }

func (e *Endpoint) accept() {
	for {
		qc, err := e.listener.Accept(e.accepting)
		if err != nil {
			return
		}
		if a, ok := qc.Context().Value(attemptKey{}).(*attempt); ok {
			a.succeed()
		}
		// In a goroutine of its own: refusing takes a round of the
		// connection's loop, and must not hold up the next one.
		e.wg.Go(func() { _ = e.adopt(qc, false) })
	}
}

// adopt takes in an authenticated connection and serves it, or closes it.
func (e *Endpoint) adopt(qc *quic.Conn, dialled bool) error {
	id, err := e.creds.checkPin(qc.ConnectionState().TLS)
	if err != nil { // removed since the handshake
		_ = qc.CloseWithError(codeClosed, reasonRemoved)
		return err
	}
	e.o.Watcher.Proven(id)
	c := &conn{e: e, qc: qc, peer: id, dialled: dialled, since: time.Now()}
	c.heard()
	e.mu.Lock()
	var refusal string
	// Looked up again under the lock: Disconnect, which follows a removal,
	// either finds the connection or comes before this.
	_, known := e.o.Pins.Pinned(id)
	switch {
	case !known:
		refusal, err = reasonRemoved, ErrNotPinned
	case e.closed:
		refusal, err = reasonShutdown, ErrClosed
	case e.total >= e.o.MaxConnections:
		refusal, err = reasonLimit, ErrConnLimit
	}
	if err != nil {
		e.mu.Unlock()
		c.close(refusal)
		e.rare.Note(slog.LevelWarn, "refused a connection", slog.String("peer", string(id)), slog.String("reason", refusal))
		return err
	}
	e.total++
	list := append(e.byPeer[id], c)
	e.byPeer[id] = list
	// Under the lock, so that Shutdown, which sets closed, waits for them.
	e.wg.Go(c.serve)
	if loser := crossDialLoser(e.o.Identity.ID, list); loser != nil {
		e.wg.Go(loser.retire)
	}
	e.mu.Unlock()
	e.o.Watcher.Changed(id)
	if len(list) == 1 {
		e.o.Logger.Info("peer connected", "peer", id, "address", qc.RemoteAddr().String(), "dialled", dialled)
	}
	return nil
}

// forget takes a connection that is gone out of the books.
func (e *Endpoint) forget(c *conn) {
	e.mu.Lock()
	list := e.byPeer[c.peer]
	for i, other := range list {
		if other == c {
			list = slices.Delete(list, i, i+1)
			e.total--
			break
		}
	}
	if len(list) == 0 {
		delete(e.byPeer, c.peer)
	} else {
		e.byPeer[c.peer] = list
	}
	e.mu.Unlock()
	if len(list) == 0 {
		e.o.Logger.Info("peer disconnected", "peer", c.peer, "reason", closeReason(c.qc))
	}
	e.o.Watcher.Changed(c.peer)
}

// Connection is what a peer's connection looks like.
type Connection struct {
	Addr    string // of the other end
	Dialled bool   // by us
	Since   time.Time
	RTT     time.Duration // smoothed
}

// Connection returns the connection that is used for sending to a peer.
func (e *Endpoint) Connection(peer identity.AgentID) (Connection, bool) {
	c := e.choose(peer)
	if c == nil {
		return Connection{}, false
	}
	return Connection{
		Addr: c.qc.RemoteAddr().String(), Dialled: c.dialled, Since: c.since,
		RTT: c.qc.ConnectionStats().SmoothedRTT,
	}, true
}

// Peers counts the peers that have a connection.
func (e *Endpoint) Peers() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, list := range e.byPeer {
		if chosen(e.o.Identity.ID, list) != nil {
			n++
		}
	}
	return n
}

// Connected reports whether a peer has a connection.
func (e *Endpoint) Connected(peer identity.AgentID) bool { return e.choose(peer) != nil }

// Disconnect closes all connections of a peer, as after its removal.
func (e *Endpoint) Disconnect(peer identity.AgentID) {
	e.mu.Lock()
	list := append([]*conn(nil), e.byPeer[peer]...)
	e.mu.Unlock()
	for _, c := range list {
		c.close(reasonRemoved)
	}
}

// Shutdown takes no new streams, waits until the requests under way are
// answered or ctx ends, tells all peers, and closes the socket. A second call
// waits for the first.
func (e *Endpoint) Shutdown(ctx context.Context) error {
	e.shutdown.Do(func() { e.shutdownErr = e.drain(ctx) })
	return e.shutdownErr
}

func (e *Endpoint) drain(ctx context.Context) error {
	e.draining.Store(true)
	e.mu.Lock()
	e.closed = true
	var all []*conn
	for _, list := range e.byPeer {
		all = append(all, list...)
	}
	e.mu.Unlock()
	_ = e.listener.Close()
	e.stopAccepting()

	var closing sync.WaitGroup
	for _, c := range all {
		closing.Go(func() {
			select {
			case <-c.serving.idle():
				c.waitFlush(ctx)
			case <-ctx.Done():
			case <-c.qc.Context().Done():
			}
			c.close(reasonShutdown)
		})
	}
	closing.Wait()
	e.wg.Wait()
	err := e.quic.Close()
	return errors.Join(err, e.udp.Close())
}
