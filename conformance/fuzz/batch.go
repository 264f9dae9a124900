package fuzz

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/verdict"
)

// suspicion is something about a batch that does not look right yet.
type suspicion struct {
	// at is the place of the input that it is about, -1: it may be any up to the last.
	at    int
	claim Claim
	why   string
	saw   string
}

// outcome of a batch.
type outcome struct {
	suspicions []suspicion
	// lost: the connection did not live through the batch; closed: the target ended it
	// in so many words.
	lost, closed bool
	// sent is how many of the inputs could be sent.
	sent int
}

// try sends a batch and looks into what does not look right.
func (f *fuzzer) try(ctx context.Context, batch []Input) error {
	if f.apart {
		return f.tryApart(ctx, batch)
	}
	o, err := f.play(ctx, batch)
	if err != nil {
		return err
	}
	if o.sent < len(batch) && !o.lost {
		// The target keeps streams that it refused; smaller batches go through.
		f.size = max(1, o.sent)
		if err := f.look(ctx, batch[:o.sent], o.suspicions); err != nil {
			return err
		}
		return f.try(ctx, batch[max(1, o.sent):])
	}
	if o.lost && o.closed && slices.ContainsFunc(batch, f.mayClose) {
		return f.tryApart(ctx, batch)
	}
	return f.look(ctx, batch, o.suspicions)
}

// mayClose: the text allows the target to end the connection on an input.
func (f *fuzzer) mayClose(in Input) bool { return !f.oracle.expect(in).stays }

// tryApart sends what must not end the connection together, and the rest one by one.
func (f *fuzzer) tryApart(ctx context.Context, batch []Input) error {
	together := slices.DeleteFunc(slices.Clone(batch), f.mayClose)
	if len(together) > 0 {
		o, err := f.play(ctx, together)
		if err != nil {
			return err
		}
		if err := f.look(ctx, together[:o.sent], o.suspicions); err != nil {
			return err
		}
	}
	for _, in := range batch {
		if !f.mayClose(in) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o, err := f.play(ctx, []Input{in})
		if err != nil {
			return err
		}
		if o.lost && o.closed {
			f.apart = true
			o.suspicions = f.afterClose(in)
		}
		if err := f.look(ctx, []Input{in}, o.suspicions); err != nil {
			return err
		}
	}
	return nil
}

// closesSeen is how many inputs of a sort that ended their connections are played as a
// scenario, which knows what is allowed then.
const closesSeen = 5

// afterClose are the claims on an input that ended its connection, as is allowed; none
// when several of its sort have kept them.
func (f *fuzzer) afterClose(in Input) []suspicion {
	e := f.oracle.expect(in)
	if f.closes[e.why]++; f.closes[e.why] > closesSeen {
		return nil
	}
	if len(e.claims) == 0 || !in.Bidi {
		return []suspicion{{0, f.quiet(in, e), e.why, ""}}
	}
	return []suspicion{{0, e.claims[0], e.why, ""}}
}

// quiet is the claim that holds of every input: nothing answers it where nothing may,
// and the target serves on.
func (f *fuzzer) quiet(in Input, e expectation) Claim {
	if in.Bidi {
		return e.survival(in)
	}
	return Claim{nothingAnswers, e.about}
}

