package probe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/trace"
)

// sender and receiver are the two sides of a quic-go stream.
type sender interface {
	WriteWithLimit(p []byte, limiter func(int) int) (int, error)
	Close() error
	CancelWrite(quic.StreamErrorCode)
	SetWriteDeadline(time.Time) error
	Context() context.Context
}

type receiver interface {
	Read([]byte) (int, error)
	CancelRead(quic.StreamErrorCode)
}

// Stream is one stream, opened by either side.
type Stream struct {
	conn    *Conn
	id      int64
	send    sender   // nil: the target's unidirectional stream
	recv    receiver // nil: our unidirectional stream
	ours    bool     // opened by the probe
	handled bool     // a handler was called; guarded by conn.mu

	writing sync.Mutex // held while writing or finishing

	mu      sync.Mutex // guards what follows
	changed signal
	data    []byte
	end     *Ending // of the reading side
	reset   *uint64 // our own Reset
}

// ErrNoSide says that a stream cannot be written or read by the probe at all.
var ErrNoSide = errors.New("the stream has no such side for the probe; use a bidirectional one")

// StreamError says why a stream, or the connection under it, cannot be used.
type StreamError struct {
	Stopped bool     // the target asked us to stop sending
	Code    uint64   // the code that it gave
	Closing *Closing // set when the whole connection has ended
	Err     error    // the cause
}

func (e *StreamError) Error() string {
	switch {
	case e.Closing != nil && e.Err != nil:
		return fmt.Sprintf("%v: the connection has ended (%s); dial again", e.Err, e.Closing)
	case e.Closing != nil:
		return fmt.Sprintf("the connection has ended (%s); dial again", e.Closing)
	case e.Stopped:
		return fmt.Sprintf("the target stopped the stream with code %d; open another stream", e.Code)
	}
	return fmt.Sprintf("%v; open another stream", e.Err)
}

func (e *StreamError) Unwrap() error { return e.Err }

// ID returns the QUIC stream id.
func (s *Stream) ID() int64 { return s.id }

// Bidi tells whether both sides may send.
func (s *Stream) Bidi() bool { return s.send != nil && s.recv != nil }

// Ours tells whether the probe opened the stream.
func (s *Stream) Ours() bool { return s.ours }

// Conn returns the stream's connection.
func (s *Stream) Conn() *Conn { return s.conn }

func (s *Stream) note(direction trace.Direction, kind trace.Kind, code uint64, text string) {
	s.conn.endpoint.log.Add(trace.Event{Connection: s.conn.Number(), Stream: s.id, Direction: direction, Kind: kind, Code: code, Text: text})
}

func (s *Stream) noteData(direction trace.Direction, b []byte) {
	s.conn.endpoint.log.Add(trace.Event{Connection: s.conn.Number(), Stream: s.id, Direction: direction, Kind: trace.Data, Data: b})
}

// Write sends all of b. It returns once b is on its way or buffered, at the
// latest when ctx ends. Other errors are *StreamError.
func (s *Stream) Write(ctx context.Context, b []byte) error { return s.write(ctx, b, nil) }

// WritePieces sends b in pieces of size bytes, each in a QUIC packet of its own
// (several, when it is larger than a packet holds).
//
// No clock is needed for that: with a limiter quic-go does not buffer, and the
// write returns only when the piece stands in a packet that is being closed. A
// piece that is lost on the way may be sent again together with others.
func (s *Stream) WritePieces(ctx context.Context, b []byte, size int) error {
	if size <= 0 {
		return fmt.Errorf("pieces of %d bytes: give a size of 1 or more", size)
	}
	unbuffered := func(most int) int { return most }
	for len(b) > 0 {
		piece := b[:min(size, len(b))]
		if err := s.write(ctx, piece, unbuffered); err != nil {
			return err
		}
		b = b[len(piece):]
	}
	return nil
}

func (s *Stream) write(ctx context.Context, b []byte, limiter func(int) int) error {
	if s.send == nil {
		return ErrNoSide
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.noteData(trace.Sent, b)
	n, err := s.writeUntil(ctx, b, limiter)
	if err == nil {
		return nil
	}
	s.note(trace.Local, trace.Note, 0, fmt.Sprintf("the write ended after %d of %d bytes: %v", n, len(b), err))
	return s.writeError(ctx, err)
}

// writeUntil writes and lets ctx interrupt it.
func (s *Stream) writeUntil(ctx context.Context, b []byte, limiter func(int) int) (int, error) {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		_ = s.send.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := s.send.WriteWithLimit(b, limiter)
	if !stop() {
		<-interrupted
		_ = s.send.SetWriteDeadline(time.Time{})
	}
	return n, err
}

func (s *Stream) writeError(ctx context.Context, err error) error {
	var stream *quic.StreamError
	switch {
	case errors.As(err, &stream) && stream.Remote:
		s.conn.watch.stopped(s.id, uint64(stream.ErrorCode))
		return &StreamError{Stopped: true, Code: uint64(stream.ErrorCode), Err: err}
	case errors.As(err, &stream), errors.Is(err, quic.ErrStreamClosed):
		return &StreamError{Err: err}
	case ctx.Err() != nil:
		return fmt.Errorf("write: the target gave no room to send: %w", context.Cause(ctx))
	}
	return &StreamError{Closing: s.conn.endOr(err), Err: err}
}

// Finish ends our side with a FIN. It waits for a write that is under way.
func (s *Stream) Finish() error {
	if s.send == nil {
		return ErrNoSide
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.send.Close(); err != nil {
		return &StreamError{Err: err}
	}
	if end := s.conn.End(); end != nil {
		return &StreamError{Closing: end}
	}
	s.note(trace.Sent, trace.Fin, 0, "")
	return nil
}

// Send writes b and then the FIN.
func (s *Stream) Send(ctx context.Context, b []byte) error {
	if err := s.Write(ctx, b); err != nil {
		return err
	}
	return s.Finish()
}

// Reset ends our side abruptly; what was not delivered yet may be lost.
func (s *Stream) Reset(code uint64) {
	if s.send == nil {
		return
	}
	s.mu.Lock()
	if s.reset == nil {
		s.reset = &code
	}
	s.mu.Unlock()
	s.note(trace.Sent, trace.Reset, code, "")
	s.send.CancelWrite(quic.StreamErrorCode(code))
}

// StopReading asks the target to stop sending on this stream. What it sent and
// the probe has not read is dropped.
func (s *Stream) StopReading(code uint64) {
	if s.recv == nil {
		return
	}
	s.note(trace.Sent, trace.StopSending, code, "")
	s.recv.CancelRead(quic.StreamErrorCode(code))
}

// StopCode tells whether the target asked us to stop sending, and with which code.
func (s *Stream) StopCode() (code uint64, stopped bool) { return s.conn.watch.stopCode(s.id) }
