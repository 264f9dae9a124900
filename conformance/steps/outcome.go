package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`it is accepted`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.accepted(ctx)
	})
	define(`it is not accepted`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.notAccepted(ctx)
	}).bars()
	define(`the connection survives`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.survives(ctx)
	})
	define(`nothing answers (?:it|them)`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.unanswered(ctx)
	}).bars()
	define(`that stream is still unanswered`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		if r := s.last.read(); len(r.data) > 0 {
			return fail(s.last, "nothing is answered before the FIN", "the stream already carried %s", r.describe())
		}
		return nil
	})
	define(`it is treated as any other request`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.treatedAsUsual(ctx, s.last)
	})
	define(`it is answered`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		if s.isAbout(aboutAnswers) {
			_, err := s.answer(ctx, s.last)
			return err
		}
		_, err := s.toJudge(ctx, s.last)
		return err
	})
	define(`its own stream carries exactly one reply, a response or an error`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.exactlyOne(ctx, s.last)
	})
	define(`the stream carries at most one reply`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		x := s.last
		if err := s.settleStream(ctx); err != nil {
			return err
		}
		if r := x.read(); r.values > 1 {
			return fail(x, "at most one reply on a stream", "it carried %d JSON values", r.values)
		}
		return nil
	})
	define(`the reply's body is followed by FIN and by nothing else`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.cleanEnd(ctx, s.last)
	}).bars()
	define(`the reply is an error`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		r, err := s.answer(ctx, s.last)
		if err != nil {
			return err
		}
		if r.envelope.Kind != "error" {
			return fail(s.last, "an error", "the stream carried %s", r.describe())
		}
		return nil
	})
	define(`the reply's kind is response or error`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		r, err := s.something(ctx, s.last)
		if err != nil {
			return err
		}
		if !r.answered() {
			return fail(s.last, "a reply of kind response or error", "the stream carried %s", r.describe())
		}
		return nil
	})
	define(`the reply's ref is the request's id`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.refersTo(ctx, s.last)
	})
	define(`the reply's id is neither the request's nor one seen before`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		r, err := s.something(ctx, s.last)
		if err != nil {
			return err
		}
		if r.envelope.ID == "" || wire.SameUUID(r.envelope.ID, s.last.id) {
			return fail(s.last, "a reply with an id of its own", "its id is %q and the request's %q", r.envelope.ID, s.last.id)
		}
		for _, x := range s.exchanges {
			if x == s.last || !x.stream.Bidi() {
				continue
			}
			earlier, err := s.something(ctx, x)
			if err != nil {
				return err
			}
			if wire.SameUUID(earlier.envelope.ID, r.envelope.ID) {
				return fail(s.last, "a reply with an id of its own", "an earlier reply had the id %s too", r.envelope.ID)
			}
		}
		return nil
	}).bars()
	define(`the error's code is "([^"]*)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.payloadMember(ctx, "code", strQuote(a[0]))
	})
	define(`the error's message is the default one, with the request's id`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.defaultMessage(ctx)
	})
	define(`the error's retryable is the boolean false`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.payloadMember(ctx, "retryable", "false")
	})
	define(`the reply is the default error in every respect`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.defaultError(ctx)
	})
	define(`the target's reply is well formed in this respect`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.shapeOfReply(ctx)
	})
	define(`the error's payload has code, message and retryable of the right types`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		r, err := s.errorReply(ctx)
		if err != nil {
			return err
		}
		if problem := conventionProblem(r.envelope.Payload); problem != "" {
			return fail(s.last, "code and message as strings and retryable as a boolean", "%s", problem)
		}
		return nil
	})
	define(`the error's code is in snake_case`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		r, err := s.errorReply(ctx)
		if err != nil {
			return err
		}
		if code, ok := errorCode(r.envelope); ok && !snakeCase.MatchString(code) {
			return fail(s.last, "a code in snake_case", "the code is %q", code)
		}
		return nil
	})
	define(`the error's message explains`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		r, err := s.errorReply(ctx)
		if err != nil {
			return err
		}
		code, _ := errorCode(r.envelope)
		message, _ := r.envelope.Payload.Get("message")
		if message.Kind != wire.String {
			return &verdict.Inapplicable{Reason: "the error has no message that is a text, which is for AXON-ERRPAY-001 to judge"}
		}
		if !explains(message.String, code) {
			return fail(s.last, "a message that says what went wrong and what to try: several words, not the code again", "the message is %s", message.Raw)
		}
		return nil
	})
	define(`an error that comes back keeps to the custom`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.customaryError(ctx)
	})
	define(`it held for everything that the target sent in this run`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.heldOverRun()
	})
	define(`the target opened no stream with a response in this run`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		s.inspectOnce.Do(s.inspect)
		if f, evidence, _ := s.Target.Record.Verdict("AXON-KIND-003"); f != nil {
			s.Evidence, s.evidenceLog = evidence, s.Target.Record.qlogOf("AXON-KIND-003")
			return f
		}
		return nil
	})
	define(`if it is accepted, the reply's ref is the request's id`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		if err := s.settleStream(ctx); err != nil {
			return err
		}
		if !s.last.read().taken() {
			s.Observed = "it is not accepted"
			return nil
		}
		return s.refersTo(ctx, s.last)
	})
	define(`what the target did is noted`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.observe(ctx)
	})
}

