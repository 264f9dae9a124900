package fuzz

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/axonproto/axon/conformance/bench"
	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/harness/credential"
)

// Options of a run.
type Options struct {
	Address  string
	Key      ed25519.PublicKey   // nil: it is learned
	Identity credential.Identity // whom the target admits
	// HasHandler: an application answers, so that the default error is not owed.
	HasHandler bool
	// Features hold inputs that are used and changed; nil: all are made by the grammar.
	Features fs.FS
	Seed     uint64
	// Duration after which no new inputs are sent, and Inputs their greatest number;
	// 0 is none. One of them is needed.
	Duration time.Duration
	Inputs   int
	// Ceiling is how long the target may take for an answer; 0 means 5 s.
	Ceiling time.Duration
	// PID of the target's process, whose memory is watched (Linux); 0: not known.
	PID int
	// MaxMemory is by how many bytes it may grow; 0 means 512 MiB.
	MaxMemory int64
	// MaxFindings ends the run; 0 means 20.
	MaxFindings int
	// Restart starts a target again that has gone, and says where it is and its
	// process; nil: there is no way to.
	Restart func(context.Context) (address string, pid int, err error)
	// Progress is told of each batch and each finding. It may be nil.
	Progress func(Progress)
}

// Progress of a run.
type Progress struct {
	Inputs  int
	Finding *Finding // what was just found, or nil
}

// The defaults.
const (
	defaultCeiling     = 5 * time.Second
	defaultMaxMemory   = 512 << 20
	defaultMaxFindings = 20
	// batchSize is the greatest number of inputs behind one barrier.
	batchSize = 48
)

// Check looks at what can be wrong before the target is met, and fills in defaults.
func (o *Options) Check() error {
	switch {
	case o.Duration < 0 || o.Inputs < 0 || o.Ceiling < 0 || o.MaxMemory < 0 || o.MaxFindings < 0:
		return errors.New("durations and numbers must not be negative")
	case o.Duration == 0 && o.Inputs == 0:
		return errors.New("without a duration and a number of inputs the run would not end: give one of them")
	}
	if o.Ceiling == 0 {
		o.Ceiling = defaultCeiling
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = defaultMaxMemory
	}
	if o.MaxFindings == 0 {
		o.MaxFindings = defaultMaxFindings
	}
	return nil
}

// ErrGone says that the target takes no connection any more, or answers nothing.
var ErrGone = errors.New("the target is gone")

// fuzzer is one run.
type fuzzer struct {
	Options
	oracle oracle
	target steps.Target
	known  []sample
	report Report
	// size of the next batches, and how many of a batch may be left open.
	size, holds int
	// apart: the target ends a connection on inputs that it may refuse so, and they
	// are sent one by one.
	apart bool
	// closes counts inputs that ended their connections, by what is special about them.
	closes map[string]int
	// batches so far.
	batches int
	found   map[string]int // what was found → its place in the report, -1 for what is being looked at
}

// Run sends inputs until the options end it, or ctx does. Its error says why the run is
// not whole: the target cannot be met, is gone, or ctx ended. What was found until then
// is in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	if err := o.Check(); err != nil {
		return Report{}, err
	}
	f := &fuzzer{Options: o, oracle: oracle{o.HasHandler}, size: batchSize, closes: map[string]int{}, found: map[string]int{}}
	f.report = Report{
		SchemaVersion: SchemaVersion, Target: o.Address, Started: time.Now().UTC(), Seed: o.Seed,
		Findings: []Finding{}, Notes: []string{},
	}
	err := f.run(ctx)
	f.report.finish(time.Since(f.report.Started))
	return f.report, err
}

func (f *fuzzer) run(ctx context.Context) error {
	o := f.Options
	if o.Features != nil {
		var err error
		if f.known, err = samplesOf(o.Features); err != nil {
			return err
		}
	}
	f.target = steps.Target{Address: o.Address, Key: o.Key, Identity: o.Identity, HasHandler: o.HasHandler, Ceiling: o.Ceiling, Record: steps.NewRecord()}
	if err := f.meet(ctx); err != nil {
		return err
	}
	f.report.AgentID = f.target.AgentID
	err := f.loop(ctx)
	f.report.Complete = err == nil
	return err
}

