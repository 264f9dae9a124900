package mutants

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/features"
	"github.com/axonproto/axon/harness/credential"
)

// Options of a self test.
type Options struct {
	// Features holds the *.feature files; nil means the embedded ones.
	Features fs.FS
	// Names of mutants and oddities; empty means all.
	Names []string
	// Whole runs every check against every peer. Otherwise a mutant meets those of
	// the requirements that it breaks and a sample of the others, and all of them
	// only where these do not find it; an oddity meets all in any case.
	Whole bool
	// Parallel is the number of peers at once; 0 means two for each of the
	// processors.
	Parallel int
	// Progress is called for each finished peer, never concurrently. It may be nil.
	Progress func(done, total int, row Row)
	// Version of the suite.
	Version string
	// CommandLine is the program, with its first arguments, that is a command line
	// with the fault of a name. Nil: faults of command lines are not met.
	CommandLine func(fault string) []string
}

// ErrUnknownName is wrapped by the error for a name that no peer has.
var ErrUnknownName = errors.New("there is no mutant and no oddity of that name")

// job is one peer to be judged.
type job struct {
	row        Row
	reason     *regexp.Regexp
	also       []string
	anywhere   bool
	lost       bool
	heavy      bool
	whole      bool
	minutes    bool
	hasHandler bool
	ceiling    time.Duration
	change     func(*manner)
	lan        func(*lanManner)
	command    bool
	local      func(*localManner)
}

// SelfTest runs the suite against each peer. Its error is a fault of the self test
// or an unknown name; what the suite got wrong is in the matrix.
func SelfTest(ctx context.Context, o Options) (Matrix, error) {
	if o.Parallel < 1 {
		o.Parallel = 2 * runtime.GOMAXPROCS(0)
	}
	if o.Features == nil {
		o.Features = features.FS()
	}
	jobs, err := choose(o.Names)
	if err != nil {
		return Matrix{}, err
	}
	checks, err := newSelection(o.Features)
	if err != nil {
		return Matrix{}, err
	}
	me, err := credential.New()
	if err != nil {
		return Matrix{}, err
	}
	began := time.Now()
	matrix := Matrix{Rows: make([]Row, len(jobs))}
	var (
		workers sync.WaitGroup
		mu      sync.Mutex // guards what follows
		done    int
		first   error
	)
	work := func(queue chan int) {
		for i := range queue {
			mu.Lock()
			stop := first != nil || ctx.Err() != nil
			mu.Unlock()
			if stop {
				return
			}
			row, err := jobs[i].run(ctx, o, checks, me)
			mu.Lock()
			if err != nil && first == nil {
				first = fmt.Errorf("%s: %w", jobs[i].row.Name, err)
			}
			matrix.Rows[i] = row
			done++
			if o.Progress != nil && err == nil {
				o.Progress(done, len(jobs), row)
			}
			mu.Unlock()
		}
	}
	for _, together := range pools(jobs, o.Parallel) {
		for _, p := range together {
			for range p.workers {
				workers.Go(func() { work(p.queue) })
			}
		}
		workers.Wait()
	}
	if first == nil {
		first = context.Cause(ctx)
	}
	matrix.Duration = time.Since(began)
	return matrix, first
}