// something waits until bytes that form a value are there, or the end.
func (s *Scenario) something(ctx context.Context, x *exchange) (reply, error) {
	r, err := x.await(ctx)
	if err != nil {
		return r, s.lose(x, "a reply on the request's own stream", "the stream carried %s after %s", r.describe(), s.Target.Ceiling)
	}
	if len(r.data) == 0 {
		if s.asUsual(r) && !s.isAbout(aboutAnswers) {
			return r, s.unanswering(r)
		}
		s.Lost = r.ended && r.ending.How == probe.ConnectionClosed
		return r, fail(x, "a reply on the request's own stream", "the stream carried %s", r.describe())
	}
	return r, nil
}

// toJudge is something for checks of what a reply is like. A stream that ends with
// none is for the sentences about replies to judge, and no case of this one.
func (s *Scenario) toJudge(ctx context.Context, x *exchange) (reply, error) {
	r, err := s.something(ctx, x)
	if err == nil || len(r.data) > 0 || !r.ended || s.isAbout(aboutAnswers) || slices.Contains(s.IDs, "AXON-FWD-001") {
		return r, err
	}
	if how := r.ending.How; how == probe.Finished || how == probe.WasReset {
		return r, &verdict.Inapplicable{Reason: "the target gave no reply that could be looked at: the stream carried " + r.describe()}
	}
	return r, err
}

// answer waits for a response or an error.
func (s *Scenario) answer(ctx context.Context, x *exchange) (reply, error) {
	r, err := s.something(ctx, x)
	if err == nil && !r.answered() && (!s.asUsual(r) || s.isAbout(aboutAnswers)) {
		err = fail(x, "a reply that is a response or an error", "the stream carried %s", r.describe())
	}
	return r, err
}

// exactlyOne waits for the stream's end and counts; what stands on other streams
// of the connection must not be a second answer.
func (s *Scenario) exactlyOne(ctx context.Context, x *exchange) error {
	if _, err := s.answer(ctx, x); err != nil {
		return err
	}
	r, err := s.over(ctx, x)
	if err != nil {
		return s.lose(x, "the stream ends after its reply", "the stream carried %s after %s", r.describe(), s.Target.Ceiling)
	}
	if r.values == 0 && !s.isAbout(aboutAnswers) && s.asUsual(r) {
		return s.unanswering(r)
	}
	if r.values != 1 && (r.values != s.Target.Usual.values || s.isAbout(aboutNumber)) {
		return fail(x, "exactly one reply", "the stream carried %d JSON values", r.values)
	}
	for _, in := range x.conn.Incoming() {
		got := &exchange{conn: x.conn, stream: in}
		if other := got.read(); other.names([]*exchange{x}) {
			return fail(got, "one reply, on the request's own stream", "the target also opened stream %d with %s", in.ID(), other.describe())
		}
	}
	return nil
}

