package mutants

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
)

// peer is an AXON peer that listens on a free loopback port and behaves as its
// manner says.
type peer struct {
	manner   manner
	identity credential.Identity
	// admitted is the Agent ID of the one key that it knows, empty for any key.
	admitted string
	endpoint *probe.Endpoint
	listener *probe.Listener

	// ctx ends when the peer is closed; whatever waits, waits for it as well.
	ctx    context.Context
	cancel context.CancelFunc
	accept sync.WaitGroup

	links   atomic.Int64 // connections so far
	calls   atomic.Int64 // streams so far, over all connections
	answers atomic.Int64 // replies so far, over all connections

	mu    sync.Mutex // guards what follows
	live  []*link
	notes map[string]int
}

// link is one connection with the suite.
type link struct {
	peer   *peer
	conn   *probe.Conn
	number int64

	calls     atomic.Int64 // streams so far
	answers   atomic.Int64 // replies so far
	inFlight  atomic.Int64
	malformed atomic.Int64 // streams that held no envelope

	// serial is held by manners that serve one stream at a time.
	serial sync.Mutex

	mu   sync.Mutex // guards what follows
	last string     // id of the last valid request
}

// startPeer starts a peer that knows one key. Close it when done.
func startPeer(m manner, admitted credential.Identity) (*peer, error) {
	id, err := credential.New()
	if err != nil {
		return nil, err
	}
	return openPeer(m, admitted.AgentID(), probe.Options{Identity: id})
}

// openPeer starts a peer that knows one Agent ID, or any when it is empty.
func openPeer(m manner, admitted string, o probe.Options) (*peer, error) {
	e, err := probe.New(o)
	if err != nil {
		return nil, err
	}
	p := &peer{manner: m, identity: o.Identity, admitted: admitted, endpoint: e, notes: map[string]int{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if err := p.listen(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *peer) listen() error {
	o := probe.ListenOptions{TLS: func(c *tls.Config) {
		c.VerifyConnection = func(s tls.ConnectionState) error { return p.manner.admit(p, s) }
		// The cheaper of what both sides know: there are hundreds of handshakes.
		c.CurvePreferences = []tls.CurveID{tls.X25519}
		p.manner.tls(p, c)
	}}
	p.manner.listen(p, &o)
	l, err := p.endpoint.Listen(o)
	if err != nil {
		return fmt.Errorf("start a peer: %w", err)
	}
	p.listener = l
	p.accept.Go(func() {
		for {
			c, err := l.Accept(p.ctx)
			if err != nil {
				return
			}
			p.take(c)
		}
	})
	return nil
}

// take begins to serve a connection.
func (p *peer) take(c *probe.Conn) {
	l := &link{peer: p, conn: c, number: p.links.Add(1)}
	p.mu.Lock()
	p.live = append(slices.DeleteFunc(p.live, func(l *link) bool { return l.conn.End() != nil }), l)
	p.mu.Unlock()
	p.manner.meet(l)
	c.OnIncoming(func(s *probe.Stream) {
		x := &call{peer: p, link: l, stream: s, nth: l.calls.Add(1), nthOfAll: p.calls.Add(1)}
		l.inFlight.Add(1)
		defer l.inFlight.Add(-1)
		p.manner.serve(x)
	})
}

// address is where the peer listens.
func (p *peer) address() string { return p.endpoint.Addr().String() }

// close ends everything and waits.
func (p *peer) close() {
	p.cancel()
	_ = p.endpoint.Close()
	p.accept.Wait()
}

// die vanishes without a word, as a process that crashes does.
func (p *peer) die() {
	p.mu.Lock()
	live := append([]*link(nil), p.live...)
	p.mu.Unlock()
	p.cancel()
	for _, l := range live {
		l.conn.Vanish()
	}
	if p.listener != nil {
		_ = p.listener.Close()
	}
}

// hang waits until the peer is closed.
func (p *peer) hang() { <-p.ctx.Done() }

// count adds one to a named counter of the peer and returns it.
func (p *peer) count(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes[name]++
	return p.notes[name]
}

// others are the live connections but for one, the oldest first.
func (p *peer) others(not *link) []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*link
	for _, l := range p.live {
		if l != not && l.conn.End() == nil {
			list = append(list, l)
		}
	}
	return list
}

// pause waits for a while, or until the peer is closed.
func (p *peer) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
	}
}

var errUnknownKey = errors.New("the dialer's key is not known; admit it first")

// admit lets in the one known key, by the certificate's own key alone.
func admit(p *peer, s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return errUnknownKey
	}
	return p.knows(s.PeerCertificates[0])
}

// known tells whether the dialer showed the admitted key.
func (l *link) known() bool {
	c := l.conn.PeerCertificate()
	return c != nil && l.peer.knows(c) == nil
}

// knows tells whether a certificate holds the admitted key.
func (p *peer) knows(c *x509.Certificate) error {
	key, ok := credentialKey(c)
	if !ok || p.admitted != "" && credential.AgentID(key) != p.admitted {
		return errUnknownKey
	}
	return nil
}
