package fuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/wire"
)

// Bounds of a run.
const (
	// batch is the number of inputs that go over one connection.
	batch = 25
	// MaxFindings ends a run: behind ten faults there are mostly the same ones.
	MaxFindings = 10
	// MaxInputs is the most that a run may be asked for.
	MaxInputs = 100_000_000
)

// Options say what to try on whom.
type Options struct {
	// Target has met the suite already (steps.Preflight).
	Target *steps.Target
	Seed   uint64
	// Inputs end the run, or Duration does; 0 is no end of that sort.
	Inputs   int
	Duration time.Duration
	// Parallel is the number of connections at a time; 0 means 1, since a target need
	// not keep more than one of a peer, or two.
	Parallel int
	// Memory returns what the target's process holds, in bytes, or 0 where that is
	// not known. It may be nil.
	Memory func() int64
	// Progress is called now and then. It may be nil.
	Progress func(inputs, findings int)
}

// Run sends inputs and reports what came of them. The same seed gives the same inputs
// in the same order. Its error says that the target cannot be reached any more, or that
// ctx ended; what was found until then is in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	f := &fuzzer{Options: o, report: Report{SchemaVersion: SchemaVersion, Target: o.Target.Address, AgentID: o.Target.AgentID, Seed: o.Seed, Outcomes: map[string]int{}, Findings: []Finding{}, Notes: []string{}}, known: map[string]bool{}}
	if f.Parallel < 1 || o.Target.Single {
		f.Parallel = 1
	}
	f.began = time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f.stop = cancel
	f.memoryBefore()
	var workers sync.WaitGroup
	for range f.Parallel {
		workers.Go(func() {
			for ctx.Err() == nil {
				n, size, ok := f.next()
				if !ok {
					return
				}
				f.batch(ctx, n, size)
			}
		})
	}
	workers.Wait()
	f.memoryAfter()
	f.report.DurationMS = float64(time.Since(f.began).Microseconds()) / 1000
	slices.SortFunc(f.report.Findings, func(a, b Finding) int { return a.Input - b.Input })
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errEnough) {
		return f.report, cause
	}
	return f.report, nil
}

// errEnough ends a run that has found enough.
var errEnough = errors.New("enough was found")

// fuzzer is a run in progress.
type fuzzer struct {
	Options
	began time.Time
	stop  context.CancelCauseFunc

	mu     sync.Mutex // guards the rest
	handed int        // inputs given to workers
	report Report
	known  map[string]bool // what was found, so that it is told once
	before int64
	// slowest is the longest that a batch took in which everything was right.
	slowest time.Duration
}

// next hands out the next batch.
func (f *fuzzer) next() (first, size int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size = batch
	if f.Inputs > 0 {
		size = min(size, f.Inputs-f.handed)
	}
	if size <= 0 || f.Duration > 0 && time.Since(f.began) > f.Duration {
		return 0, 0, false
	}
	first = f.handed
	f.handed += size
	return first, size, true
}

// batch tries one batch on a connection of its own.
func (f *fuzzer) batch(ctx context.Context, first, size int) {
	r := rand.New(rand.NewPCG(f.Seed, uint64(first)))
	list := make([]expectation, size)
	for i := range list {
		list[i] = f.make(r, first+i)
	}
	began := time.Now()
	at, failure := f.try(ctx, list, f.Target.Ceiling)
	if failure == nil {
		f.mu.Lock()
		f.slowest = max(f.slowest, time.Since(began))
		f.mu.Unlock()
	}
	if ctx.Err() != nil {
		return
	}
	done := size
	if failure != nil {
		done = min(at+1, size)
	}
	f.mu.Lock()
	f.report.Connections++
	f.report.Inputs += done
	for _, e := range list[:done] {
		f.report.Outcomes[string(e.what)]++
	}
	inputs, findings := f.report.Inputs, len(f.report.Findings)
	f.mu.Unlock()
	if f.Progress != nil {
		f.Progress(inputs, findings)
	}
	switch {
	case failure == nil:
	case failure.blocked:
		// What it has died of is for the one to say who saw it die.
		f.gone(ctx, failure)
	case f.news(list[done-1], failure):
		f.examine(ctx, first, list[:done], failure)
	}
}

// make draws an input until its bytes can be made.
func (f *fuzzer) make(r *rand.Rand, number int) expectation {
	for {
		in := generate(r, number)
		if body, err := steps.Expand(in.Body, wire.NewID()); err == nil {
			return expect(in, body)
		}
	}
}

