package steps

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// dialOutcome is what came of a dial that may be refused.
type dialOutcome struct {
	exchange *exchange
	err      error
}

func init() {
	define(`a dialer offers the ALPN tokens? (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		o := s.Target.dialOptions()
		o.ALPN = strings.Fields(strings.NewReplacer(`"`, "", ",", " ", " and ", " ").Replace(a[0]))
		return s.tryDial(ctx, o)
	})
	define(`a dialer offers no ALPN token`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		o := s.Target.dialOptions()
		o.ALPN = []string{}
		return s.tryDial(ctx, o)
	})
	define(`the token negotiated is "axon/1"`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		if s.dialed.err != nil {
			return s.lose(s.dialed.exchange, `the token "axon/1" is negotiated`, "the dial failed: %v", s.dialed.err)
		}
		if got := s.dialed.exchange.conn.State().NegotiatedProtocol; got != "axon/1" {
			return fail(s.dialed.exchange, `the token "axon/1" is negotiated`, "the target chose %q", got)
		}
		return nil
	})
	define(`a dialer shows (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		o := s.Target.dialOptions()
		if a[0] == "no certificate" {
			o.NoCertificate = true
			return s.tryDial(ctx, o)
		}
		cert, err := s.certificate(a[0])
		if err != nil {
			return err
		}
		o.Certificate = &cert
		return s.tryDial(ctx, o)
	})
	define(`the target refuses it and serves it no stream`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.refused(ctx)
	})
	define(`an admitted dialer is still served`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, err := s.dial(ctx)
		if err != nil {
			return s.lose(nil, "the target still serves an admitted dialer", "%v", err)
		}
		_, err = s.good(ctx, c)
		return err
	})
	define(`whether the target serves it is noted`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		err := s.refused(ctx)
		s.Lost = false
		s.Observed = "it is refused"
		if err != nil {
			s.Observed = "it is served: " + actualOf(err)
		}
		return nil
	})
	define(`the target's certificate holds an Ed25519 key, the same on (\d+) connections`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.targetKey(ctx, n)
	})
	define(`whether the target hands out session tickets is noted`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.tickets(ctx)
	})
}

// tryDial dials with options that may be refused and, since a refusal may come
// only after the dial, sends a request on the connection.
func (s *Scenario) tryDial(ctx context.Context, o probe.DialOptions) error {
	e, err := s.probe()
	if err != nil {
		return err
	}
	return s.tryDialFrom(ctx, e, o)
}

// tryDialFrom is tryDial with another endpoint.
func (s *Scenario) tryDialFrom(ctx context.Context, e *probe.Endpoint, o probe.DialOptions) error {
	s.dialed = &dialOutcome{exchange: &exchange{}}
	c, err := e.Dial(ctx, o)
	if err != nil {
		s.dialed.err = err
		return nil
	}
	s.conns = append(s.conns, c)
	s.dialed.exchange.conn = c
	stream, err := c.OpenBidi(ctx)
	if err != nil {
		s.dialed.err = err
		return nil
	}
	x := &exchange{conn: c, stream: stream}
	x.note(plain("request", wire.NewID()))
	// Not one of s.exchanges: a stranger's request is owed no reply.
	s.dialed.exchange = x
	if err := stream.Send(ctx, x.sent); err != nil {
		x.writeErr = err
	}
	return nil
}

// refused: the target ended the handshake or the connection itself, by a TLS alert
// or a close, and answered nothing on it.
func (s *Scenario) refused(ctx context.Context) error {
	const expected = "the target refuses the handshake and serves no stream"
	x := s.dialed.exchange
	if err := s.dialed.err; err != nil {
		var dial *probe.DialError
		if errors.As(err, &dial) && dial.Refusal != nil && dial.Refusal.Remote {
			return nil
		}
		if x.conn != nil && x.conn.End() != nil && x.conn.End().Remote {
			return nil
		}
		if errors.As(err, &dial) && dial.Refusal != nil {
			return fail(x, expected, "it went on with the handshake, and the dialer itself had to end it: %v", err)
		}
		return s.lose(x, expected, "it gave no answer: %v", err)
	}
	for {
		if end := x.conn.End(); end != nil {
			if r := x.read(); r.answered() {
				return fail(x, expected, "it answered by %s", r.describe())
			}
			if end.Remote && !end.IdleTimeout && !end.StatelessReset {
				return nil
			}
			return s.lose(x, expected, "it gave no answer: %s", describeClosing(end))
		}
		r := x.read()
		if r.ended && r.ending.How == probe.ConnectionClosed {
			<-x.conn.Done()
			continue
		}
		if r.values > 0 || r.ended {
			return fail(x, expected, "it took the connection, and the request's stream carried %s", r.describe())
		}
		if _, err := x.stream.AwaitBytes(ctx, len(r.data)+1); err != nil && x.conn.End() == nil && ctx.Err() != nil {
			return s.lose(x, expected, "the connection is still open after %s", s.Target.Ceiling)
		}
	}
}

