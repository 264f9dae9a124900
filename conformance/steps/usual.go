package steps

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// Usual is how the target dealt with the first plain request of a run. What is
// wrong with every reply of a target is the business of the sentences about
// replies; a check of something else asks only whether what it did made a
// difference. The zero Usual excuses nothing.
type Usual struct {
	// form of what came on the stream: see formOf. Empty: nothing came in time.
	form string
	// value: what came is a JSON value.
	value bool
	// values is the number of JSON values.
	values int
	// ending of the stream; empty: it was left open.
	ending probe.How
	// took is the time until the reply was there.
	took time.Duration
}

// usualOf reads a finished exchange.
func usualOf(r reply) Usual {
	u := Usual{form: formOf(r), value: r.values > 0, values: r.values}
	if r.ended {
		u.ending = r.ending.How
	}
	return u
}

// formOf is what a reply is in the main: two with the same form differ only in
// ids and texts.
func formOf(r reply) string {
	switch {
	case r.values > 0:
		code, _ := r.envelope.Payload.Get("code")
		return fmt.Sprintf("%s of kind %q, payload %s, code %s", r.envelope.Whole.Kind, r.envelope.Kind, r.envelope.Payload.Kind, code.Raw)
	case len(r.data) > 0:
		return "bytes that are no JSON value"
	case r.ended && r.ending.How == probe.Finished:
		return "nothing but FIN"
	case r.ended && r.ending.How == probe.WasReset:
		return "a reset"
	}
	return ""
}

// asUsual tells whether a reply has the form of the usual one.
func (s *Scenario) asUsual(r reply) bool {
	form := formOf(r)
	return form != "" && form == s.Target.Usual.form
}

// sentences about whether and in which form a request is answered at all.
var aboutAnswers = []string{
	"AXON-KIND-002", "AXON-STREAM-004", "AXON-STREAM-006", "AXON-STREAM-008",
	"AXON-DEFERR-001", "AXON-DEFERR-008", "AXON-FWD-002",
}

// sentences about how the reply's stream ends, and about how much stands on it.
var (
	aboutEnding = []string{"AXON-STREAM-002"}
	aboutNumber = []string{"AXON-KIND-002", "AXON-STREAM-003"}
	aboutRef    = []string{"AXON-ENV-011", "AXON-DEFERR-002", "AXON-REF-005", "AXON-FWD-002"}
)

// isAbout tells whether the scenario checks one of some sentences.
func (s *Scenario) isAbout(ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(s.IDs, id) })
}

// unanswering is the error of a check that needs replies, of a target that gives
// none to a plain request either.
func (s *Scenario) unanswering(r reply) error {
	return blocked("the target does not answer a plain request either (it gives %s), so this cannot be told", s.Target.Usual.form)
}

// over waits until a stream has ended, unless the target leaves the streams of its
// replies open as a rule and the scenario is not about that.
func (s *Scenario) over(ctx context.Context, x *exchange) (reply, error) {
	if u := s.Target.Usual; u.value && u.ending == "" && !s.isAbout(aboutEnding) {
		return x.await(ctx)
	}
	return x.awaitEnd(ctx)
}

// endedWell tells whether a stream that is over ended by FIN, or else in the
// target's usual way, when the scenario is not about that.
func (s *Scenario) endedWell(r reply) bool {
	if r.ended && r.ending.How == probe.Finished {
		return true
	}
	u := s.Target.Usual
	if s.isAbout(aboutEnding) || !u.value || u.ending == probe.Finished {
		return false
	}
	return !r.ended && u.ending == "" || r.ended && r.ending.How == u.ending
}

// controls is the number of plain requests that show whether a wrong ref has to do
// with what was sent.
const controls = 3

// refAlwaysWrong asks whether replies to plain requests have a wrong ref too.
func (s *Scenario) refAlwaysWrong(ctx context.Context) bool {
	if s.handled {
		return false // the scenario's own handler would be asked
	}
	last, conn, seen := s.last, s.conn, s.seen
	defer func() { s.last, s.conn, s.seen = last, conn, seen }()
	if s.conn == nil || s.conn.End() != nil {
		if _, err := s.dial(ctx); err != nil {
			return false
		}
	}
	for range controls {
		x, err := s.good(ctx, s.conn)
		if err != nil {
			return false
		}
		if ref := x.read().envelope.Ref; ref == nil || !wire.SameUUID(*ref, x.id) {
			return true
		}
	}
	return false
}

// endingPatience is how long the preflight waits for the end of a stream on which
// a whole reply stands.
const endingPatience = time.Second

// treatedAsUsual: the reply is what a plain request gets. An application's answer
// may be anything.
func (s *Scenario) treatedAsUsual(ctx context.Context, x *exchange) error {
	r, err := s.something(ctx, x)
	if err != nil {
		return err
	}
	if u := s.Target.Usual; !s.Target.HasHandler && u.value && !s.asUsual(r) {
		return fail(x, "it is treated as any other request, which gets "+u.form, "it gets %s", formOf(r))
	}
	return nil
}

// customaryError: what came back, if it is an error of the target's own, has the
// shape, the code and the text that such errors have.
func (s *Scenario) customaryError(ctx context.Context) error {
	x := s.last
	if s.Target.HasHandler {
		return &verdict.Inapplicable{Reason: "the target's application may have made the error"}
	}
	if err := s.settleStream(ctx); err != nil {
		return err
	}
	r := x.read()
	if r.values == 0 || r.envelope.Kind != "error" {
		s.Observed = "no error came back: the stream carried " + r.describe()
		return nil
	}
	var broken []error
	code, isText := errorCode(r.envelope)
	if problem := conventionProblem(r.envelope.Payload); problem != "" {
		broken = append(broken, about(fail(x, "code and message as strings and retryable as a boolean", "%s", problem), "AXON-ERRPAY-001"))
	}
	if isText && !snakeCase.MatchString(code) {
		broken = append(broken, about(fail(x, "a code in snake_case", "the code is %q", code), "AXON-ERRPAY-002"))
	}
	message, _ := r.envelope.Payload.Get("message")
	if message.Kind == wire.String && !explains(message.String, code) {
		broken = append(broken, about(fail(x, "a message that says what went wrong and what to try", "the message is %s", message.Raw), "AXON-ERRPAY-004"))
	}
	return together(broken)
}