// choose makes the jobs of the named peers, of all when there is no name.
func choose(names []string) ([]*job, error) {
	var jobs []*job
	for _, m := range Mutants() {
		expression, err := regexp.Compile(m.Reason)
		if err != nil {
			return nil, fmt.Errorf("mutant %s: %w", m.Name, err)
		}
		jobs = append(jobs, &job{
			row: Row{Name: m.Name, Sort: SortMutant, MadeFor: m.For, What: m.Fault}, reason: expression, also: m.Also, anywhere: m.Anywhere,
			lost: m.Lost, heavy: m.Heavy, whole: m.Whole, hasHandler: m.HasHandler, ceiling: m.Ceiling, change: m.change, lan: m.lan, local: m.local, command: m.command,
		})
	}
	for _, d := range slices.Concat(Oddities(), lanOddities(), localOddities()) {
		jobs = append(jobs, &job{
			row: Row{Name: d.Name, Sort: SortOddity, MadeFor: d.Warns, What: d.What}, hasHandler: d.HasHandler, heavy: d.lan == nil && d.local == nil && !d.light || d.minutes && d.lan != nil || d.heavy, minutes: d.minutes, whole: true, change: d.change, lan: d.lan, local: d.local,
		})
	}
	if len(names) == 0 {
		return jobs, nil
	}
	var chosen []*job
	for _, name := range names {
		i := slices.IndexFunc(jobs, func(j *job) bool { return j.row.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q: %w; `axon-conformance selftest --verbose` names them all", name, ErrUnknownName)
		}
		chosen = append(chosen, jobs[i])
	}
	return chosen, nil
}

// run has the suite judge one peer.
func (j *job) run(ctx context.Context, o Options, checks *selection, me credential.Identity) (Row, error) {
	if j.lan != nil {
		return j.runLAN(ctx, o, me)
	}
	if j.command {
		return j.runCommand(ctx, o, checks, me)
	}
	if j.local != nil {
		return j.runLocal(ctx, o, checks, me)
	}
	return looks(ctx, func(second bool) (Row, error) {
		// The sample may not get as far as the fault, which shows on the hundredth reply
		// only.
		return j.lookWire(ctx, o, checks, me, o.Whole || j.whole || second)
	})
}

// looks has the suite judge a peer, and once more where it did not find what it should
// have: a machine that is busy with other things may be late. What was wrong at first is
// part of the row.
func looks(ctx context.Context, look func(second bool) (Row, error)) (Row, error) {
	began := time.Now()
	row, err := look(false)
	if err == nil && len(row.Problems) > 0 && ctx.Err() == nil {
		first := row.Problems
		row, err = look(true)
		row.FirstLook = first
	}
	row.Duration = time.Since(began)
	row.Took = row.Duration.Milliseconds()
	return row, err
}

// lookWire has the suite judge a peer that is met over the wire alone.
func (j *job) lookWire(ctx context.Context, o Options, checks *selection, me credential.Identity, whole bool) (Row, error) {
	m := correct()
	if j.change != nil {
		j.change(&m)
	}
	p, err := startPeer(m, me)
	if err != nil {
		return j.row, err
	}
	defer p.close()
	options := suite.Options{
		Address: p.address(), Identity: me, Features: o.Features, HasHandler: j.hasHandler,
		Timeout: j.ceiling, Version: o.Version,
	}
	options.Select.Locations = checks.of(j, whole)
	r, err := suite.Run(ctx, options)
	if err != nil {
		return j.row, err
	}
	return j.judge(r), nil
}

// judge compares what the suite found with what it should have found.
func (j *job) judge(r report.Report) Row {
	row := j.row
	row.ExitCode = r.ExitCode
	row.FailedBy, row.Collateral, row.Problems, row.Seen = []string{}, []string{}, []string{}, []string{}
	complain := func(format string, args ...any) {
		row.Problems = append(row.Problems, fmt.Sprintf(format, args...))
	}
	blocked := 0
	for _, q := range r.Requirements {
		switch q.Verdict {
		case verdict.Fail, verdict.Warn:
			row.FailedBy = append(row.FailedBy, q.ID)
			if !j.anywhere && !slices.Contains(row.MadeFor, q.ID) && !slices.Contains(j.also, q.ID) {
				row.Collateral = append(row.Collateral, q.ID)
				if list := reasons(q); len(list) > 0 {
					row.undeserved = append(row.undeserved, list[0])
				}
			}
		case verdict.CouldNotRun:
			blocked++
		case verdict.HarnessError:
			complain("the suite itself was at fault in %s", q.ID)
		}
	}
	if row.Sort == SortOddity {
		j.judgeOddity(&row, r, complain)
		return row
	}
	row.OwnReason = true
	for _, id := range row.MadeFor {
		q, ok := find(r, id)
		switch {
		case !ok:
			complain("%s is not part of the report", id)
		case q.Verdict != verdict.Fail.ForLevel(q.Level):
			complain("survives %s: the verdict is %s, not %s", id, q.Verdict, verdict.Fail.ForLevel(q.Level))
		default:
			row.saw(q)
			if !j.matches(q) {
				row.OwnReason = false
				complain("%s is failed for another reason: %s", id, strings.Join(reasons(q), " | "))
			}
		}
	}
	if len(row.MadeFor) == 0 {
		j.judgeStray(&row, r, complain)
	}
	if len(row.Collateral) > 0 {
		complain("blames %s, which it does not break: %s", strings.Join(row.Collateral, ", "), strings.Join(row.undeserved, " | "))
	}
	if blocked > 0 && !j.lost {
		complain("%d requirements could not run", blocked)
	}
	return row
}

// judgeStray: a fault without a place of its own must have been found somewhere.
func (j *job) judgeStray(row *Row, r report.Report, complain func(string, ...any)) {
	row.OwnReason = false
	for _, id := range row.FailedBy {
		q, _ := find(r, id)
		row.saw(q)
		row.OwnReason = row.OwnReason || j.matches(q)
	}
	switch {
	case len(row.FailedBy) == 0:
		complain("survives: nothing is failed")
	case !row.OwnReason:
		complain("is failed for other reasons: %s", strings.Join(row.Seen, " | "))
	}
}

// judgeOddity: everything passes, but for the SHOULDs that it is known to break.
func (j *job) judgeOddity(row *Row, r report.Report, complain func(string, ...any)) {
	for _, id := range row.FailedBy {
		if q, _ := find(r, id); !slices.Contains(row.MadeFor, id) || q.Verdict != verdict.Warn {
			complain("%s has the verdict %s: %s", id, q.Verdict, strings.Join(reasons(q), " | "))
		}
	}
	for _, id := range row.MadeFor {
		if !slices.Contains(row.FailedBy, id) {
			complain("%s gives no warning", id)
		}
	}
	if r.ExitCode != report.ExitConformant || !r.Complete {
		complain("the run ends with exit code %d", r.ExitCode)
	}
}

func (j *job) matches(q report.Requirement) bool {
	return slices.ContainsFunc(reasons(q), j.reason.MatchString)
}

// reasons are what the failed checks of a requirement saw, each once.
func reasons(q report.Requirement) []string {
	var list []string
	for _, s := range q.Scenarios {
		if s.Verdict != verdict.Fail && s.Verdict != verdict.Warn {
			continue
		}
		if text := s.Location + " " + s.Actual; !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

func find(r report.Report, id string) (report.Requirement, bool) {
	for _, q := range r.Requirements {
		if q.ID == id {
			return q, true
		}
	}
	return report.Requirement{}, false
}

// IsUnknownName tells whether an error is about a name that no peer has.
func IsUnknownName(err error) bool { return errors.Is(err, ErrUnknownName) }