// cleanEnd: the body, then FIN, and only white space after the object.
func (s *Scenario) cleanEnd(ctx context.Context, x *exchange) error {
	if _, err := s.toJudge(ctx, x); err != nil {
		return err
	}
	r, err := x.awaitEnd(ctx)
	if err != nil {
		return s.lose(x, "FIN after the reply's body", "the stream carried %s after %s", r.describe(), s.Target.Ceiling)
	}
	if r.ending.How != probe.Finished {
		return fail(x, "FIN after the reply's body", "the stream carried %s", r.describe())
	}
	if rest := strings.Trim(string(r.rest), " \t\r\n"); rest != "" {
		return fail(x, "nothing but JSON white space after the object", "%q follows it", shorten(rest))
	}
	return nil
}

func (s *Scenario) refersTo(ctx context.Context, x *exchange) error {
	r, err := s.something(ctx, x)
	if err != nil {
		return err
	}
	ref := r.envelope.Ref
	if (ref == nil || !wire.SameUUID(*ref, x.id)) && !s.isAbout(aboutRef) && s.refAlwaysWrong(ctx) {
		return nil
	}
	switch {
	case ref == nil && r.envelope.RefNull:
		return fail(x, "a ref equal to the request's id "+x.id, "the reply's ref is null")
	case ref == nil:
		return fail(x, "a ref equal to the request's id "+x.id, "the reply carries no ref that is a string")
	case !wire.SameUUID(*ref, x.id):
		return fail(x, "a ref equal to the request's id "+x.id, "the reply's ref is %q", *ref)
	}
	return nil
}

// errorReply is the last exchange's reply, which must be an error.
func (s *Scenario) errorReply(ctx context.Context) (reply, error) {
	r, err := s.toJudge(ctx, s.last)
	if err != nil {
		return r, err
	}
	if r.envelope.Kind != "error" {
		// Whether it must be one is for other sentences to say.
		return r, &verdict.Inapplicable{Reason: "the target answered by " + r.describe() + ", so there is no error payload to look at"}
	}
	return r, nil
}

// payloadMember: a member of the error's payload is the given JSON value.
func (s *Scenario) payloadMember(ctx context.Context, name, want string) error {
	r, err := s.answer(ctx, s.last)
	if err != nil {
		return err
	}
	return judgeMember(s.last, r, name, want)
}

func judgeMember(x *exchange, r reply, name, want string) error {
	if problem, ok := memberProblem(r, name, want); ok {
		return fail(x, fmt.Sprintf("a payload with %s %s", name, want), "%s", problem)
	}
	return nil
}

// memberProblem tells what is wrong with a member of a payload that must be there
// once and have a JSON value; not ok when nothing is.
func memberProblem(r reply, name, want string) (problem string, ok bool) {
	got, n := r.envelope.Payload.Get(name)
	if n != 1 {
		return fmt.Sprintf("it has %d members of that name", n), true
	}
	if expected, err := wire.Parse([]byte(want)); err != nil || !wire.Equal(got, expected) {
		return fmt.Sprintf("%s is %s", name, shorten(string(got.Raw))), true
	}
	return "", false
}

func (s *Scenario) defaultMessage(ctx context.Context) error {
	r, err := s.answer(ctx, s.last)
	if err != nil {
		return err
	}
	return judgeText(s.last, r)
}

func judgeText(x *exchange, r reply) error {
	if want, got, same := defaultText(x, r); !same {
		return fail(x, "the message "+strQuote(want), "it is %s", got)
	}
	return nil
}

