package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// barriers is the number of good requests, one after another, that end a check of
// an absence: whatever a target would have done to the bytes before them it has
// had two round trips of its own time for.
const barriers = 2

// answered tells whether a stream holds an answer at all: a response or an error,
// whatever else may be wrong with it. Barriers ask for no more, so that one fault
// does not fail every check.
func (r reply) answered() bool {
	return r.values > 0 && (r.envelope.Kind == "response" || r.envelope.Kind == "error")
}

// taken tells whether the target took what was sent as valid: a response, or the
// default error.
func (r reply) taken() bool {
	if r.values == 0 {
		return false
	}
	// By the code alone: a wrong kind beside it is the business of other sentences.
	code, _ := r.envelope.Payload.Get("code")
	return r.envelope.Kind == "response" || code.String == "unhandled"
}

// good sends a plain request on a connection and waits for its answer.
func (s *Scenario) good(ctx context.Context, c *probe.Conn) (*exchange, error) {
	x, err := s.sendOn(ctx, c, true, plain("request", wire.NewID()))
	if err != nil {
		return x, err
	}
	r, err := x.await(ctx)
	if err != nil {
		return x, s.lose(x, "a good request is answered", "nothing came within %s", s.Target.Ceiling)
	}
	switch {
	case r.answered():
		return x, nil
	case s.asUsual(r) && s.Target.Usual.value:
		return x, nil
	case s.asUsual(r):
		return x, s.unanswering(r)
	}
	if r.ended && r.ending.How == probe.ConnectionClosed {
		s.Lost = true
	}
	return x, fail(x, "a good request is answered by a response or an error", "the stream carried %s", r.describe())
}

// survives is the barrier on the connection in question: it must still be there
// and serve.
func (s *Scenario) survives(ctx context.Context) error {
	if s.barred {
		return nil
	}
	last := s.last
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	for range barriers {
		if end := c.End(); end != nil {
			return s.lose(last, "the connection stays and answers the next request", "it ended: %s", describeClosing(end))
		}
		x, err := s.good(ctx, c)
		if err == nil {
			continue
		}
		if end := c.End(); end != nil {
			return s.lose(last, "the connection stays and answers the next request", "it ended: %s", describeClosing(end))
		}
		if _, blocked := errors.AsType[*verdict.Blocked](err); blocked {
			return err
		}
		if _, inapplicable := errors.AsType[*verdict.Inapplicable](err); inapplicable {
			return err
		}
		return fail(x, "the same connection answers a good request afterwards", "it did not: %s", actualOf(err))
	}
	s.last = last
	return nil
}

// settle is the barrier of a check that leaves the connection's fate open: on the
// same connection while it lives, and on a new one when the target closed it in
// so many words. A connection that goes silent is a failure.
func (s *Scenario) settle(ctx context.Context) error {
	last := s.last
	defer func() { s.last = last }()
	err := s.survives(ctx)
	if err == nil {
		return nil
	}
	end := s.conn.End()
	if end == nil || !end.Remote || end.IdleTimeout || end.StatelessReset {
		return err
	}
	s.Lost = false
	old, seen := s.conn, s.seen
	c, err := s.dial(ctx)
	if err != nil {
		return s.lose(last, "the target lives on", "it closed the connection (%s) and takes no new one", describeClosing(end))
	}
	_, err = s.good(ctx, c)
	s.conn, s.seen = old, seen
	return err
}

// settleStream is settle for a bidirectional stream.
func (s *Scenario) settleStream(ctx context.Context) error {
	if s.barred {
		return nil
	}
	x := s.last
	if err := s.settle(ctx); err != nil {
		return err
	}
	s.linger(ctx, x)
	return nil
}

// linger waits a little for the end of a stream after the barrier: a target that
// works on several streams at a time may be late with one. It costs nothing when
// the stream has ended, and this much with a target that leaves it open for good.
func (s *Scenario) linger(ctx context.Context, x *exchange) {
	ctx, cancel := context.WithTimeout(ctx, s.grace())
	defer cancel()
	_, _ = x.awaitEnd(ctx)
}

