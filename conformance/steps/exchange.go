package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// exchange is one stream that the probe opened, what went out on it, and what
// came back.
type exchange struct {
	conn   *probe.Conn
	stream *probe.Stream
	sent   []byte
	// id of the envelope sent; empty when it has none that can be told.
	id string
	// sender is the Agent ID of the probe that sent; empty means the suite's own.
	sender string
	// due: what was sent is a valid request, or one of an unknown kind, so a reply
	// must come and carry the id.
	due bool
	// fair: what was sent is an envelope that a target may accept.
	fair bool
	// fin: the body was finished, so that the target can know that it is whole.
	fin bool
	// writeErr: the target stopped the stream, or the connection broke, before all
	// was written.
	writeErr error
}

// largest is the size of the largest envelope that every target takes, in bytes.
const largest = 65536

// ordinary: what was sent is a plain request. What comes of others is for the
// checks that send them to judge.
func (x *exchange) ordinary() bool {
	return x.due && x.fin && bytes.Equal(x.sent, plain("request", x.id))
}

// malformed: what was sent is no envelope that a receiver has to take.
func (x *exchange) malformed() bool {
	_, problems := wire.Inspect(x.sent)
	for _, p := range problems {
		if p.Code != wire.KindUnknown && p.Code != wire.ExtraMember {
			return true
		}
	}
	return len(x.sent) > largest
}

// open begins an exchange on a stream of its own.
func (s *Scenario) open(ctx context.Context, bidi bool) (*exchange, error) {
	c, err := s.connection(ctx)
	if err != nil {
		return nil, err
	}
	return s.openOn(ctx, c, bidi)
}

func (s *Scenario) openOn(ctx context.Context, c *probe.Conn, bidi bool) (*exchange, error) {
	x := &exchange{conn: c}
	s.barred = false
	var err error
	if bidi {
		x.stream, err = c.OpenBidi(ctx)
	} else {
		x.stream, err = c.OpenUni(ctx)
	}
	if err != nil {
		if end := c.End(); end != nil {
			return x, s.lose(x, "the target takes a new stream", "the connection had ended: %s", describeClosing(end))
		}
		if n := s.unfinished(c, bidi); n > 0 {
			return x, &verdict.Inapplicable{Reason: fmt.Sprintf("the target grants %d streams of this type at a time, and this check needs one more", n)}
		}
		return x, s.lose(x, "the target grants credit for another stream", "it granted none within %s (%d streams were opened before)", s.Target.Ceiling, len(s.exchanges))
	}
	s.exchanges = append(s.exchanges, x)
	s.last = x
	return x, nil
}

// unfinished counts the streams of a connection and type that the scenario itself
// keeps open.
func (s *Scenario) unfinished(c *probe.Conn, bidi bool) int {
	n := 0
	for _, x := range s.exchanges {
		if x.conn != c || x.stream == nil || x.stream.Bidi() != bidi || x.fin {
			continue
		}
		if _, ended := x.stream.Ended(); !ended {
			n++
		}
	}
	return n
}

// note reads what is about to be sent, so that the answer can be judged.
func (x *exchange) note(body []byte) {
	x.sent = body
	env, problems := wire.Inspect(body)
	x.id = env.ID
	x.fair = true
	for _, p := range problems {
		switch p.Code {
		case wire.KindUnknown, wire.ExtraMember:
		default:
			x.fair = false
		}
	}
	x.due = x.fair && (x.stream == nil || x.stream.Bidi())
	if len(body) > largest {
		x.due = false // beyond what a target has to take
	}
	if env.Kind == "message" || env.Kind == "response" || env.Kind == "error" {
		x.due = false
	}
}

// send opens a stream and sends a whole body and its FIN. A target that stops the
// stream or closes the connection meanwhile has given an answer of its kind: it is
// kept in the exchange, for the Then steps.
func (s *Scenario) send(ctx context.Context, bidi bool, body []byte) (*exchange, error) {
	c, err := s.connection(ctx)
	if err != nil {
		return nil, err
	}
	s.seen = len(c.Incoming())
	return s.sendOn(ctx, c, bidi, body)
}

func (s *Scenario) sendOn(ctx context.Context, c *probe.Conn, bidi bool, body []byte) (*exchange, error) {
	x, err := s.openOn(ctx, c, bidi)
	if err != nil {
		return x, err
	}
	x.note(body)
	if x.fair {
		s.Target.Record.sent(x.id)
	}
	err = x.stream.Send(ctx, body)
	x.fin = err == nil
	return x, s.wrote(x, err)
}

