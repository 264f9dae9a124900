package suite

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/spec"
)

// defaultCeiling bounds a check of a target of ordinary speed.
const defaultCeiling = 5 * time.Second

// slow is the time of a first answer from which on checks run side by side, and
// slowParallel their number.
const (
	slow         = 40 * time.Millisecond
	slowParallel = 8
)

// slowFactor times the first answer's duration is the least ceiling, unless the
// caller sets one.
const slowFactor = 25

// run is one call of Run.
type run struct {
	options  Options
	chosen   []*check
	selected map[string]*check
	contents []content
	target   *steps.Target
	gate     gate
	// answered is the time that the first answer took, 0 when none came.
	answered time.Duration
	reviver  reviver
	// unshown holds the needs that a driver claims and did not show.
	unshown map[spec.Need]error
	notes   []string

	// turn says which checks are executed now.
	turn turn
	// exclusive is held for writing by a check that runs alone.
	exclusive sync.RWMutex

	mu      sync.Mutex
	results map[string]*result
	skipped int // of these, those that do not apply
	done    int
	total   int
	// qlogTold: it was told that qlogs cannot be written.
	qlogTold bool
}

// Run checks a target and reports. The report's ExitCode is the run's. The error
// is a *UsageError for a mistake of the caller; any other is a fault of the suite.
// A cancelled context ends the run early: what had finished is reported, the rest
// could not run.
func Run(ctx context.Context, o Options) (report.Report, error) {
	if o.Repeat < 1 {
		o.Repeat = 1
	}
	if o.Timeout < 0 {
		return report.Report{}, &UsageError{"the time-out of a check must be positive"}
	}
	c, err := load(o.Features)
	if err != nil {
		return report.Report{}, err
	}
	chosen, err := c.choose(o.Select)
	if err != nil {
		return report.Report{}, err
	}
	r := &run{options: o, chosen: chosen, contents: c.contents, selected: map[string]*check{}, total: len(chosen) * o.Repeat}
	for _, k := range chosen {
		r.selected[k.location] = k
	}
	started := time.Now()
	defer r.prepare()()
	r.meet(ctx)
	r.target.Commands = steps.NewCommands(o.CommandLine)
	defer r.target.Commands.Close()
	if !r.gate.closed() {
		r.try(ctx)
	}
	sets := make([]map[string]*result, 0, o.Repeat)
	for range o.Repeat {
		if err := r.once(ctx); err != nil {
			return report.Report{}, err
		}
		sets = append(sets, r.results)
		if ctx.Err() != nil {
			break
		}
	}
	return r.report(started, sets), nil
}

// meet is the preflight. What it finds wrong closes the gate, so that every check
// ends as could-not-run with that reason.
func (r *run) meet(ctx context.Context) {
	o := r.options
	r.target = &steps.Target{
		Address: o.Address, Key: o.Key, Identity: o.Identity, HasHandler: o.HasHandler, Ceiling: o.Timeout,
		Record: steps.NewRecord(), QLog: o.QLogDir != "", KeyLog: o.KeyLog, Control: o.Control, LAN: o.lan(),
	}
	if r.target.Ceiling == 0 {
		r.target.Ceiling = defaultCeiling
	}
	if r.target.Key != nil {
		r.target.AgentID = credential.AgentID(r.target.Key)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*r.target.Ceiling)
	defer cancel()
	answered, err := steps.Preflight(ctx, r.target)
	r.answered = answered
	if err != nil {
		if o.Alive != nil {
			if dead := o.Alive(); dead != nil {
				err = fmt.Errorf("%w; %w", err, dead)
			}
		}
		r.gate.close(err)
		return
	}
	if o.Timeout == 0 && slowFactor*answered > r.target.Ceiling {
		r.target.Ceiling = (slowFactor * answered).Round(time.Second)
		r.notes = append(r.notes, fmt.Sprintf("the target took %s to answer the first request, so each check may take %s", answered.Round(time.Millisecond), r.target.Ceiling))
	}
	if r.options.Parallel == 0 && answered > slow {
		r.options.Parallel = slowParallel
		r.notes = append(r.notes, fmt.Sprintf("the target took %s to answer the first request, so %d checks run at once", answered.Round(time.Millisecond), slowParallel))
	}
	if answered == 0 {
		r.notes = append(r.notes, "the target took the first connection and did not answer a plain request on it")
		r.target.Single = true
		r.options.Parallel = 1
		return
	}
	again, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.target.Ceiling)
	defer cancel()
	if !steps.KeepsConnections(again, r.target) {
		r.target.Single = true
		r.options.Parallel = 1
		r.notes = append(r.notes, "the target keeps one connection a peer, so checks run one at a time and late answers cannot be watched for")
	}
}

