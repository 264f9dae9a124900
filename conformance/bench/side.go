package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/wire"
)

const (
	// alpn is AXON's token, which the bare peer takes as well.
	alpn = "axon/1"
	// patience is how long one exchange may take before it counts as failed.
	patience = 10 * time.Second
	// maxHandshakes is the most connections that are begun at a time.
	maxHandshakes = 64
	// maxErrors ends a worker with which nothing works.
	maxErrors = 100
	// prefixLength is how much of an id the envelopes of one round share.
	prefixLength = 24
)

// Ends of a measurement.
var (
	// ErrNothing says that a side did nothing in all the time.
	ErrNothing = errors.New("nothing was exchanged")
	// ErrUnreachable says that a side does not admit us, or is not there.
	ErrUnreachable = errors.New("it cannot be reached")
)

// side is one of the two that are measured, with the connections to it.
type side struct {
	peer      Peer
	address   *net.UDPAddr
	socket    *net.UDPConn
	transport *quic.Transport
	tls       []*tls.Config // one for each identity
	conns     []*quic.Conn
	local     local // the program behind it; nil for the bare side
}

// open connects to a side, as often as the row wants, and sees that it serves: a dial
// alone returns before the other side has judged who dials.
func (m *measurement) open(ctx context.Context, peer Peer, row Row) (*side, error) {
	address, err := net.ResolveUDPAddr("udp", peer.Address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; write HOST:PORT", ErrUnreachable, err)
	}
	socket, err := net.ListenUDP("udp", nil)
	if err != nil {
		return nil, err
	}
	s := &side{peer: peer, address: address, socket: socket, transport: &quic.Transport{Conn: socket}}
	for _, c := range m.certificates[:row.Connections] {
		s.tls = append(s.tls, peer.config(c))
	}
	if err := s.connect(ctx); err != nil {
		s.close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%w at %s: %w; does it admit the key of `axon-conformance identity`?", ErrUnreachable, peer.Address, err)
	}
	return s, nil
}

func (p Peer) config(certificate tls.Certificate) *tls.Config {
	return &tls.Config{
		// Whatever authorities the listener names.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil },
		NextProtos:           []string{alpn}, MinVersion: tls.VersionTLS13,
		InsecureSkipVerify: true, // the key is compared below: there are no authorities
		VerifyConnection: func(s tls.ConnectionState) error {
			if p.Key != nil && !p.Key.Equal(s.PeerCertificates[0].PublicKey) {
				return errors.New("the peer has another key than the one that was given")
			}
			return nil
		},
	}
}

// connect opens a connection for each identity, several at a time.
func (s *side) connect(ctx context.Context) error {
	s.conns = make([]*quic.Conn, len(s.tls))
	errs := make([]error, len(s.tls))
	var work sync.WaitGroup
	room := make(chan struct{}, 16)
	for i := range s.tls {
		room <- struct{}{}
		work.Go(func() {
			defer func() { <-room }()
			if s.conns[i], errs[i] = s.dial(ctx, i); errs[i] == nil {
				errs[i] = request(ctx, s.conns[i], newBody(wire.NewID(), "request", minSize), make([]byte, 1024), false)
			}
		})
	}
	work.Wait()
	for i, err := range errs {
		if err != nil && len(errs) > 1 {
			return fmt.Errorf("connection %d of %d (see `axon-conformance bench peers`): %w", i+1, len(errs), err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *side) dial(ctx context.Context, identity int) (*quic.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.transport.Dial(ctx, s.address, s.tls[identity], &quic.Config{MaxIdleTimeout: 3 * patience, KeepAlivePeriod: patience})
}

func (s *side) close() {
	for _, c := range s.conns {
		if c != nil {
			_ = c.CloseWithError(0, "measured")
		}
	}
	_ = s.transport.Close()
	_ = s.socket.Close()
}

// play has a row's workers work for the duration.
func (s *side) play(ctx context.Context, row Row, d time.Duration) (*tally, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d+2*patience, fmt.Errorf("no stream was granted in %s", 2*patience))
	defer cancel()
	// Streams do not watch the context.
	stop := context.AfterFunc(ctx, func() {
		for _, c := range s.conns {
			_ = c.CloseWithError(0, "interrupted")
		}
	})
	defer stop()
	r := &round{side: s, row: row, prefix: wire.NewID()}
	if s.local != nil {
		var budget int64
		var err error
		if r.inbox, budget, err = s.local.begin(ctx, r.prefix); err != nil {
			return nil, err
		}
		defer s.local.end()
		if budget > 0 {
			r.budget = new(atomic.Int64)
			r.budget.Store(budget)
		}
	}
	before := cpuOf(s.peer.PID)
	sum, err := r.together(ctx, d)
	sum.cpu = cpuOf(s.peer.PID) - before
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case sum.exchanges == 0 && err != nil:
		return nil, fmt.Errorf("%s: %w in %s (%d failed): %w", s.peer.Address, ErrNothing, d, sum.errors, err)
	case sum.exchanges == 0:
		return nil, fmt.Errorf("%s: %w in %s", s.peer.Address, ErrNothing, d)
	}
	return sum, nil
}

// round is one measurement of one side.
type round struct {
	side   *side
	row    Row
	prefix string        // an id, of which those of this round have the beginning
	inbox  *inbox        // where messages are to arrive; nil: nobody looks
	budget *atomic.Int64 // exchanges that may still be made; nil: nothing bounds them
}

// together has the row's workers at once and joins what they did. Its error is the
// first exchange that failed.
func (r *round) together(ctx context.Context, d time.Duration) (*tally, error) {
	shards := make([]*tally, min(r.row.InFlight, 4*runtime.GOMAXPROCS(0)))
	for i := range shards {
		shards[i] = newTally()
	}
	var workers sync.WaitGroup
	start := make(chan struct{})
	var began time.Time
	for i := range r.row.InFlight {
		w := r.worker(i, shards[i%len(shards)])
		workers.Go(func() {
			<-start
			w.work(ctx, began.Add(d))
		})
	}
	began = time.Now()
	close(start)
	workers.Wait()
	sum := newTally()
	for _, t := range shards {
		sum.add(t)
	}
	r.finish(ctx, sum)
	sum.took = time.Since(began)
	return sum, sum.first
}

// finish waits until messages are where they are to go.
func (r *round) finish(ctx context.Context, sum *tally) {
	if r.inbox != nil {
		lost, err := r.inbox.settle(ctx)
		sum.exchanges -= lost
		for range lost {
			sum.fail(err)
		}
		return
	}
	if !r.row.Load.oneWay() {
		return
	}
	// A request behind them shows that they were taken.
	var work sync.WaitGroup
	for _, c := range r.side.conns {
		work.Go(func() {
			if err := request(ctx, c, newBody(wire.NewID(), "request", minSize), make([]byte, 1024), false); err != nil {
				sum.fail(fmt.Errorf("the request behind the messages: %w", err))
			}
		})
	}
	work.Wait()
}
