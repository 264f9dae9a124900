package probe

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/trace"
)

const (
	maxKept    = 1 << 20 // bytes kept of one stream
	firstRead  = 1 << 10 // the reader's first buffer: most streams are one envelope
	furtherOne = 1 << 15 // its buffer once that has been filled
)

// How tells in which way a stream side ended.
type How string

// The ways to end. Those that need a hint: Abandoned is of our own doing,
// ConnectionClosed means that the side itself had not ended before.
const (
	Finished         How = "finished"          // by FIN
	WasReset         How = "reset"             // by the target, with a code
	Stopped          How = "stopped"           // our sending side, by the target's STOP_SENDING
	Abandoned        How = "abandoned"         // by our own StopReading or, for a sending side, Reset
	ConnectionClosed How = "connection-closed" // with the whole connection
	TooLong          How = "too-long"          // more than 1 MiB came; the rest is read and dropped
)

// Ending is how a stream side ended.
type Ending struct {
	How     How
	Data    []byte   // all that came before, at most 1 MiB
	Code    uint64   // of a reset, stop or StopReading
	Closing *Closing // set for ConnectionClosed
}

// read takes in the target's side to its end, so that nothing is missed and
// flow control credit is given back.
func (s *Stream) read() {
	buffer := make([]byte, firstRead)
	for {
		n, err := s.recv.Read(buffer)
		if n > 0 {
			s.received(buffer[:n])
		}
		if err != nil {
			s.readEnded(err)
			return
		}
		if n == len(buffer) && n < furtherOne {
			buffer = make([]byte, furtherOne)
		}
	}
}

func (s *Stream) received(b []byte) {
	s.noteData(trace.Received, b)
	s.mu.Lock()
	defer s.mu.Unlock()
	room := maxKept - len(s.data)
	s.data = append(s.data, b[:min(len(b), room)]...)
	if len(b) > room && s.end == nil {
		s.end = &Ending{How: TooLong}
	}
	s.changed.broadcast()
}

func (s *Stream) readEnded(err error) {
	end := &Ending{}
	var stream *quic.StreamError
	switch {
	case errors.Is(err, io.EOF):
		end.How = Finished
		s.note(trace.Received, trace.Fin, 0, "")
	case errors.As(err, &stream) && stream.Remote:
		end.How, end.Code = WasReset, uint64(stream.ErrorCode)
		s.note(trace.Received, trace.Reset, end.Code, "")
	case errors.As(err, &stream):
		end.How, end.Code = Abandoned, uint64(stream.ErrorCode)
	default: // the connection's own end stands in the trace
		end.How, end.Closing = ConnectionClosed, s.conn.endOr(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end = end
	}
	s.changed.broadcast()
}

// Wait waits for the end of the reading side. When ctx ends first, it returns
// ctx's error, with the data so far in the Ending. A stream that only the probe
// may send on has no reading side: Wait then waits for the end of the sending
// side (Finished as soon as Finish was called, unless the target stopped it).
func (s *Stream) Wait(ctx context.Context) (Ending, error) {
	if s.recv == nil {
		select {
		case <-s.send.Context().Done():
			return s.sendEnding(), nil
		case <-ctx.Done():
			return Ending{}, fmt.Errorf("stream %d has not ended: %w", s.id, context.Cause(ctx))
		}
	}
	err := await(ctx, &s.mu, &s.changed, func() bool { return s.end != nil })
	if err != nil {
		return Ending{Data: s.Received()}, fmt.Errorf("stream %d has not ended: %w", s.id, err)
	}
	end, _ := s.Ended()
	return end, nil
}

// Ended is Wait without waiting; false when the side has not ended.
func (s *Stream) Ended() (Ending, bool) {
	if s.recv == nil {
		if s.send.Context().Err() == nil {
			return Ending{}, false
		}
		return s.sendEnding(), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		return Ending{}, false
	}
	end := *s.end
	end.Data = append([]byte(nil), s.data...)
	return end, true
}

// sendEnding tells how our sending side, which has ended, did so.
func (s *Stream) sendEnding() Ending {
	if code, ok := s.StopCode(); ok {
		return Ending{How: Stopped, Code: code}
	}
	s.mu.Lock()
	reset := s.reset
	s.mu.Unlock()
	cause := context.Cause(s.send.Context())
	var stream *quic.StreamError
	switch {
	case reset != nil:
		return Ending{How: Abandoned, Code: *reset}
	case errors.As(cause, &stream) && stream.Remote:
		s.conn.watch.stopped(s.id, uint64(stream.ErrorCode))
		return Ending{How: Stopped, Code: uint64(stream.ErrorCode)}
	case errors.Is(cause, quic.ErrStreamClosed):
		return Ending{How: Finished}
	}
	return Ending{How: ConnectionClosed, Closing: s.conn.endOr(cause)}
}

// Received returns a copy of what has come so far.
func (s *Stream) Received() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]byte(nil), s.data...)
}

// AwaitBytes waits until at least n bytes have come or the side has ended, and
// returns what there is. The error is ctx's.
func (s *Stream) AwaitBytes(ctx context.Context, n int) ([]byte, error) {
	if s.recv == nil {
		return nil, ErrNoSide
	}
	err := await(ctx, &s.mu, &s.changed, func() bool { return len(s.data) >= n || s.end != nil })
	data := s.Received()
	if err != nil {
		return data, fmt.Errorf("stream %d: %d of %d bytes have come: %w", s.id, len(data), n, err)
	}
	return data, nil
}