// prepare begins what takes long and is needed later; the result waits for its end.
func (r *run) prepare() (wait func()) {
	var work sync.WaitGroup
	if slices.ContainsFunc(r.chosen, func(k *check) bool { return strings.Contains(k.name, "RSA") }) {
		work.Go(credential.PrepareRSA)
	}
	return work.Wait
}

// once executes the selected scenarios, one turn after the other.
func (r *run) once(ctx context.Context) error {
	r.results = map[string]*result{}
	r.target.Record = steps.NewRecord()
	r.target.Watch = nil
	if !r.gate.closed() && !r.target.Single {
		watching, cancel := context.WithTimeout(ctx, r.target.Ceiling)
		w, err := steps.NewWatch(watching, r.target)
		cancel()
		if err != nil {
			r.notes = append(r.notes, fmt.Sprintf("no connection could be watched over the whole run: %v", err))
		} else {
			r.target.Watch = w
			defer w.Close()
		}
	}
	r.passOver()
	for _, r.turn = range turns {
		if !slices.ContainsFunc(r.chosen, r.due) {
			continue
		}
		if err := r.godog(ctx); err != nil {
			return err
		}
	}
	for _, k := range r.chosen {
		if r.results[k.location] == nil {
			return fmt.Errorf("%s: godog did not run the scenario %q", k.location, k.name)
		}
	}
	return nil
}

// passOver gives the checks that do not apply their result. godog would spend more on
// them than on many that do.
func (r *run) passOver() {
	r.skipped = 0
	for _, k := range r.chosen {
		if err := r.inapplicable(k); err != nil {
			s := steps.New(r.target, k.ids)
			s.Err = err
			r.keep(k, newResult(k, s, 0))
			r.skipped++
		}
	}
}

// due tells whether a check is to be made in this turn.
func (r *run) due(k *check) bool { return k.turn() == r.turn && r.results[k.location] == nil }

// godog executes one turn, from the files that hold something selected. Its exit
// code tells no more than the results do, but for 2, that it did not start.
func (r *run) godog(ctx context.Context) error {
	var files []godog.Feature
	wanted := map[string]bool{}
	for _, k := range r.chosen {
		if r.due(k) {
			wanted[k.location], wanted[k.file()] = true, true
		}
	}
	for _, f := range r.contents {
		if wanted[f.name] {
			files = append(files, godog.Feature{Name: f.name, Contents: f.only(wanted)})
		}
	}
	suite := godog.TestSuite{
		Name:                "axon-conformance",
		ScenarioInitializer: r.initialize,
		Options: &godog.Options{
			Format: silentFormat, Output: io.Discard, NoColors: true, Strict: true,
			Concurrency: r.parallel(), FeatureContents: files, DefaultContext: ctx,
		},
	}
	if code := suite.Run(); code > 1 {
		return fmt.Errorf("godog ended with code %d before it ran a scenario", code)
	}
	return nil
}

type startedKey struct{}

// started is the moment at which a scenario began, the run that it belongs to, and
// how to end its ceiling.
type started struct {
	at     time.Time
	check  *check
	run    context.Context
	cancel context.CancelFunc
}

func (r *run) initialize(sc *godog.ScenarioContext) {
	sc.Before(r.before)
	sc.After(r.after)
	steps.Register(sc)
}

func (r *run) before(ctx context.Context, p *godog.Scenario) (context.Context, error) {
	k := r.selected[fmt.Sprintf("%s:%d", p.Uri, p.Location.Line)]
	if k == nil || k.turn() != r.turn {
		return steps.With(ctx, &steps.Scenario{Skip: true}), nil
	}
	if k.alone {
		r.exclusive.Lock()
	} else {
		r.exclusive.RLock()
	}
	s := steps.New(r.target, k.ids)
	if slices.Contains(k.needs, spec.Handle) || slices.Contains(k.needs, spec.CLI) {
		s.ExpectHandler()
	}
	s.Err = r.prevents(ctx, k)
	whole := ctx
	ctx, cancel := r.bound(ctx, k, s)
	ctx = context.WithValue(ctx, startedKey{}, &started{at: time.Now(), check: k, run: whole, cancel: cancel})
	return steps.With(ctx, s), nil
}