// play sends a batch on a connection of its own and judges it behind one barrier. Its
// error says that the target is gone.
func (f *fuzzer) play(ctx context.Context, batch []Input) (outcome, error) {
	s := f.scenario()
	defer s.Close()
	if err := f.connect(ctx, s); err != nil {
		return outcome{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*f.target.Ceiling)
	defer cancel()
	sent, o, err := f.send(ctx, s, batch)
	if err == nil {
		err = s.Bar(ctx)
	}
	if err == nil {
		o.suspicions, err = f.release(ctx, s, batch[:o.sent], sent)
	}
	if err != nil {
		o.lost = true
		how, closed := s.Ended()
		o.closed = closed
		last := batch[max(o.sent-1, 0)]
		o.suspicions = append(o.suspicions, suspicion{-1, f.oracle.expect(last).survival(last), "the connection ends", err.Error() + how})
		return o, nil
	}
	o.suspicions = append(o.suspicions, f.judge(ctx, s, batch[:o.sent], sent)...)
	return o, nil
}

// connect dials, and sees that a new connection is served.
func (f *fuzzer) connect(ctx context.Context, s *steps.Scenario) error {
	dial, cancel := context.WithTimeout(ctx, f.target.Ceiling)
	defer cancel()
	err := s.Connect(dial)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}

// send writes all that is sent before the barrier.
func (f *fuzzer) send(ctx context.Context, s *steps.Scenario, batch []Input) (sent []steps.Sent, o outcome, err error) {
	held := 0
	for i := range batch {
		in := &batch[i]
		if in.held() {
			// More than the target grants would stand in the way of the barrier.
			if held++; held > f.holds {
				in.End = Fin
			}
		}
		p, err := s.Put(ctx, in.Bidi, in.Body, in.Pieces, !in.held())
		if err != nil {
			if how, _ := s.Ended(); how == "" && f.withheld(batch, sent) {
				return sent, o, nil
			}
			return sent, o, err
		}
		if f.oracle.expect(*in).class == Open {
			s.Unowed(p)
		}
		if in.End == GivenUp {
			s.GiveUp(p)
		}
		sent = append(sent, p)
		o.sent++
	}
	return sent, o, nil
}

// withheld: some stream of an input that the target need not answer has not ended, so
// that it may be what the credit went to.
func (f *fuzzer) withheld(batch []Input, sent []steps.Sent) bool {
	for i, p := range sent {
		if f.mayClose(batch[i]) && p.Open() {
			return true
		}
	}
	return false
}

// release ends the streams that were left open.
func (f *fuzzer) release(ctx context.Context, s *steps.Scenario, batch []Input, sent []steps.Sent) (list []suspicion, err error) {
	any := false
	for i, in := range batch {
		if !in.held() {
			continue
		}
		any = true
		for _, c := range f.oracle.expect(in).claims {
			if c.Step == stillUnanswered {
				list = append(list, f.held(ctx, s, sent[i], i, c, f.oracle.expect(in).why)...)
			}
		}
	}
	for i, in := range batch {
		switch in.End {
		case Held:
			if err := s.Finish(sent[i]); err != nil {
				return list, err
			}
		case Reset:
			s.Reset(sent[i])
		}
	}
	if any {
		err = s.Bar(ctx)
	}
	return list, err
}

// held judges one claim.
func (f *fuzzer) held(ctx context.Context, s *steps.Scenario, sent steps.Sent, at int, c Claim, why string) []suspicion {
	failure, ok := errors.AsType[*verdict.Failure](s.Judge(ctx, sent, c.Requirements, c.Step))
	if !ok {
		return nil
	}
	return []suspicion{{at, c, why, failure.Actual}}
}

// judge holds each input of a batch, and the batch, against what has to hold.
func (f *fuzzer) judge(ctx context.Context, s *steps.Scenario, batch []Input, sent []steps.Sent) (list []suspicion) {
	for i, in := range batch {
		e := f.oracle.expect(in)
		for _, c := range e.claims {
			if c.Step == stillUnanswered {
				continue
			}
			if found := f.held(ctx, s, sent[i], i, c, e.special(c)); len(found) > 0 {
				list = append(list, found...)
				break // the rest says the same in other words
			}
		}
		if ctx.Err() != nil {
			return list
		}
	}
	for _, a := range s.Answers(ctx, sent) {
		list = append(list, f.answered(batch, a)...)
	}
	for _, id := range s.Broken() {
		failure, _ := s.RecordOf(id)
		at := slices.IndexFunc(sent, func(p steps.Sent) bool { return p.Is(failure) })
		list = append(list, suspicion{at, Claim{overTheRun, []string{id}}, "what the target sends", failure.Actual})
	}
	return list
}

// answered is what a stream that the target opened may mean.
func (f *fuzzer) answered(batch []Input, a steps.Answer) []suspicion {
	if a.To >= 0 {
		in := batch[a.To]
		e := f.oracle.expect(in)
		switch {
		case !in.Bidi:
			return []suspicion{{a.To, Claim{nothingAnswers, e.about}, e.why, a.What}}
		case e.class == Valid:
			return []suspicion{{a.To, Claim{oneReply, []string{"AXON-KIND-002"}}, "a reply on another stream", a.What}}
		}
		return nil
	}
	var list []suspicion
	if a.Complaint && slices.ContainsFunc(batch, func(in Input) bool { return f.oracle.expect(in).class != Valid }) {
		return nil
	}
	seen := map[string]bool{}
	for i, in := range batch {
		e := f.oracle.expect(in)
		if c := f.quiet(in, e); c.Step == nothingAnswers && !seen[e.why] {
			seen[e.why] = true
			list = append(list, suspicion{i, c, e.why, a.What})
		}
	}
	return list
}