// grace is how long something that may be on its way is waited for.
func (s *Scenario) grace() time.Duration {
	return min(max(20*s.Target.Usual.took, 50*time.Millisecond), time.Second)
}

// accepted: the last exchange was taken as valid.
func (s *Scenario) accepted(ctx context.Context) error {
	x := s.last
	r, err := x.await(ctx)
	if err != nil {
		return s.lose(x, "it is answered by a response or the default error", "the stream carried %s after %s", r.describe(), s.Target.Ceiling)
	}
	switch {
	case r.taken(), s.asUsual(r) && s.Target.Usual.value:
		return nil
	case s.asUsual(r):
		return s.unanswering(r)
	}
	s.Lost = r.ended && r.ending.How == probe.ConnectionClosed
	return fail(x, "it is answered by a response or the default error", "the stream carried %s", r.describe())
}

// notAccepted: neither a response nor the default error came, and none has come
// when the target has answered good requests after it.
func (s *Scenario) notAccepted(ctx context.Context) error {
	x := s.last
	if !x.stream.Bidi() {
		return s.unanswered(ctx)
	}
	if err := s.settleStream(ctx); err != nil {
		return err
	}
	if r := x.read(); r.taken() {
		return fail(x, "it is not accepted: an error with another code, an empty finish, a reset or no answer", "the stream carried %s", r.describe())
	}
	return nil
}

// unanswered: since the last stimulus the target opened no stream on its
// connection. In the quiet state nothing else can have led to one; with a handler
// only an answer counts: a response, an error, or what names our id.
func (s *Scenario) unanswered(ctx context.Context) error {
	x := s.last
	// Twice, since nothing on the stream itself says that the target is done.
	for range 2 {
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	for _, in := range s.conn.Incoming()[min(s.seen, len(s.conn.Incoming())):] {
		got := &exchange{conn: s.conn, stream: in}
		r := s.arrived(ctx, got)
		if s.ownAccord(r) || x.malformed() && r.protocolError(in) {
			continue
		}
		return fail(got, "nothing answers what was sent on stream "+fmt.Sprint(x.stream.ID()),
			"the target opened stream %d with %s", in.ID(), r.describe())
	}
	return nil
}

// arrived reads a stream that the target opened, and waits a little for what it
// carries: a stream is known before its bytes are.
func (s *Scenario) arrived(ctx context.Context, x *exchange) reply {
	ctx, cancel := context.WithTimeout(ctx, s.grace())
	defer cancel()
	r, _ := x.await(ctx)
	return r
}

// ownAccord: the target sends this without having been asked, so it answers
// nothing: an application's message, or, from a target that also opens streams
// where nothing was ever sent (which is for AXON-STREAM-007 to judge), anything
// that does not refer to what was sent.
func (s *Scenario) ownAccord(r reply) bool {
	if r.names(s.exchanges) {
		return false
	}
	if r.values == 0 {
		// An application's message that is still coming.
		return s.Target.HasHandler && !r.ended
	}
	return s.Target.HasHandler && r.envelope.Kind == "message" || s.Target.Watch.chatty()
}

// protocolError: an unsolicited error on a unidirectional stream, which the text
// allows for what goes wrong on the level of the protocol.
func (r reply) protocolError(in *probe.Stream) bool {
	code, _ := errorCode(r.envelope)
	return !in.Bidi() && r.envelope.Kind == "error" && code != "unhandled"
}

// names tells whether an envelope refers to one of the exchanges.
func (r reply) names(exchanges []*exchange) bool {
	if r.envelope.Ref == nil {
		return false
	}
	for _, x := range exchanges {
		if x.id != "" && wire.SameUUID(x.id, *r.envelope.Ref) {
			return true
		}
	}
	return false
}

// actualOf is what was seen, without what was expected.
func actualOf(err error) string {
	if f, ok := err.(*verdict.Failure); ok {
		return f.Actual
	}
	return err.Error()
}
