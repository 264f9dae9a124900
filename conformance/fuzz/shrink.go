package fuzz

import (
	"context"
	"slices"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/wire"
)

const (
	// maxTries bounds how often a case is played to make it smaller, and slowTries
	// where each failure takes long.
	maxTries  = 150
	slowTries = 8
	// slowFailure is when a failure takes long.
	slowFailure = 300 * time.Millisecond
)

// shrinker makes a case smaller.
type shrinker struct {
	f       *fuzzer
	best    Case
	failure *verdict.Failure
	tries   int
	most    int
	gone    bool
}

// shrink makes a case that fails smaller while it still fails.
func (f *fuzzer) shrink(ctx context.Context, c Case, failure *verdict.Failure) (Case, *verdict.Failure, int, bool, error) {
	s := &shrinker{f: f, best: c, failure: failure, most: maxTries}
	err := s.fewer(ctx)
	if err == nil {
		err = s.smaller(ctx)
	}
	return s.best, s.failure, s.tries, s.gone, err
}

// try plays a case, and keeps it when it fails.
func (s *shrinker) try(ctx context.Context, c Case) (bool, error) {
	if s.tries >= s.most {
		return false, nil
	}
	claim, holds := s.f.claimOf(c)
	if !holds {
		return false, nil
	}
	c.Claim = claim
	s.tries++
	began := time.Now()
	failure, gone, err := s.f.fails(ctx, c)
	s.gone = s.gone || gone
	if err != nil {
		return false, err
	}
	if time.Since(began) > slowFailure {
		s.most = min(s.most, slowTries)
	}
	if failure == nil {
		return false, nil
	}
	s.best, s.failure = c, failure
	return true, nil
}

// claimOf is the claim of a case whose last input was changed: a step of the same sort
// has to be owed to it still.
func (f *fuzzer) claimOf(c Case) (Claim, bool) {
	e := f.oracle.expect(c.last())
	switch c.Claim.Step {
	case overTheRun:
		return c.Claim, true
	case oneReply:
		return c.Claim, e.class == Valid
	case survives, servesOn:
		is := e.survival(c.last())
		return is, is.Step == c.Claim.Step
	case nothingAnswers:
		return Claim{nothingAnswers, e.about}, !c.last().Bidi
	}
	at := slices.IndexFunc(e.claims, func(o Claim) bool { return o.Step == c.Claim.Step })
	if at < 0 || level(e.claims[at].Requirements) != level(c.Claim.Requirements) {
		return Claim{}, false
	}
	return e.claims[at], true
}

// fewer leaves out inputs before the last, in halves, quarters and so on. What ends the
// connection may be any of them, and then the last one is left out too.
func (s *shrinker) fewer(ctx context.Context) error {
	harm := s.best.Claim.Step == survives || s.best.Claim.Step == servesOn
	for part := (len(s.best.Inputs) + 1) / 2; part >= 1 && len(s.best.Inputs) > 1; part /= 2 {
		for from := 0; from < len(s.best.Inputs); {
			to := min(from+part, len(s.best.Inputs))
			if !harm {
				to = min(to, len(s.best.Inputs)-1)
			}
			if to <= from || to-from == len(s.best.Inputs) {
				break
			}
			c := Case{Inputs: without(s.best.Inputs, from, to), Claim: s.best.Claim}
			if harm {
				c.Claim = s.f.oracle.expect(c.last()).survival(c.last())
			}
			fewer, err := s.try(ctx, c)
			if err != nil {
				return err
			}
			if !fewer {
				from += part
			}
		}
	}
	return nil
}

// smaller makes the inputs themselves smaller, the last one first.
func (s *shrinker) smaller(ctx context.Context) error {
	for at := len(s.best.Inputs) - 1; at >= 0; at-- {
		for _, change := range []func(Input) []Input{plainer, emptier} {
			for _, in := range change(s.best.Inputs[at]) {
				if _, err := s.try(ctx, s.with(at, in)); err != nil {
					return err
				}
			}
		}
		if err := s.shorter(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

func (s *shrinker) with(at int, in Input) Case {
	inputs := slices.Clone(s.best.Inputs)
	inputs[at] = in
	return Case{Inputs: inputs, Claim: s.best.Claim}
}

// shorter leaves bytes out, in halves, quarters and so on.
func (s *shrinker) shorter(ctx context.Context, at int) error {
	for part := len(s.best.Inputs[at].Body) / 2; part >= s.least(at) && s.tries < s.most; part /= 2 {
		for from := 0; from < len(s.best.Inputs[at].Body) && s.tries < s.most; {
			in := s.best.Inputs[at]
			in.Body = slices.Concat(in.Body[:from], in.Body[min(from+part, len(in.Body)):])
			done, err := s.try(ctx, s.with(at, in))
			if err != nil {
				return err
			}
			if !done {
				from += part
			}
		}
	}
	return nil
}

// least is the smallest part that is left out of a body: of an envelope that can be read
// no single letters, or its kind would be a stump.
func (s *shrinker) least(at int) int {
	if env, _ := wire.Inspect(s.best.Inputs[at].Body); env.Whole.Kind == wire.Object {
		return 8
	}
	return 1
}

// plainer are the input as it would be sent more simply.
func plainer(in Input) []Input {
	var list []Input
	if in.End != Fin {
		other := in
		other.End = Fin
		list = append(list, other)
	}
	if in.Pieces > 0 {
		other := in
		other.Pieces = 0
		list = append(list, other)
	}
	return list
}

// longBody is the size from which on a body of the same size may show the same.
const longBody = 1000

// emptier are the input with one of its members plain or left out, from the plainest on.
func emptier(in Input) []Input {
	env, _ := wire.Inspect(in.Body)
	if env.Whole.Kind != wire.Object {
		return nil
	}
	usual := map[string]string{"id": quote(in.ID), "kind": quote("request"), "payload": "{}"}
	if !in.Bidi {
		usual["kind"] = quote("message")
	}
	members := env.Whole.Object
	write := func(change func(i int, m wire.Member) (value string, keep bool)) Input {
		d := &document{}
		for i, m := range members {
			if value, keep := change(i, m); keep {
				d.add(m.Name, value)
			}
		}
		other := in
		other.Body = d.bytes(nil)
		return other
	}
	var list []Input
	if len(in.Body) > longBody {
		padded := in
		padded.Body = wire.Pad(in.ID, map[bool]string{true: "request", false: "message"}[in.Bidi], len(in.Body))
		list = append(list, padded)
	}
	list = append(list, write(func(_ int, m wire.Member) (string, bool) { return string(m.Value.Raw), true }))
	for at := range members {
		list = append(list, write(func(i int, m wire.Member) (string, bool) { return string(m.Value.Raw), i != at }))
		if value, ok := usual[members[at].Name]; ok {
			list = append(list, write(func(i int, m wire.Member) (string, bool) {
				if i == at {
					return value, true
				}
				return string(m.Value.Raw), true
			}))
		}
	}
	return list
}