// failed is what went wrong: a judgement, or the target's reply that is no envelope.
type failed struct {
	verdict.Failure
	lost bool // nothing answers any more
	// blocked: there was no connection to begin with.
	blocked bool
	// reply: the sentence is about what the target sends.
	reply bool
}

// sent are the sentences that everything which the target sends is held against.
var sent = []string{"AXON-ENV-001", "AXON-ENV-002", "AXON-ENV-003", "AXON-ENV-004", "AXON-ENV-005", "AXON-ENV-007", "AXON-ENV-008", "AXON-STREAM-002"}

// try plays inputs one after the other on a connection of their own, until one does not
// come out as expected: at tells which.
// Ceiling bounds each of them; a healthy target never comes near.
func (f *fuzzer) try(ctx context.Context, list []expectation, ceiling time.Duration) (at int, _ *failed) {
	target := *f.Target
	target.Record, target.Ceiling = steps.NewRecord(), ceiling
	s := steps.New(&target, nil)
	defer s.Close()
	for i, e := range list {
		if err := f.one(ctx, s, e, i == 0); err != nil {
			return i, err
		}
		if e.what == refused && i < len(list)-1 {
			f.reconnect(ctx, s)
		}
	}
	s.Close()
	for _, id := range sent {
		if failure, _, _ := target.Record.Verdict(id); failure != nil {
			failure.Requirements = []string{id}
			return len(list) - 1, &failed{Failure: *failure, reply: true}
		}
	}
	return 0, nil
}

// reconnect goes on after a target that ended the connection over what is no envelope,
// which is not for that input to judge.
func (f *fuzzer) reconnect(ctx context.Context, s *steps.Scenario) {
	ctx, cancel := context.WithTimeout(ctx, s.Target.Ceiling)
	defer cancel()
	if perform(ctx, s, "the connection survives") != nil {
		_ = perform(ctx, s, "a connection to the target")
	}
}

// one plays one input and judges it.
func (f *fuzzer) one(ctx context.Context, s *steps.Scenario, e expectation, connect bool) *failed {
	ctx, cancel := context.WithTimeout(ctx, 2*s.Target.Ceiling)
	defer cancel()
	s.IDs = []string{e.id}
	texts := append([]string{""}, e.then...)
	if connect {
		texts = append([]string{"a connection to the target"}, texts...)
	}
	for _, text := range texts {
		var err error
		if text == "" {
			text = "the input is sent"
			err = send(ctx, s, e.in)
		} else {
			err = perform(ctx, s, text)
		}
		var failure *verdict.Failure
		var inapplicable *verdict.Inapplicable
		var blocked *verdict.Blocked
		switch {
		case err == nil:
		case errors.As(err, &failure):
			if len(failure.Requirements) == 0 {
				failure.Requirements = []string{e.id}
			}
			return &failed{Failure: *failure, lost: s.Lost}
		case errors.As(err, &inapplicable):
			return nil
		case errors.As(err, &blocked):
			return &failed{Failure: verdict.Failure{Requirements: []string{e.id}, Expected: "the target takes a connection and serves it", Actual: err.Error(), Stream: -1}, lost: true, blocked: connect}
		case ctx.Err() != nil:
			return &failed{Failure: verdict.Failure{Requirements: []string{e.id}, Expected: text, Actual: "the target did nothing of that sort in time", Stream: -1}, lost: true}
		default:
			return &failed{Failure: verdict.Failure{Requirements: []string{e.id}, Expected: text, Actual: err.Error(), Stream: -1}, lost: s.Lost}
		}
	}
	return nil
}

// perform carries out a step without arguments.
func perform(ctx context.Context, s *steps.Scenario, text string, args ...string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the step %q panicked: %v", text, p)
		}
	}()
	return steps.Takers(text)[0].Do(ctx, s, args, "")
}

// send is perform for the step that sends an input. It is not looked up by the step's own
// text, which is long and never met again.
func send(ctx context.Context, s *steps.Scenario, in Input) error {
	side := "bidirectional"
	if in.Uni {
		side = "unidirectional"
	}
	if in.Body == "" {
		return perform(ctx, s, Input{Uni: in.Uni}.step(), side)
	}
	return perform(ctx, s, Input{Body: "x", Uni: in.Uni}.step(), in.Body, side)
}
