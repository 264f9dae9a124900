package transport

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/identity"
)

// conn is an authenticated connection. It is served the same way whoever
// dialled it, and however many a peer has.
type conn struct {
	e       *Endpoint
	qc      *quic.Conn
	peer    identity.AgentID
	dialled bool // by us
	since   time.Time

	streams counter // all streams under way, of both sides
	serving counter // requests past their FIN that are not yet answered, both ways
	unsent  backlog // large replies that are being written
	// lastHeard is when the peer last showed that it still has the connection,
	// in Unix nanoseconds.
	lastHeard atomic.Int64
	// lastReply is when a reply was last handed to QUIC, in Unix nanoseconds.
	lastReply atomic.Int64
}

// serve runs until the connection is gone or the endpoint drains; it owns the
// loop for unidirectional streams.
func (c *conn) serve() {
	c.e.wg.Go(c.acceptUni)
	c.acceptBidi()
	<-c.qc.Context().Done()
	c.e.forget(c)
}

func (c *conn) acceptBidi() {
	for {
		s, err := c.qc.AcceptStream(c.e.accepting)
		if err != nil {
			return
		}
		c.streams.add()
		c.e.wg.Go(func() {
			defer c.streams.done()
			c.serveBidi(s)
		})
	}
}

func (c *conn) acceptUni() {
	for {
		s, err := c.qc.AcceptUniStream(c.e.accepting)
		if err != nil {
			return
		}
		c.streams.add()
		c.e.wg.Go(func() {
			defer c.streams.done()
			c.serveUni(s)
		})
	}
}

func (c *conn) serveBidi(s *quic.Stream) {
	b := bufferPool.Get().(*buffers)
	defer b.release()
	body, free, err := c.receive(s, b)
	defer free()
	if err != nil {
		code := abortCode(err)
		s.CancelRead(code)
		s.CancelWrite(code)
		c.noteAbort(err)
		return
	}

	c.serving.add()
	defer c.serving.done()
	if err := c.unsent.wait(s.Context()); err != nil || c.e.draining.Load() {
		s.CancelWrite(codeNone)
		return
	}
	reply, ok := c.e.o.Handler.Bidi(s.Context(), c.peer, body, b.out[:0])
	if !ok {
		s.CancelWrite(codeMalformed)
		return
	}
	if len(reply) > smallBuffer {
		c.unsent.add()
		defer c.unsent.done()
	}
	_ = s.SetWriteDeadline(time.Now().Add(c.e.o.StreamTimeout))
	if _, err := s.Write(reply); err != nil {
		// The peer took its interest back, or gives no credit.
		s.CancelWrite(codeLate)
		return
	}
	_ = s.Close()
	c.lastReply.Store(time.Now().UnixNano())
}

func (c *conn) serveUni(s *quic.ReceiveStream) {
	b := bufferPool.Get().(*buffers)
	defer b.release()
	body, free, err := c.receive(s, b)
	defer free()
	if err != nil {
		s.CancelRead(abortCode(err))
		c.noteAbort(err)
		return
	}
	c.e.o.Handler.Uni(c.peer, body)
}

// noteAbort logs what the peer did; the end of the connection is no news here.
func (c *conn) noteAbort(err error) {
	why := ""
	switch {
	case errors.Is(err, errBodyTooLarge):
		why = "aborted a stream over the size limit"
	case errors.Is(err, errBodyLate):
		why = "aborted a stream that did not reach its end in time"
	case errors.Is(err, errBodyReset):
		why = "dropped a stream that the peer reset"
	default:
		return
	}
	c.e.rare.Note(slog.LevelInfo, why, slog.String("peer", string(c.peer)))
}

// quiet is how long a connection may have been silent to be trusted without a
// sign of life: the peer may have been killed, and the idle time-out is long. It is
// about what a restart takes.
const quiet = 500 * time.Millisecond

// heard takes a sign of life.
func (c *conn) heard() { c.lastHeard.Store(time.Now().UnixNano()) }

// lively tells whether the peer was heard just now.
func (c *conn) lively() bool { return time.Since(time.Unix(0, c.lastHeard.Load())) < quiet }

// confirm waits until the peer has acknowledged something since received packets had
// come, or is known to have lost the connection; a second at most, since an answer is
// not owed.
func (c *conn) confirm(ctx context.Context, received uint64) error {
	limit := time.NewTimer(time.Second)
	defer limit.Stop()
	for pause := 100 * time.Microsecond; c.qc.ConnectionStats().PacketsReceived == received; pause = min(2*pause, 50*time.Millisecond) {
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-c.qc.Context().Done():
			t.Stop()
			return context.Cause(c.qc.Context())
		case <-limit.C:
			t.Stop()
			return nil
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
	}
	c.heard()
	return nil
}

func (c *conn) close(reason string) { _ = c.qc.CloseWithError(codeClosed, reason) }

const (
	// flushLeast is how long nothing more must have been sent before a connection is
	// closed on which a reply was written in the last flushMost. It is twice a probe
	// time-out of a fast path, max_ack_delay included (RFC 9002, section 6.2.1).
	flushLeast = 60 * time.Millisecond
	flushMost  = time.Second
	flushStep  = 5 * time.Millisecond
)

// waitFlush keeps the connection until the last reply has most likely arrived:
// closing throws away what is on its way. quic-go does not tell what was
// acknowledged, but it sends again what was not, after a time-out that doubles; so
// all has arrived when nothing was sent for longer than that.
func (c *conn) waitFlush(ctx context.Context) {
	begun := time.Now()
	if begun.Sub(time.Unix(0, c.lastReply.Load())) > flushMost {
		return
	}
	tick := time.NewTicker(flushStep)
	defer tick.Stop()
	stats := c.qc.ConnectionStats()
	sent, last, interval := stats.PacketsSent, begun, time.Duration(0)
	for now := begun; now.Sub(begun) < flushMost; {
		select {
		case now = <-tick.C:
		case <-ctx.Done():
			return
		case <-c.qc.Context().Done():
			return
		}
		stats = c.qc.ConnectionStats()
		if stats.PacketsSent != sent {
			sent, last, interval = stats.PacketsSent, now, max(interval, now.Sub(last))
		}
		timeout := stats.SmoothedRTT + 4*stats.MeanDeviation + flushLeast/2
		if now.Sub(last) >= max(flushLeast, 2*timeout, 3*interval) {
			return
		}
	}
}

// closeReason turns the end of a connection into a few words for the log.
func closeReason(qc *quic.Conn) string {
	cause := context.Cause(qc.Context())
	var app *quic.ApplicationError
	if errors.As(cause, &app) && app.ErrorMessage != "" {
		return app.ErrorMessage
	}
	if cause == nil {
		return ""
	}
	return cause.Error()
}
