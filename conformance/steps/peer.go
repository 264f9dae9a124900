package steps

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"sync"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/trace"
)

// maxIncoming bounds the streams of the target that wait for a step to look.
const maxIncoming = 4096

// peer is a second probe, with a key of its own, that the target was told of: it
// listens, so that the target can dial it, and it may dial as well.
type peer struct {
	identity credential.Identity
	endpoint *probe.Endpoint
	listener *probe.Listener
	log      *trace.Log
	incoming chan *exchange
	accepts  sync.WaitGroup

	mu    sync.Mutex
	conns []*probe.Conn
	// received are the target's streams in the order in which steps took them.
	received []*exchange
}

// enrolled makes a peer and has the target know it. The listen options say how it
// behaves when the target dials.
func (s *Scenario) enrolled(ctx context.Context, o probe.ListenOptions) (*peer, error) {
	if s.Target.Control == nil {
		return nil, &verdict.Inapplicable{Need: "drive", Reason: "needs drive: the suite has no way to make this target send"}
	}
	p, err := s.newPeer(o)
	if err != nil {
		return nil, err
	}
	if err := s.Target.Control.Enroll(ctx, p.identity.Public(), p.endpoint.Addr().String()); err != nil {
		return nil, blockedOr(err, "the target did not take the suite's second probe as a peer")
	}
	return p, nil
}

// newPeer makes a peer that the target has not been told of.
func (s *Scenario) newPeer(o probe.ListenOptions) (*peer, error) {
	id, err := credential.New()
	if err != nil {
		return nil, err
	}
	return s.newPeerAs(id, o)
}

func (s *Scenario) newPeerAs(id credential.Identity, o probe.ListenOptions) (*peer, error) {
	host, err := s.Target.hostForTarget()
	if err != nil {
		return nil, err
	}
	p := &peer{identity: id, log: s.log, incoming: make(chan *exchange, maxIncoming)}
	p.endpoint, err = probe.New(probe.Options{Identity: id, Log: s.log, Listen: net.JoinHostPort(host, "0"), QLog: s.qlog, KeyLog: s.Target.KeyLog})
	if err != nil {
		return nil, fmt.Errorf("open a UDP socket for the peer: %w", err)
	}
	s.peers = append(s.peers, p)
	if p.listener, err = p.endpoint.Listen(o); err != nil {
		return nil, err
	}
	p.accepts.Go(p.accept)
	return p, nil
}

// hostForTarget is the address of this machine at which the target can reach it.
func (t *Target) hostForTarget() (string, error) {
	c, err := net.Dial("udp", t.Address)
	if err != nil {
		return "", fmt.Errorf("find an own address that the target can reach: %w", err)
	}
	defer func() { _ = c.Close() }()
	host, _, err := net.SplitHostPort(c.LocalAddr().String())
	return host, err
}

func (p *peer) accept() {
	for {
		c, err := p.listener.Accept(context.Background())
		if err != nil {
			return
		}
		p.take(c)
	}
}

// take keeps a connection with the target, and every stream that it opens there.
func (p *peer) take(c *probe.Conn) {
	p.mu.Lock()
	p.conns = append(p.conns, c)
	p.mu.Unlock()
	c.OnIncoming(func(in *probe.Stream) {
		select {
		case p.incoming <- &exchange{conn: c, stream: in}:
		default: // far more than any check asks for
		}
	})
}

// connections are those with the target so far.
func (p *peer) connections() []*probe.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*probe.Conn(nil), p.conns...)
}

// next waits for the next stream that the target opens, and for its end.
func (p *peer) next(ctx context.Context, s *Scenario, what string) (*exchange, reply, error) {
	select {
	case x := <-p.incoming:
		p.received = append(p.received, x)
		r, err := x.awaitEnd(ctx)
		if err != nil {
			return x, r, s.lose(x, what+", finished by FIN", "the stream carried %s after %s", r.describe(), s.Target.Ceiling)
		}
		return x, r, nil
	case <-ctx.Done():
		if err := s.callsFault(ctx); err != nil {
			return nil, reply{}, err
		}
		return nil, reply{}, s.lose(nil, what, "it opened no stream to the peer within %s", s.Target.Ceiling)
	}
}

// close forgets the peer in the target and ends the probe.
func (p *peer) close(s *Scenario) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Target.Ceiling)
	defer cancel()
	// A target that has gone cannot forget; the next step that needs it tells.
	if s.Target.Control != nil {
		_ = s.Target.Control.Forget(ctx, p.identity.AgentID())
	}
	if p.listener != nil {
		_ = p.listener.Close()
	}
	_ = p.endpoint.Close()
	p.accepts.Wait()
}

// otherAuthorities is a pool with an authority that signed nothing here.
func otherAuthorities() (*x509.CertPool, error) {
	id, err := credential.New()
	if err != nil {
		return nil, err
	}
	cert, err := id.Certificate(credential.CertOptions{CommonName: "an authority of no concern"})
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		return nil, err
	}
	if parsed.Subject.String() == (pkix.Name{}).String() {
		return nil, fmt.Errorf("the authority has no name")
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool, nil
}

// strangerCertificate is one of a key that the target was not told of.
func strangerCertificate() (*tls.Certificate, error) {
	id, err := credential.New()
	if err != nil {
		return nil, err
	}
	cert, err := id.Certificate(credential.CertOptions{})
	return &cert, err
}
