package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/trace"
)

const (
	maxAttempts = 4096 // later attempts are served but not listed
	maxWaiting  = 1024 // connections waiting for Accept; more are closed
)

// ListenOptions shape how the probe takes connections. The zero value admits
// every dialer that shows any certificate.
type ListenOptions struct {
	ALPN                  []string           // nil: axon/1; empty but not nil: none
	Certificate           *tls.Certificate   // nil: the identity's own
	ClientAuth            tls.ClientAuthType // 0: tls.RequireAnyClientCert, unverified. To ask for none, set it in TLS.
	ClientCAs             *x509.CertPool     // authorities to name to the dialer
	VerifyPeer            func(*x509.Certificate) error
	MaxIncomingStreams    int64 // bidirectional streams granted to the target at a time; 0: 1024, negative: none
	MaxIncomingUniStreams int64 // the same for unidirectional ones
	Config                func(*quic.Config)
	TLS                   func(*tls.Config) // may change anything at last
}

// HandshakeAttempt is what the listener saw of one dialer.
type HandshakeAttempt struct {
	Connection   int                 // its number in the trace
	Remote       string              // the dialer's address
	ServerName   string              // "": none was sent
	ALPN         []string            // tokens offered, most wanted first
	Certificates []*x509.Certificate // what the dialer showed; nil: none, or it did not come to that
	Completed    bool                // the handshake ended well
	Ended        bool                // the connection, or the attempt at one, is over
	Err          error               // why it did not complete, once Ended
}

// Listener takes connections. There is one at a time for an Endpoint.
type Listener struct {
	endpoint *Endpoint
	quic     *quic.Listener
	pump     sync.WaitGroup

	mu       sync.Mutex // guards what follows
	changed  signal
	attempts []*attempt
	waiting  []*Conn
	closed   bool
}

// attempt is a HandshakeAttempt in the making; its listener's mu guards it.
type attempt struct {
	HandshakeAttempt
	listener *Listener
	watch    *observer
}

type attemptKey struct{}

func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// attemptContext is called by quic-go when a dialer's first packet comes.
func (e *Endpoint) attemptContext(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
	number := e.nextNumber()
	e.mu.Lock()
	l := e.listener
	e.mu.Unlock()
	if l == nil {
		return ctx, nil
	}
	a := &attempt{listener: l, watch: newObserver(number, e.log, e.socket)}
	a.Connection, a.Remote = number, info.RemoteAddr.String()
	e.log.Add(trace.Event{Connection: number, Stream: trace.ConnectionLevel, Direction: trace.Received, Kind: trace.Dial, Text: a.Remote})
	l.mu.Lock()
	if len(l.attempts) < maxAttempts {
		l.attempts = append(l.attempts, a)
	}
	l.mu.Unlock()
	if !e.start(func() { <-ctx.Done(); a.ended(context.Cause(ctx)) }) {
		return nil, ErrClosed
	}
	return context.WithValue(ctx, attemptKey{}, a), nil
}

// update changes an attempt and wakes those who wait for one.
func (a *attempt) update(change func(*HandshakeAttempt)) {
	a.listener.mu.Lock()
	change(&a.HandshakeAttempt)
	a.listener.changed.broadcast()
	a.listener.mu.Unlock()
}

func (a *attempt) ended(cause error) {
	failed := false
	a.update(func(h *HandshakeAttempt) {
		h.Ended = true
		if failed = !h.Completed; failed {
			h.Err = cause
		}
	})
	if failed {
		a.watch.log.Add(trace.Event{Connection: a.Connection, Stream: trace.ConnectionLevel, Direction: trace.Local,
			Kind: trace.Handshake, Text: "failed: " + closingOf(cause).String()})
	}
}

// Listen begins to take connections on the endpoint's socket.
func (e *Endpoint) Listen(o ListenOptions) (*Listener, error) {
	l := &Listener{endpoint: e}
	tlsConfig := e.listenTLS(o)
	if o.TLS != nil {
		o.TLS(tlsConfig)
	}
	config := e.quicConfig(o.MaxIncomingStreams, o.MaxIncomingUniStreams, o.Config, func(ctx context.Context) *observer {
		if a := attemptOf(ctx); a != nil {
			return a.watch
		}
		return nil
	})

	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fmt.Errorf("listen: %w", ErrClosed)
	}
	if e.listener != nil {
		return nil, errors.New("listen: this endpoint listens already; close that listener or make another endpoint")
	}
	q, err := e.transport.Listen(tlsConfig, config)
	if err != nil {
		return nil, fmt.Errorf("listen: %w; check the options", err)
	}
	l.quic = q
	e.listener = l
	l.pump.Go(l.run)
	return l, nil
}

