package fuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/spec"
)

// steadyPlays is how often the small form of a finding has to fail again to be steady:
// what a race decides fails often, and not each time.
const steadyPlays = 3

// key of a finding: what breaks the same sentence in the same way is one.
func key(c Claim, why string) string {
	return c.Step + " " + strings.Join(c.Requirements, " ") + " " + why
}

// look repeats what does not look right, and reports what fails again.
func (f *fuzzer) look(ctx context.Context, batch []Input, list []suspicion) error {
	for _, s := range list {
		k := key(s.claim, s.why)
		if at, known := f.found[k]; known {
			if at >= 0 {
				f.report.Findings[at].Seen++
			}
			continue
		}
		if len(f.report.Findings) >= f.MaxFindings {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := f.confirm(ctx, batch, s, k); err != nil {
			return err
		}
	}
	return nil
}

// confirm repeats one suspicion by itself, then with all that came before it.
func (f *fuzzer) confirm(ctx context.Context, batch []Input, s suspicion, k string) error {
	before := batch
	var alone []Case
	if s.claim.Step == survives || s.claim.Step == servesOn {
		if err := f.revive(ctx); err != nil {
			if errors.Is(err, ErrGone) {
				f.tell(Case{Inputs: before, Claim: s.claim}, &verdict.Failure{Expected: "the target lives on", Actual: s.saw}, s, k, trial{gone: true})
			}
			return err
		}
	}
	if s.claim.Step == overTheRun {
		// What is wrong with every reply needs nothing odd.
		alone = append(alone, Case{Inputs: []Input{plainRequest(f.Seed)}, Claim: s.claim})
	}
	if s.at >= 0 {
		before = batch[:s.at+1]
		alone = append(alone, Case{Inputs: batch[s.at : s.at+1], Claim: s.claim})
	}
	if len(before) > 1 {
		alone = append(alone, Case{Inputs: before, Claim: s.claim}, Case{Inputs: before, Claim: s.claim})
	}
	if s.claim.Step == overTheRun {
		alone = append(alone, inRow(s.claim)...)
	}
	for i, c := range alone {
		failure, gone, err := f.fails(ctx, c)
		if err != nil {
			if failure != nil {
				f.tell(c, failure, s, k, trial{gone: true})
			}
			return err
		}
		if failure == nil {
			continue
		}
		if s.claim.Step == overTheRun && i == 0 || len(c.Crowd) > 0 {
			f.tell(c, failure, s, k, trial{steady: len(c.Crowd) == 0, gone: gone})
			return nil
		}
		small, failure, tries, ended, err := f.shrink(ctx, c, failure)
		steady := err == nil
		for i := 0; i < steadyPlays && steady && err == nil; i++ {
			var again *verdict.Failure
			again, _, err = f.fails(ctx, small)
			steady = again != nil
		}
		f.tell(small, failure, s, k, trial{tries, steady, gone || ended})
		return err
	}
	if s.saw != "" {
		f.note("seen once and not again: %s (%s)", s.saw, strings.Join(s.claim.Requirements, ", "))
	}
	return nil
}

// plainRequest is a request with nothing odd about it.
func plainRequest(seed uint64) Input {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0))}
	id := g.uuid()
	return Input{Bidi: true, ID: id, Body: []byte(`{"id":"` + id + `","kind":"request","payload":{}}`)}
}

// trial is how a finding was confirmed.
type trial struct {
	tries        int
	steady, gone bool
}

// tell reports a finding, unless its small form is one that was reported already.
func (f *fuzzer) tell(c Case, failure *verdict.Failure, s suspicion, k string, o trial) {
	why, in := s.why, Input{Number: f.report.Inputs}
	if len(c.Inputs) > 0 {
		in = c.last()
	}
	if len(c.Inputs) == 1 && c.Claim.Step != overTheRun && !strings.HasPrefix(why, "a reply") {
		why = f.oracle.expect(c.last()).special(c.Claim)
	}
	if at, known := f.found[key(c.Claim, why)]; known && at >= 0 {
		f.report.Findings[at].Seen++
		f.found[k] = at
		return
	}
	f.found[k], f.found[key(c.Claim, why)] = len(f.report.Findings), len(f.report.Findings)
	name := title(c, why, failure)
	f.add(Finding{
		Requirements: c.Claim.Requirements, Level: level(c.Claim.Requirements), Title: name, Expected: failure.Expected, Actual: failure.Actual,
		Input: in.Number, Body: append([]byte{}, in.Body...), Scenario: c.Scenario(name), Tries: o.tries, Seen: 1, Steady: o.steady, Gone: o.gone,
	})
}