// meet sees whether and how the target answers at all.
func (f *fuzzer) meet(ctx context.Context) error {
	if f.target.Key != nil {
		f.target.AgentID = credential.AgentID(f.target.Key)
	}
	first, cancel := context.WithTimeout(ctx, 3*f.Ceiling)
	defer cancel()
	answered, err := steps.Preflight(first, &f.target)
	switch {
	case err != nil:
		return err
	case answered == 0:
		return f.mute(ctx)
	}
	second, cancel := context.WithTimeout(ctx, 2*f.Ceiling)
	defer cancel()
	f.target.Single = !steps.KeepsConnections(second, &f.target)
	s := f.scenario()
	defer s.Close()
	granted, err := s.Grants(second, 16)
	if err != nil {
		return err
	}
	f.holds = min(max(granted-2, 0), 6)
	f.report.Memory = f.memory()
	return nil
}

// mute reports a target that does not answer a plain request, of which nothing else can
// be told.
func (f *fuzzer) mute(ctx context.Context) error {
	c := Case{Inputs: []Input{plainRequest(f.Seed)}, Claim: Claim{oneReply, []string{"AXON-KIND-002"}}}
	err := fmt.Errorf("%w: it took a connection and did not answer a plain request on it", ErrGone)
	failure, gone, _ := f.fails(ctx, c)
	if failure != nil {
		f.tell(c, failure, suspicion{0, c.Claim, "plain", ""}, "mute", trial{steady: true, gone: gone})
	}
	return err
}

// scenario is a new one with a record of its own.
func (f *fuzzer) scenario() *steps.Scenario {
	t := f.target
	t.Record = steps.NewRecord()
	return steps.New(&t, nil)
}

func (f *fuzzer) loop(ctx context.Context) error {
	deadline := f.report.Started.Add(f.Duration)
	for next := 0; ; {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case f.Duration > 0 && !time.Now().Before(deadline), f.Inputs > 0 && next >= f.Inputs, len(f.report.Findings) >= f.MaxFindings:
			return nil
		}
		count := f.size
		if f.Inputs > 0 {
			count = min(count, f.Inputs-next)
		}
		batch := make([]Input, 0, count)
		for range count {
			batch = append(batch, generate(f.Seed, next, f.known))
			next++
		}
		f.count(batch)
		if err := f.try(ctx, batch); err != nil {
			return err
		}
		if err := f.crowd(ctx); err != nil {
			return err
		}
		f.watchMemory(batch)
		if f.Progress != nil {
			f.Progress(Progress{Inputs: next})
		}
	}
}

// count notes what was sent, by its class.
func (f *fuzzer) count(batch []Input) {
	f.report.Inputs += len(batch)
	for _, in := range batch {
		switch f.oracle.expect(in).class {
		case Valid:
			f.report.Valid++
		case Invalid:
			f.report.Invalid++
		default:
			f.report.Open++
		}
	}
}

func (f *fuzzer) memory() *Memory {
	m := bench.MemoryOf(f.PID)
	if m == nil {
		return nil
	}
	return &Memory{Before: m.Resident, Most: m.Resident, After: m.Resident}
}

// watchMemory notes the memory of the target's process, and reports it once when it
// has grown too much.
func (f *fuzzer) watchMemory(batch []Input) {
	now, all := f.memory(), f.report.Memory
	if now == nil || all == nil {
		return
	}
	all.After = now.After
	all.Most = max(all.Most, now.After)
	if all.After-all.Before <= f.MaxMemory {
		return
	}
	if _, known := f.found["memory"]; known {
		return
	}
	f.found["memory"] = len(f.report.Findings)
	f.add(Finding{
		Requirements: []string{}, Level: "MUST", Title: "The target's memory grows without bound",
		Expected: fmt.Sprintf("the target grows by %d MB at the most", f.MaxMemory>>20),
		Actual:   fmt.Sprintf("it has grown by %d MB", (all.After-all.Before)>>20), Input: batch[len(batch)-1].Number,
		Body: []byte{}, Seen: 1,
	})
}

func (f *fuzzer) add(finding Finding) {
	f.report.Findings = append(f.report.Findings, finding)
	if f.Progress != nil {
		f.Progress(Progress{Inputs: f.report.Inputs, Finding: &finding})
	}
}

func (f *fuzzer) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, n := range f.report.Notes {
		if n == text {
			return
		}
	}
	if len(f.report.Notes) < 50 {
		f.report.Notes = append(f.report.Notes, text)
	}
}