func (e *Endpoint) listenTLS(o ListenOptions) *tls.Config {
	own := e.ownCert
	if o.Certificate != nil {
		own = *o.Certificate
	}
	protocols := o.ALPN
	if protocols == nil {
		protocols = []string{Protocol}
	}
	if o.ClientAuth == tls.NoClientCert {
		o.ClientAuth = tls.RequireAnyClientCert
	}
	base := &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{own},
		NextProtos:             protocols,
		ClientAuth:             o.ClientAuth,
		ClientCAs:              o.ClientCAs,
		SessionTicketsDisabled: true,
		KeyLogWriter:           e.keyLog,
	}
	// The hello's context leads to the attempt that it belongs to; the later
	// hooks have no context and get their attempt through a copy made for it.
	base.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		a := attemptOf(hello.Context())
		if a != nil {
			a.update(func(h *HandshakeAttempt) {
				h.ServerName = hello.ServerName
				h.ALPN = slices.Clone(hello.SupportedProtos)
			})
		}
		mine := base.Clone()
		mine.GetConfigForClient = nil
		earlier := mine.VerifyConnection // set by ListenOptions.TLS
		mine.VerifyConnection = func(state tls.ConnectionState) error {
			if a != nil {
				a.update(func(h *HandshakeAttempt) { h.Certificates = state.PeerCertificates })
			}
			if o.VerifyPeer != nil && len(state.PeerCertificates) > 0 {
				if err := o.VerifyPeer(state.PeerCertificates[0]); err != nil {
					return err
				}
			}
			if earlier != nil {
				return earlier(state)
			}
			return nil
		}
		return mine, nil
	}
	return base
}

// run takes connections from quic-go at once, so that their streams are read
// and timed whether or not Accept has been called.
func (l *Listener) run() {
	for {
		q, err := l.quic.Accept(context.Background())
		if err != nil { // the listener or the transport was closed
			l.mu.Lock()
			l.closed = true
			l.changed.broadcast()
			l.mu.Unlock()
			return
		}
		a := attemptOf(q.Context())
		if a == nil { // began before this listener
			_ = q.CloseWithError(0, "")
			continue
		}
		c := newConn(l.endpoint, q, a.watch)
		l.endpoint.log.Add(trace.Event{Connection: c.Number(), Stream: trace.ConnectionLevel, Direction: trace.Local,
			Kind: trace.Handshake, Text: "completed: " + describe(c.State())})
		if !c.run() {
			continue
		}
		a.update(func(h *HandshakeAttempt) { h.Completed, h.Err = true, nil })
		l.mu.Lock()
		full := len(l.waiting) >= maxWaiting
		if !full {
			l.waiting = append(l.waiting, c)
			l.changed.broadcast()
		}
		l.mu.Unlock()
		if full {
			_ = c.Close(0, "too many connections wait for the probe")
		}
	}
}

// Accept returns the next connection whose handshake is complete, in order. It
// fails with ErrClosed once the listener is closed, or with ctx's error.
func (l *Listener) Accept(ctx context.Context) (*Conn, error) {
	var c *Conn
	err := await(ctx, &l.mu, &l.changed, func() bool {
		if len(l.waiting) > 0 {
			c, l.waiting = l.waiting[0], l.waiting[1:]
		}
		return c != nil || l.closed
	})
	if err != nil {
		return nil, fmt.Errorf("accept: no connection came: %w", err)
	}
	if c == nil {
		return nil, fmt.Errorf("accept: %w", ErrClosed)
	}
	return c, nil
}

// Attempts returns what was seen of every dialer so far, in order.
func (l *Listener) Attempts() []HandshakeAttempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list()
}

func (l *Listener) list() []HandshakeAttempt {
	list := make([]HandshakeAttempt, len(l.attempts))
	for i, a := range l.attempts {
		list[i] = a.HandshakeAttempt
	}
	return list
}

// AwaitAttempts waits until ok holds for the attempts so far, and returns them.
func (l *Listener) AwaitAttempts(ctx context.Context, ok func([]HandshakeAttempt) bool) ([]HandshakeAttempt, error) {
	var list []HandshakeAttempt
	err := await(ctx, &l.mu, &l.changed, func() bool {
		list = l.list()
		return ok(list)
	})
	return list, err
}

// Close stops taking connections. Those that were taken stay open and belong to
// the endpoint; handshakes under way are refused.
func (l *Listener) Close() error {
	err := l.quic.Close()
	l.pump.Wait()
	l.endpoint.mu.Lock()
	if l.endpoint.listener == l {
		l.endpoint.listener = nil
	}
	l.endpoint.mu.Unlock()
	return err
}