// certificate makes the certificate that a feature file describes.
func (s *Scenario) certificate(description string) (tls.Certificate, error) {
	me := s.Target.Identity
	named := credential.CertOptions{CommonName: me.AgentID(), DNSNames: []string{me.AgentID()}}
	mine, err := me.Certificate(credential.CertOptions{})
	if err != nil {
		return tls.Certificate{}, err
	}
	stranger, err := credential.New()
	if err != nil {
		return tls.Certificate{}, err
	}
	switch description {
	case "a certificate of a key that the target does not know":
		return stranger.Certificate(credential.CertOptions{})
	case "a certificate of an unknown key that carries an admitted Agent ID as its names":
		return stranger.Certificate(named)
	case "a certificate of an unknown key with the admitted certificate behind it in the chain":
		return stranger.Certificate(credential.CertOptions{Extra: [][]byte{mine.Certificate[0]}})
	case "the admitted certificate without holding its private key":
		return me.StolenCertificate()
	case "an ECDSA certificate":
		return credential.ECDSACertificate(credential.CertOptions{})
	case "an ECDSA certificate that carries an admitted Agent ID as its names":
		return credential.ECDSACertificate(named)
	case "an ECDSA certificate with the admitted certificate behind it in the chain":
		return credential.ECDSACertificate(credential.CertOptions{Extra: [][]byte{mine.Certificate[0]}})
	case "an RSA certificate":
		return credential.RSACertificate(credential.CertOptions{})
	case "an RSA certificate that carries an admitted Agent ID as its names":
		return credential.RSACertificate(named)
	case "the admitted key in a certificate that expired yesterday":
		return me.Certificate(credential.CertOptions{NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour)})
	case "the admitted key in a certificate that is not valid before tomorrow":
		return me.Certificate(credential.CertOptions{NotBefore: time.Now().Add(24 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour)})
	case "the admitted key in a certificate with other names":
		return me.Certificate(credential.CertOptions{CommonName: "somebody else", DNSNames: []string{"example.invalid"}})
	}
	return tls.Certificate{}, fmt.Errorf("there is no certificate %q: see steps.certificate for the list", description)
}

// targetKey: an Ed25519 key in the certificate, the same one each time.
func (s *Scenario) targetKey(ctx context.Context, n int) error {
	var first string
	for i := range n {
		c, err := s.dial(ctx)
		if err != nil {
			return err
		}
		x := &exchange{conn: c}
		key := c.PeerKey()
		if key == nil {
			return fail(x, "a certificate with an Ed25519 key, from which the Agent ID derives", "it holds a key of another kind: %s", c.PeerCertificate().PublicKeyAlgorithm)
		}
		id := credential.AgentID(key)
		if i == 0 {
			first = id
		}
		if id != first {
			return fail(x, "the same key on every connection", "connection 1 derives %s and connection %d derives %s", first, i+1, id)
		}
		if want := s.Target.AgentID; want != "" && id != want {
			return fail(x, "the key of "+want, "the key derives %s", id)
		}
	}
	return nil
}

// ticketCache tells whether a session ticket arrived.
type ticketCache struct{ put chan struct{} }

func (c ticketCache) Get(string) (*tls.ClientSessionState, bool) { return nil, false }
func (c ticketCache) Put(string, *tls.ClientSessionState) {
	select {
	case c.put <- struct{}{}:
	default:
	}
}

func (s *Scenario) tickets(ctx context.Context) error {
	e, err := s.probe()
	if err != nil {
		return err
	}
	cache := ticketCache{make(chan struct{}, 1)}
	o := s.Target.dialOptions()
	o.TLS = func(c *tls.Config) { c.ClientSessionCache, c.SessionTicketsDisabled = cache, false }
	c, err := e.Dial(ctx, o)
	if err != nil {
		return blocked("no connection to the target: %v", err)
	}
	s.conns = append(s.conns, c)
	s.conn = c
	if err := s.survives(ctx); err != nil {
		return err
	}
	s.Observed = "no session ticket was handed out, so there is neither resumption nor 0-RTT"
	select {
	case <-cache.put:
		s.Observed = "a session ticket was handed out: a resumed session would skip the pin"
	default:
	}
	return nil
}
