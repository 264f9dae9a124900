package probe

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"sync"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/trace"
)

// maxIncoming is how many streams of the target one Conn keeps; later ones are
// read and handled all the same.
const maxIncoming = 4096

// Conn is one connection with the target.
type Conn struct {
	endpoint *Endpoint
	quic     *quic.Conn
	watch    *observer
	done     chan struct{} // closed once the end has been recorded

	background sync.WaitGroup // accept loops and readers

	mu       sync.Mutex // guards what follows
	changed  signal
	closing  bool // nothing new is started
	vanished bool
	over     bool // no more streams will come
	incoming []*Stream
	opened   int // all streams of the target, kept or not
	handle   func(*Stream)
}

func newConn(e *Endpoint, q *quic.Conn, watch *observer) *Conn {
	return &Conn{endpoint: e, quic: q, watch: watch, done: make(chan struct{})}
}

// run starts the connection's loops and registers it; on failure it is closed.
func (c *Conn) run() bool {
	uniDone := make(chan struct{})
	c.background.Go(func() {
		defer close(uniDone)
		for {
			q, err := c.quic.AcceptUniStream(context.Background())
			if err != nil {
				return
			}
			c.take(&Stream{conn: c, id: int64(q.StreamID()), recv: q})
		}
	})
	c.background.Go(func() {
		for {
			q, err := c.quic.AcceptStream(context.Background())
			if err != nil {
				break
			}
			c.take(&Stream{conn: c, id: int64(q.StreamID()), recv: q, send: q})
		}
		<-c.quic.Context().Done()
		<-uniDone
		c.ended()
	})
	if !c.endpoint.add(c) {
		_ = c.Close(0, "")
		return false
	}
	select {
	case <-c.done: // it ended before it was registered
		c.endpoint.remove(c)
	default:
	}
	return true
}

// start runs fn in a goroutine that Close waits for, unless Close has begun.
func (c *Conn) start(fn func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	c.background.Go(fn)
	return true
}

func (c *Conn) note(direction trace.Direction, kind trace.Kind, code uint64, text string) {
	c.endpoint.log.Add(trace.Event{Connection: c.watch.number, Stream: trace.ConnectionLevel, Direction: direction, Kind: kind, Code: code, Text: text})
}

func (c *Conn) ended() {
	end := c.End()
	direction := trace.Local
	switch {
	case end.Remote:
		direction = trace.Received
	case (end.Application || end.Transport) && !end.Vanished:
		direction = trace.Sent
	}
	c.note(direction, trace.Close, end.Code, end.String())
	c.endpoint.remove(c)
	c.mu.Lock()
	c.over = true
	c.changed.broadcast()
	c.mu.Unlock()
	close(c.done)
}

// Number returns the connection's number in the trace: 1, 2, … per endpoint, in
// the order in which attempts began; an attempt that failed has used its number.
func (c *Conn) Number() int { return c.watch.number }

// State returns what the TLS handshake settled.
func (c *Conn) State() tls.ConnectionState { return c.quic.ConnectionState().TLS }

// Stats returns packet counts and round trip times so far.
func (c *Conn) Stats() quic.ConnectionStats { return c.quic.ConnectionStats() }

// RemoteAddr returns the target's UDP address.
func (c *Conn) RemoteAddr() net.Addr { return c.quic.RemoteAddr() }

// PeerCertificate returns the target's own certificate; nil: it showed none.
func (c *Conn) PeerCertificate() *x509.Certificate {
	chain := c.State().PeerCertificates
	if len(chain) == 0 {
		return nil
	}
	return chain[0]
}

// PeerKey returns the Ed25519 key of the target's certificate; nil: it has none.
func (c *Conn) PeerKey() ed25519.PublicKey { return keyOf(c.State().PeerCertificates) }

// OpenBidi opens a bidirectional stream, waiting for the target to grant one if
// need be. The target learns of it with the first byte, the FIN or the reset.
func (c *Conn) OpenBidi(ctx context.Context) (*Stream, error) {
	q, err := c.quic.OpenStreamSync(ctx)
	if err != nil {
		return nil, c.openError("bidirectional", err)
	}
	s := &Stream{conn: c, id: int64(q.StreamID()), send: q, recv: q, ours: true}
	s.note(trace.Sent, trace.Open, 0, "bidirectional")
	if !c.start(s.read) {
		return nil, c.openError("bidirectional", ErrClosed)
	}
	return s, nil
}

// OpenUni opens a unidirectional stream, waiting for the target to grant one if
// need be.
func (c *Conn) OpenUni(ctx context.Context) (*Stream, error) {
	q, err := c.quic.OpenUniStreamSync(ctx)
	if err != nil {
		return nil, c.openError("unidirectional", err)
	}
	s := &Stream{conn: c, id: int64(q.StreamID()), send: q, ours: true}
	s.note(trace.Sent, trace.Open, 0, "unidirectional")
	return s, nil
}

func (c *Conn) openError(what string, err error) error {
	if endsConnection(err) {
		return &StreamError{Closing: c.endOr(err), Err: err}
	}
	return fmt.Errorf("open a %s stream: the target has granted none yet: %w", what, err)
}

// Done is closed when the connection has ended and its end is in the trace.
func (c *Conn) Done() <-chan struct{} { return c.done }

// End tells how the connection ended; nil while it is open.
func (c *Conn) End() *Closing {
	if c.quic.Context().Err() == nil {
		return nil
	}
	closing := closingOf(context.Cause(c.quic.Context()))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.vanished && !closing.Remote {
		return &Closing{Vanished: true}
	}
	return closing
}

// endOr returns the connection's end, or what err says of it when the end has
// not been noted yet.
func (c *Conn) endOr(err error) *Closing {
	if endsConnection(err) {
		// quic-go tells the streams first; whoever has seen a stream end so shall find
		// the connection ended.
		<-c.quic.Context().Done()
	}
	if end := c.End(); end != nil {
		return end
	}
	return closingOf(err)
}

// Refusal tells how the connection was closed with a code, by either side; nil
// while it is open and after an end of another kind. A target that refuses the
// probe's certificate shows it here shortly after Dial.
func (c *Conn) Refusal() *Refusal { return c.End().refusal() }

// Close closes the connection with an application code and a reason (at most
// about 1,000 bytes are ever sent), and waits for its readers; not for handlers,
// which may call it. What was written and not yet acknowledged is lost.
func (c *Conn) Close(code uint64, reason string) error {
	err := c.quic.CloseWithError(quic.ApplicationErrorCode(code), reason)
	c.finish()
	return err
}

// Vanish ends the connection without a word: the target gets no close frame and
// no answer to anything it still sends.
func (c *Conn) Vanish() {
	c.mu.Lock()
	if c.quic.Context().Err() == nil {
		c.vanished = true
	}
	c.mu.Unlock()
	c.watch.mute()
	_ = c.quic.CloseWithError(0, "")
	c.finish()
}

func (c *Conn) finish() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.background.Wait()
}
