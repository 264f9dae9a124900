package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

// Exchange sends a request body to a connected peer on a fresh stream and
// returns the body of the reply. ctx bounds the whole of it; when it ends the
// stream is given up. Errors about the peer wrap ErrPeer.
func (e *Endpoint) Exchange(ctx context.Context, peer identity.AgentID, body []byte) ([]byte, error) {
	c, err := e.ready(peer, body)
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w", peer, err)
	}
	c.streams.add()
	defer c.streams.done()
	c.serving.add()
	defer c.serving.done()
	reply, err := c.exchange(ctx, body)
	if restarted(err) {
		// So that the next one does not choose this connection again.
		<-c.qc.Context().Done()
	}
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w", peer, err)
	}
	c.heard()
	return reply, nil
}

func (c *conn) exchange(ctx context.Context, body []byte) ([]byte, error) {
	s, err := c.qc.OpenStreamSync(ctx)
	if err != nil {
		return nil, c.unfinished(failure(ctx, err))
	}
	stop := context.AfterFunc(ctx, func() {
		s.CancelWrite(codeNone)
		s.CancelRead(codeNone)
	})
	defer stop()
	finished := false
	reply, err := func() ([]byte, error) {
		// What the write fails with may not be the last word: a peer may have
		// answered without reading to the end.
		writeErr := c.write(ctx, s, body)
		finished = writeErr == nil
		if writeErr != nil && ctx.Err() != nil {
			return nil, writeErr
		}
		return readBody(s, &buffers{in: make([]byte, 0, smallBuffer)}, func() error { return nil })
	}()
	if err != nil {
		code := abortCode(err)
		s.CancelWrite(code)
		s.CancelRead(code)
		err = failure(ctx, err)
		if !finished {
			err = c.unfinished(err)
		}
		return nil, err
	}
	return reply, nil
}

// write sends a body and its end. On a connection that was silent the end waits for a
// sign of life: what has no end reaches no handler, so that it can be sent again should
// the peer turn out to have restarted.
func (c *conn) write(ctx context.Context, s io.WriteCloser, body []byte) error {
	if c.lively() {
		if _, err := s.Write(body); err != nil {
			return err
		}
		return s.Close()
	}
	before := c.qc.ConnectionStats()
	// In two packets, of which a peer acknowledges the second at once (RFC 9000, section
	// 13.2.2), and not after max_ack_delay.
	half := min(len(body)/2, 1<<10)
	if _, err := s.Write(body[:half]); err != nil {
		return err
	}
	for range 10 {
		if c.qc.ConnectionStats().PacketsSent > before.PacketsSent {
			break
		}
		time.Sleep(50 * time.Microsecond)
	}
	if _, err := s.Write(body[half:]); err != nil {
		return err
	}
	if err := c.confirm(ctx, before.PacketsReceived); err != nil {
		return err
	}
	return s.Close()
}

// unfinished marks an error with which a connection ended before the end of a body was
// sent.
func (c *conn) unfinished(err error) error {
	if c.qc.Context().Err() == nil {
		return err
	}
	return fmt.Errorf("%w: %w", errUnfinished, err)
}

// errUnfinished marks what the peer's handler cannot have seen.
var errUnfinished = errors.New("the connection was lost")

// Undelivered reports that what was to be sent has reached no handler, because there
// was no connection, or none any more: it can be sent again on another one.
func Undelivered(err error) bool {
	return errors.Is(err, ErrNotConnected) || errors.Is(err, errUnfinished)
}

// failure tells the end of ctx from a fault of the peer.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return explain(err)
}

// Send puts a body on a fresh unidirectional stream to a connected peer. It
// returns when the body is handed to QUIC, which does not mean that it arrived;
// on a connection that was silent it first waits for a sign of life.
// Errors about the peer wrap ErrPeer.
func (e *Endpoint) Send(ctx context.Context, peer identity.AgentID, body []byte) error {
	c, err := e.ready(peer, body)
	if err != nil {
		return fmt.Errorf("send to %s: %w", peer, err)
	}
	c.streams.add()
	defer c.streams.done()
	if err := c.send(ctx, body); err != nil {
		return fmt.Errorf("send to %s: %w", peer, err)
	}
	c.lastReply.Store(time.Now().UnixNano())
	return nil
}

func (c *conn) send(ctx context.Context, body []byte) error {
	s, err := c.qc.OpenUniStreamSync(ctx)
	if err != nil {
		return c.unfinished(failure(ctx, err))
	}
	stop := context.AfterFunc(ctx, func() { s.CancelWrite(codeNone) })
	err = c.write(ctx, s, body)
	if !stop() && err != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.CancelWrite(codeNone)
		return c.unfinished(explain(err))
	}
	return nil
}

func (e *Endpoint) ready(peer identity.AgentID, body []byte) (*conn, error) {
	if len(body) > envelope.MaxSize {
		return nil, ErrTooLarge
	}
	if e.draining.Load() {
		return nil, ErrClosed
	}
	if c := e.choose(peer); c != nil {
		return c, nil
	}
	return nil, ErrNotConnected
}

// explain says in words what became of a connection or stream, so that
// errors.Is(err, ErrPeer). What the peer itself wrote is quoted.
func explain(err error) error {
	var (
		handshake *quic.HandshakeTimeoutError
		idle      *quic.IdleTimeoutError
		restarted *quic.StatelessResetError
		app       *quic.ApplicationError
		tls       *quic.TransportError
		reset     *quic.StreamError
	)
	say := func(text string) error { return &peerError{text, err} }
	switch {
	case errors.As(err, &handshake):
		return say("there is no answer; check the address and that the daemon runs")
	case errors.As(err, &idle):
		return say("the connection timed out; try again")
	case errors.As(err, &restarted):
		return say("the peer has restarted; try again")
	case errors.As(err, &app) && app.Remote:
		return say(fmt.Sprintf("the peer closed the connection (%.200q); try again", app.ErrorMessage))
	case errors.As(err, &tls) && tls.Remote && tls.ErrorCode.IsCryptoError():
		return say(fmt.Sprintf("the peer refused the connection (%v); it must know this daemon's key: give its owner the token that `axon identity` prints", tls.ErrorCode))
	case errors.As(err, &tls) && tls.ErrorCode.IsCryptoError():
		return say(fmt.Sprintf("another daemon than the one meant answered, or none of AXON (%.200q); ask the peer's owner for its token", tls.ErrorMessage))
	case errors.As(err, &reset) && reset.Remote, errors.Is(err, errBodyReset):
		return say("the peer gave up the stream without an answer; ask its owner why")
	case errors.Is(err, errBodyTooLarge):
		return say(fmt.Sprintf("the peer's answer is larger than %d bytes; ask for less", envelope.MaxSize))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return say(err.Error())
}

// peerError is a fault of a peer, or on the way to it.
type peerError struct {
	text  string
	cause error
}

func (e *peerError) Error() string        { return e.text }
func (e *peerError) Unwrap() error        { return e.cause }
func (e *peerError) Is(target error) bool { return target == ErrPeer }

// restarted reports that the peer has lost the connection's state.
func restarted(err error) bool {
	return errors.As(err, new(*quic.StatelessResetError))
}
