package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlogwriter"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/trace"
)

// Protocol is the ALPN token of AXON.
const Protocol = "axon/1"

const (
	defaultStreams   = 1024
	defaultIdle      = 60 * time.Second
	defaultKeepAlive = 15 * time.Second
)

// ErrClosed says that the endpoint, listener or connection was closed by the probe.
var ErrClosed = errors.New("closed by the probe; make a new one")

// Options say who the probe is.
type Options struct {
	Identity credential.Identity // required
	Log      *trace.Log          // nil: nothing is recorded
	Listen   string              // UDP address of the socket; "": 127.0.0.1:0. Choose a wildcard for targets beyond loopback.
	QLog     *QLog               // nil: no qlog is kept
	KeyLog   io.Writer           // gets the TLS secrets of each connection, as NSS writes them; nil: they are kept by nobody
}

// Endpoint is one UDP socket from which the probe dials and on which it listens.
type Endpoint struct {
	identity  credential.Identity
	ownCert   tls.Certificate
	log       *trace.Log
	socket    *socket
	transport *quic.Transport
	qlog      *QLog
	keyLog    io.Writer

	handlers sync.WaitGroup // handlers of incoming streams, watchers of attempts

	mu       sync.Mutex // guards what follows
	closed   bool
	last     int // the newest connection's number
	conns    map[*Conn]struct{}
	listener *Listener
}

var quietBuffers sync.Once

// New opens the socket. Close the endpoint when done.
func New(o Options) (*Endpoint, error) {
	if o.Identity.IsZero() {
		return nil, errors.New("probe: Options.Identity has no key; make one with credential.New")
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	address, err := net.ResolveUDPAddr("udp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("probe: listen address %q: %w; write HOST:PORT", o.Listen, err)
	}
	certificate, err := o.Identity.Certificate(credential.CertOptions{})
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	// quic-go prints a warning about small UDP buffers through the standard
	// logger; they are large enough for a probe.
	quietBuffers.Do(func() {
		const name = "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"
		if _, set := os.LookupEnv(name); !set {
			_ = os.Setenv(name, "true")
		}
	})
	udp, err := net.ListenUDP("udp", address)
	if err != nil {
		return nil, fmt.Errorf("probe: %w; choose a free port of this machine, or port 0", err)
	}
	e := &Endpoint{
		identity: o.Identity,
		ownCert:  certificate,
		log:      o.Log,
		socket:   &socket{UDPConn: udp},
		qlog:     o.QLog,
		keyLog:   o.KeyLog,
		conns:    make(map[*Conn]struct{}),
	}
	e.transport = &quic.Transport{Conn: e.socket, ConnContext: e.attemptContext}
	return e, nil
}

// Addr returns the address of the UDP socket.
func (e *Endpoint) Addr() net.Addr { return e.socket.LocalAddr() }

// Identity returns who the probe is.
func (e *Endpoint) Identity() credential.Identity { return e.identity }

// Close closes all connections with code 0, then the listener and the socket,
// and waits for every goroutine, handlers included. Do not call it in a handler.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	e.closed = true
	conns := make([]*Conn, 0, len(e.conns))
	for c := range e.conns {
		conns = append(conns, c)
	}
	listener := e.listener
	e.mu.Unlock()

	for _, c := range conns {
		_ = c.Close(0, "")
	}
	if listener != nil {
		_ = listener.Close()
	}
	err := errors.Join(e.transport.Close(), ignoreClosed(e.socket.Close()))
	e.handlers.Wait()
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// start runs fn in a goroutine that Close waits for, unless the endpoint is closed.
func (e *Endpoint) start(fn func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.handlers.Go(fn)
	return true
}

func (e *Endpoint) nextNumber() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	return e.last
}

// add registers a connection; false when the endpoint is closed.
func (e *Endpoint) add(c *Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.conns[c] = struct{}{}
	return true
}

func (e *Endpoint) remove(c *Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.conns, c)
}

// quicConfig makes the configuration of one connection. watch returns the
// observer of the connection that a context belongs to.
func (e *Endpoint) quicConfig(streams, uniStreams int64, change func(*quic.Config), watch func(context.Context) *observer) *quic.Config {
	if streams == 0 {
		streams = defaultStreams
	}
	if uniStreams == 0 {
		uniStreams = defaultStreams
	}
	config := &quic.Config{
		Versions:              []quic.Version{quic.Version1},
		MaxIncomingStreams:    streams,
		MaxIncomingUniStreams: uniStreams,
		MaxIdleTimeout:        defaultIdle,
		KeepAlivePeriod:       defaultKeepAlive,
	}
	if change != nil {
		change(config)
	}
	theirs := config.Tracer
	config.Tracer = func(ctx context.Context, dialer bool, id quic.ConnectionID) qlogwriter.Trace {
		own := watch(ctx)
		var other qlogwriter.Trace
		if theirs != nil {
			other = theirs(ctx, dialer, id)
		} else if e.qlog != nil && own != nil {
			other = e.qlog.trace(own.number, dialer, id)
		}
		switch {
		case own == nil:
			return other
		case other == nil:
			return own
		}
		return both{own, other}
	}
	return config
}