// defaultText compares a reply's message with that of the default error.
func defaultText(x *exchange, r reply) (want, got string, same bool) {
	want = "no application handler registered for request '" + x.id + "'"
	message, n := r.envelope.Payload.Get("message")
	// The id is a UUID, so its letters may be of either case; the rest may not.
	either := strings.NewReplacer(strings.ToUpper(x.id), x.id, strings.ToLower(x.id), x.id)
	same = n == 1 && message.Kind == wire.String && either.Replace(message.String) == want
	return want, shorten(string(message.Raw)), same
}

// defaultError: every demand on the default error at once.
func (s *Scenario) defaultError(ctx context.Context) error {
	r, err := s.answer(ctx, s.last)
	if err != nil {
		return err
	}
	if r.envelope.Kind != "error" {
		return fail(s.last, "the default error", "the stream carried %s", r.describe())
	}
	if err := s.refersTo(ctx, s.last); err != nil {
		return err
	}
	if err := s.payloadMember(ctx, "code", `"unhandled"`); err != nil {
		return err
	}
	if err := s.defaultMessage(ctx); err != nil {
		return err
	}
	if err := s.payloadMember(ctx, "retryable", "false"); err != nil {
		return err
	}
	if r.envelope.ID == "" || wire.SameUUID(r.envelope.ID, s.last.id) {
		return fail(s.last, "a new id", "the reply's id is %q", r.envelope.ID)
	}
	return nil
}

// shapeOfReply holds the last reply against the sentence that the scenario is
// tagged with.
func (s *Scenario) shapeOfReply(ctx context.Context) error {
	if _, err := s.toJudge(ctx, s.last); err != nil {
		return err
	}
	r, err := s.over(ctx, s.last)
	if err != nil && r.values == 0 {
		return s.lose(s.last, "a whole reply", "the stream carried %s after %s", r.describe(), s.Target.Ceiling)
	}
	var broken []error
	for _, rule := range shape {
		for _, p := range r.problems {
			if envelopeRules[p.Code] == rule.id && slices.Contains(s.IDs, rule.id) {
				broken = append(broken, about(fail(s.last, rule.expected, "%s: %s", p.Code, p.Detail), rule.id))
				break
			}
		}
	}
	return together(broken)
}

// heldOverRun asks the Record about the scenario's sentences.
func (s *Scenario) heldOverRun() error {
	// What this scenario itself brought about counts too.
	s.inspectOnce.Do(s.inspect)
	total := 0
	for _, id := range s.IDs {
		f, evidence, looked := s.Target.Record.Verdict(id)
		if f != nil {
			f.Requirements = []string{id}
			s.Evidence, s.evidenceLog = evidence, s.Target.Record.qlogOf(id)
			return f
		}
		total += looked
	}
	if total == 0 {
		return &verdict.Inapplicable{Reason: "the target sent nothing in this run that this sentence speaks of"}
	}
	s.Observed = fmt.Sprintf("held each of the %d times that it was looked at", total)
	return nil
}

// observe says what became of the last stimulus; only a lost target is an error.
func (s *Scenario) observe(ctx context.Context) error {
	x := s.last
	err := s.survives(ctx)
	switch end := s.conn.End(); {
	case end != nil:
		s.Observed = "the connection ended: " + describeClosing(end)
		return nil
	case err != nil:
		return err
	case !x.stream.Bidi():
		opened := len(s.conn.Incoming()) - s.seen
		s.Observed = fmt.Sprintf("no answer is possible on the stream; the target opened %d streams; the connection survived", opened)
		return nil
	}
	s.Observed = "answered by " + x.read().describe() + "; the connection survived"
	return nil
}

func strQuote(text string) string { return `"` + text + `"` }

// shorten cuts a text for a report at a rune boundary.
func shorten(text string) string {
	const most = 160
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
