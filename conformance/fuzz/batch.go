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

// play sends a batch on a connection of its own and judges it behind one barrier. Its
// error says that the target is gone.
func (f *fuzzer) play(ctx context.Context, batch []Input) (outcome, error) {
	s, err := f.connected(ctx)
	if err != nil {
		return outcome{}, err
	}
	defer s.Close()
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

// connected is a scenario with a new connection. A target that takes none is looked for
// once more, and started again where that can be done.
func (f *fuzzer) connected(ctx context.Context) (*steps.Scenario, error) {
	for again := false; ; again = true {
		s := f.scenario()
		dial, cancel := context.WithTimeout(ctx, f.target.Ceiling)
		err := s.Connect(dial)
		cancel()
		if err == nil {
			return s, nil
		}
		s.Close()
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case again:
			return nil, fmt.Errorf("%w: %w", ErrGone, err)
		}
		if err := f.revive(ctx); err != nil {
			return nil, err
		}
	}
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
