package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/wire"
)

// worker makes one exchange after the other.
type worker struct {
	round  *round
	conn   *quic.Conn
	body   *body
	buffer []byte
	tally  *tally
}

func (r *round) worker(number int, t *tally) *worker {
	w := &worker{round: r, conn: r.side.conns[number%len(r.side.conns)], tally: t}
	kind := "request"
	if r.row.Load.oneWay() {
		kind = "message"
	}
	if r.row.Load == Handshake {
		return w
	}
	w.body = newBody(fmt.Sprintf("%s%04x00000000", r.prefix[:prefixLength], number), kind, r.row.Size)
	if kind == "request" {
		w.buffer = make([]byte, 2048)
	}
	return w
}

// work goes on until the deadline, or until too much has failed.
func (w *worker) work(ctx context.Context, deadline time.Time) {
	failed := 0
	for ctx.Err() == nil {
		began := time.Now()
		if began.After(deadline) || w.round.budget != nil && w.round.budget.Add(-1) < 0 {
			return
		}
		if err := w.exchange(ctx); err != nil {
			w.tally.fail(err)
			if failed++; failed >= maxErrors || w.conn.Context().Err() != nil || errors.Is(err, errLocalGone) {
				return
			}
			continue
		}
		took := time.Since(began)
		if w.round.row.Load.oneWay() {
			took = 0
		}
		w.tally.record(took)
	}
}

func (w *worker) exchange(ctx context.Context) error {
	switch w.round.row.Load {
	case Handshake:
		conn, err := w.round.side.dial(ctx, 0)
		if err != nil {
			return fmt.Errorf("a handshake failed: %w", err)
		}
		_ = conn.CloseWithError(0, "measured")
		return nil
	case Message, Delivery:
		if w.round.inbox == nil {
			return w.message(ctx)
		}
		if err := w.round.inbox.enter(ctx); err != nil {
			return err
		}
		err := w.message(ctx)
		if err != nil {
			w.round.inbox.leave()
		}
		return err
	case Request, Handler:
	}
	// The bare side has no local program, and its answer is no envelope.
	if err := request(ctx, w.conn, w.body, w.buffer, w.round.row.Load == Handler && w.round.side.local != nil); err != nil {
		return fmt.Errorf("a request failed: %w", err)
	}
	return nil
}

// message sends one, as fast as streams are granted.
func (w *worker) message(ctx context.Context) error {
	s, err := w.conn.OpenUniStreamSync(ctx)
	if err == nil {
		_ = s.SetWriteDeadline(time.Now().Add(patience))
		_, err = s.Write(w.body.next())
		if err != nil {
			s.CancelWrite(0)
		} else {
			err = s.Close()
		}
	}
	if err != nil {
		return fmt.Errorf("a message failed: %w", err)
	}
	return nil
}

// errNotHandled says that something else than the local program answered.
var errNotHandled = errors.New("the answer is no response")

// request makes one exchange; the answer is read to its end. With handled it has to be
// a response, which the bare peer and a default error are not.
func request(ctx context.Context, conn *quic.Conn, body *body, buffer []byte, handled bool) error {
	s, err := conn.OpenStreamSync(ctx)
	if err != nil {
		return err
	}
	_ = s.SetDeadline(time.Now().Add(patience))
	if _, err := s.Write(body.next()); err != nil {
		s.CancelWrite(0)
		s.CancelRead(0)
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	n, kept := 0, 0
	for {
		// What does not fit is read over what was kept last.
		if kept == len(buffer) {
			kept = len(buffer) / 2
		}
		m, err := s.Read(buffer[kept:])
		n, kept = n+m, kept+m
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.CancelRead(0)
			return err
		}
	}
	switch {
	case n == 0:
		return errors.New("the stream ended without an answer")
	// Our own handler answers an empty payload, so the word, in quotes, is the kind.
	case handled && !bytes.Contains(buffer[:kept], []byte(`"response"`)):
		return fmt.Errorf("%w: %.200q", errNotHandled, buffer[:kept])
	}
	return nil
}

// body is an envelope of a size, with a new id each time.
type body struct {
	text  []byte
	id    []byte // the part of text that holds the id
	count uint32
}

func newBody(id, kind string, size int) *body {
	bare := wire.Outgoing{ID: id, Kind: kind, Payload: `{"t":""}`}.Bytes()
	text := wire.Outgoing{ID: id, Kind: kind, Payload: `{"t":"` + strings.Repeat("x", max(size-len(bare), 0)) + `"}`}.Bytes()
	at := strings.Index(string(text), id)
	return &body{text: text, id: text[at : at+len(id)]}
}

// next counts in the last eight digits of the id.
func (b *body) next() []byte {
	const digits = "0123456789abcdef"
	b.count++
	n := b.count
	for i := len(b.id) - 1; i >= len(b.id)-8; i-- {
		b.id[i] = digits[n&15]
		n >>= 4
	}
	return b.text
}