// bound gives a check its ceiling. A heavy one may take that long between any two
// signs of life, heavyFactor times as long in all: a target that is slow, and does
// one thing after another, is not wrong.
func (r *run) bound(ctx context.Context, k *check, s *steps.Scenario) (context.Context, context.CancelFunc) {
	if ceiling := r.lanCeiling(k); ceiling > 0 {
		return context.WithTimeout(ctx, ceiling)
	}
	if k.ofCommands() {
		return context.WithTimeout(ctx, r.commandCeiling(k))
	}
	ceiling := r.gate.ceiling(r.target.Ceiling, r.answered)
	if !k.heavy {
		return context.WithTimeout(ctx, ceiling+k.waits+r.patience(k))
	}
	ctx, cancel := context.WithTimeout(ctx, heavyFactor*ceiling)
	stalled := time.AfterFunc(ceiling, cancel)
	s.Moved = func() { stalled.Reset(ceiling) }
	return ctx, func() {
		stalled.Stop()
		cancel()
	}
}

// prevents tells why a check is not even begun, nil when it is.
func (r *run) prevents(ctx context.Context, k *check) error {
	if err := r.gate.reason(); err != nil {
		// The one thing that can be told of a target with another token.
		if !errors.Is(err, steps.ErrOtherToken) || len(k.ids) != 1 || k.ids[0] != "AXON-TLS-001" {
			return blockedBy(err)
		}
		return nil
	}
	if err := r.untried(k); err != nil {
		return blockedBy(err)
	}
	if ctx.Err() != nil {
		return &verdict.Blocked{Reason: "the run was cancelled"}
	}
	if r.options.Alive != nil {
		if err := r.options.Alive(); err != nil {
			r.gate.close(err)
			return blockedBy(err)
		}
	}
	return nil
}

func blockedBy(err error) error {
	var b *verdict.Blocked
	if errors.As(err, &b) && b.Error() == err.Error() {
		return b
	}
	return &verdict.Blocked{Reason: err.Error()}
}

func (r *run) after(ctx context.Context, _ *godog.Scenario, err error) (context.Context, error) {
	s := steps.From(ctx)
	begun, _ := ctx.Value(startedKey{}).(*started)
	if s == nil || s.Skip || begun == nil {
		return ctx, nil
	}
	took := time.Since(begun.at)
	if s.Err == nil && err != nil {
		s.Err = err // godog's own: a step that is not defined, a panic
	}
	// What a Then step needs of the trace is read before the probe closes it.
	res := newResult(begun.check, s, took)
	res.own = r.options.Own
	if begun.run.Err() != nil && s.Err != nil && res.verdict != verdict.NotApplicable {
		// What it waited for might still have come.
		res.block("the run was cancelled")
	} else {
		r.gate.judge(r, s, res)
	}
	begun.cancel()
	s.Close()
	r.keepQLog(begun.check, s, res)
	r.keep(begun.check, res)
	if r.early() && !r.gate.closed() {
		stirring, cancel := context.WithTimeout(begun.run, r.target.Ceiling)
		r.target.Watch.Stir(stirring)
		cancel()
	}
	if begun.check.alone {
		r.exclusive.Unlock()
	} else {
		r.exclusive.RUnlock()
	}
	return ctx, nil
}

// stirAfter is the part of the checks, one in so many, after which the watched
// connections are stirred: what is sent on them has been met in checks by then.
const stirAfter = 3

// early tells whether the first part of the run is over.
func (r *run) early() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return (len(r.results)-r.skipped)*stirAfter >= len(r.chosen)-r.skipped
}

// keep stores a result and tells of it.
func (r *run) keep(k *check, res *result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[k.location] = res
	r.done++
	if r.options.Progress != nil {
		r.options.Progress(Progress{
			Done: r.done, Total: r.total, Name: k.name, Location: k.location, IDs: k.ids,
			Verdict: res.worst(k), Reason: res.reason, Duration: res.took,
		})
	}
}

// capabilities are what the target offers in this run.
func (r *run) capabilities() []string {
	offered := []string{string(spec.Wire)}
	if !r.options.HasHandler {
		offered = append(offered, string(spec.Quiet))
	}
	if r.options.Control != nil {
		offered = append(offered, r.options.Control.Capabilities()...)
	}
	offered = append(offered, r.options.lanCapabilities()...)
	return offered
}

func (r *run) publicKey() string {
	if r.target.Key == nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(r.target.Key)
}