// title names a finding.
func title(c Case, why string, failure *verdict.Failure) string {
	switch {
	case c.name != "" && c.Claim.Step != overTheRun:
		return "It does not stand " + c.name
	case c.Claim.Step == overTheRun:
		text := "What the target sends is not " + freshID.ReplaceAllString(failure.Expected, "…")
		if len(c.Crowd) > 0 {
			text += ", now and then"
		}
		return text
	case why == c.Claim.Step:
		return "A reply is not the default error: " + failure.Expected
	}
	what := map[string]string{
		isAccepted: "A valid input is refused", isNotAccepted: "An invalid input is accepted", defaultError: "An unknown kind does not get the default error",
		stillUnanswered: "An input is answered before its FIN", wholeOrNot: "An oversized input is cut", refIfAccepted: "A reply refers to something else",
		oneReply: "A request has no reply of its own", nothingAnswers: "An input is answered that must not be", survives: "An input does harm", servesOn: "An input does harm",
	}[c.Claim.Step]
	text := what + ": " + why
	if n := len(c.Inputs); n > 1 {
		text += fmt.Sprintf(", after %d others", n-1)
	}
	return text
}

// level is the gravest of some requirements.
func level(ids []string) string {
	grave := spec.Advisory
	for _, id := range ids {
		if q, ok := spec.Lookup(id); ok && (q.Level == spec.Must || q.Level == spec.Should && grave == spec.Advisory) {
			grave = q.Level
		}
	}
	return string(grave)
}

// fails plays a case as a feature file would have it, step by step. Gone says that the
// target had to be started again after it, or is gone; the error that it is gone and
// that nothing else can be tried.
func (f *fuzzer) fails(ctx context.Context, c Case) (failure *verdict.Failure, gone bool, err error) {
	s := f.scenario()
	ceiling := f.target.Ceiling
	if len(c.Crowd) > 0 {
		ceiling *= crowdFactor // many exchanges, or handshakes
	}
	for _, l := range c.lines() {
		// As in a feature file, the ids are known from the start.
		s.IDs = c.Claim.Requirements
		step, cancel := context.WithTimeout(ctx, ceiling)
		err = s.Perform(step, l.step)
		cancel()
		if err != nil {
			break
		}
	}
	lost := s.Lost
	s.Close()
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	failure, _ = errors.AsType[*verdict.Failure](err)
	if _, blocked := errors.AsType[*verdict.Blocked](err); !blocked && !lost {
		return failure, false, nil
	}
	restarts := f.report.Restarts
	err = f.revive(ctx)
	return failure, err != nil || f.report.Restarts > restarts, err
}

// revive sees whether the target still takes connections and answers, and has it
// started again when it does not.
func (f *fuzzer) revive(ctx context.Context) error {
	look := func() (steps.State, error) {
		ctx, cancel := context.WithTimeout(ctx, f.target.Ceiling)
		defer cancel()
		t := f.target
		t.Record = steps.NewRecord()
		return steps.Look(ctx, &t)
	}
	state, err := look()
	if state == steps.Alive {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	gone := fmt.Errorf("%w: %w", ErrGone, err)
	if f.Restart == nil {
		return gone
	}
	address, pid, err := f.Restart(ctx)
	if err != nil {
		return errors.Join(gone, err)
	}
	f.target.Address, f.PID = address, pid
	f.report.Restarts++
	if f.report.Memory != nil {
		f.report.Memory = f.memory()
	}
	if state, err := look(); state != steps.Alive {
		return fmt.Errorf("%w: also after it was started again: %w", ErrGone, err)
	}
	return nil
}

// without leaves a part of a list out.
func without(list []Input, from, to int) []Input {
	return slices.Concat(list[:from], list[min(to, len(list)):])
}