// finish ends an exchange's own side by FIN.
func (s *Scenario) finish(x *exchange) error {
	err := x.stream.Finish()
	x.fin = err == nil
	return s.wrote(x, err)
}

// wrote sorts the errors of a write.
func (s *Scenario) wrote(x *exchange, err error) error {
	if err == nil {
		return nil
	}
	if timedOut(err) {
		return s.lose(x, "the target reads what is sent to it", "it took no more bytes within %s", s.Target.Ceiling)
	}
	var broken *probe.StreamError
	if errors.As(err, &broken) {
		x.writeErr = err
		return nil
	}
	return fmt.Errorf("write to stream %d: %w", x.stream.ID(), err)
}

// reply is what came back on a stream so far.
type reply struct {
	data []byte
	// ended: the target's side of the stream is over, in the way that ending says.
	ended  bool
	ending probe.Ending
	// values is the number of whole JSON values at the start of data, rest what
	// follows the first.
	values   int
	rest     []byte
	envelope wire.Envelope
	problems []wire.Problem
}

// read looks at a stream without waiting.
func (x *exchange) read() reply {
	var r reply
	if r.ending, r.ended = x.stream.Ended(); r.ended {
		r.data = r.ending.Data
	} else {
		r.data = x.stream.Received()
	}
	if len(r.data) == 0 {
		return r
	}
	r.envelope, r.problems = wire.Inspect(r.data)
	first, rest, err := wire.ParsePrefix(r.data)
	if err != nil {
		return r
	}
	r.rest = rest
	r.values = 1
	if r.problems != nil && first.Raw != nil {
		// With bytes behind it the first value is still worth a look.
		r.envelope, _ = wire.Inspect(first.Raw)
	}
	for r.values < 16 {
		_, next, err := wire.ParsePrefix(rest)
		if err != nil {
			break
		}
		r.values, rest = r.values+1, next
	}
	return r
}

// await waits until a whole JSON value is there or the stream's end.
func (x *exchange) await(ctx context.Context) (reply, error) {
	for {
		r := x.read()
		if r.ended || r.values > 0 {
			return r, nil
		}
		if _, err := x.stream.AwaitBytes(ctx, len(r.data)+1); err != nil {
			if r = x.read(); r.ended || r.values > 0 {
				return r, nil
			}
			return r, err
		}
	}
}

// awaitEnd waits for the end of the target's side.
func (x *exchange) awaitEnd(ctx context.Context) (reply, error) {
	_, err := x.stream.Wait(ctx)
	r := x.read()
	if r.ended {
		err = nil
	}
	return r, err
}

// describe says in a few words what came on a stream.
func (r reply) describe() string {
	var what string
	switch {
	case len(r.data) == 0:
		what = "no bytes"
	case r.values > 0 && r.envelope.Kind != "":
		what = fmt.Sprintf("a %q of %d bytes", r.envelope.Kind, len(r.data))
		if code, ok := errorCode(r.envelope); ok {
			what = fmt.Sprintf("an %q with code %q", r.envelope.Kind, code)
		}
	default:
		what = fmt.Sprintf("%d bytes that are no envelope", len(r.data))
	}
	switch {
	case !r.ended:
		return what + ", and the stream is still open"
	case r.ending.How == probe.Finished:
		return what + ", then FIN"
	case r.ending.How == probe.WasReset:
		return fmt.Sprintf("%s, then a reset with code %d", what, r.ending.Code)
	case r.ending.How == probe.ConnectionClosed:
		return what + ", then the connection ended: " + describeClosing(r.ending.Closing)
	}
	return fmt.Sprintf("%s, then the end %q", what, r.ending.How)
}

func describeClosing(c *probe.Closing) string {
	who := "by the probe"
	if c == nil {
		return "closed"
	}
	if c.Remote {
		who = "by the target"
	}
	switch {
	case c.IdleTimeout:
		return "it timed out"
	case c.StatelessReset:
		return "the target no longer knows it (stateless reset)"
	case c.TLSAlert:
		return fmt.Sprintf("TLS alert %d %s (0x%x) %s", c.Code-0x100, who, c.Code, c.Reason)
	case c.Application:
		return fmt.Sprintf("closed %s with application code %d %q", who, c.Code, c.Reason)
	}
	return fmt.Sprintf("closed %s with transport code 0x%x %q", who, c.Code, c.Reason)
}

// errorCode is payload.code of an error envelope, and whether it is a string.
func errorCode(e wire.Envelope) (string, bool) {
	if e.Kind != "error" || e.Payload.Kind != wire.Object {
		return "", false
	}
	code, n := e.Payload.Get("code")
	return code.String, n > 0 && code.Kind == wire.String
}
