package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/spec"
)

// fakeListed is what the fake engine would run.
func fakeListed() []suite.Listed {
	return []suite.Listed{
		{Name: "A request is answered", Location: "kinds.feature:3", IDs: []string{"AXON-KIND-002"}, Needs: []string{"wire"}, Levels: []string{"MUST"}},
		{Name: "The usual shape", Location: "payloads.feature:9", IDs: []string{"AXON-ERRPAY-001"}, Needs: []string{"wire"}, Levels: []string{"SHOULD"}},
	}
}

// fakeEngine behaves as the suite does, with an outcome of the test's choice.
func fakeEngine(outcome string) Engine {
	e := Engine{
		Run: func(ctx context.Context, o suite.Options) (report.Report, error) { return fakeRun(ctx, o, outcome) },
		List: func(_ fs.FS, s suite.Selection) ([]suite.Listed, error) {
			if s.Tags == "@nobody" {
				return nil, &suite.UsageError{Problem: "no scenario has the tags @nobody; axon-conformance list shows what there is"}
			}
			return fakeListed(), nil
		},
		Coverage: func(fs.FS) (Coverage, error) {
			c := Coverage{Text: "32 AXON-KIND-002 kinds.feature:3 no-answer\n"}
			if outcome == "hole" {
				c.Holes = []string{"line 33 has no requirement"}
			}
			return c, nil
		},
	}
	if outcome != "unwired" {
		e.SelfTest = func(_ context.Context, o SelfTestOptions) (SelfTestResult, error) {
			r := SelfTestResult{Text: fmt.Sprintf("mutants %q\n", o.Mutants), Rows: []string{"reply-twice"}}
			if o.Progress != nil {
				fmt.Fprintln(o.Progress, "1/1 reply-twice")
			}
			if outcome == "survivor" {
				r.Survivors = []string{"reply-twice was passed"}
			}
			return r, nil
		}
	}
	return e
}

func fakeRun(ctx context.Context, o suite.Options, outcome string) (report.Report, error) {
	second := verdict.Pass
	first := verdict.Pass
	reason := ""
	switch outcome {
	case "fail":
		first = verdict.Fail
	case "warn":
		second = verdict.Warn
	case "refused":
		first, second, reason = verdict.CouldNotRun, verdict.CouldNotRun, "the target refused the suite's key: admit "+o.Identity.PublicBase64()+", see "+o.IdentityHint
	case "fault":
		first = verdict.HarnessError
	case "usage":
		return report.Report{}, &suite.UsageError{Problem: "kinds.feature:3: this step is not known"}
	case "error":
		return report.Report{}, errors.New("a probe could not be made")
	case "panic":
		panic("as asked")
	case "interrupted":
		<-ctx.Done()
		second, reason = verdict.CouldNotRun, "interrupted"
	case "alive":
		// The bundled daemon is dead by now, or dies soon.
		for ctx.Err() == nil && (o.Alive == nil || o.Alive() == nil) {
			time.Sleep(time.Millisecond) // the process table has no channel
		}
		first, second, reason = verdict.CouldNotRun, verdict.CouldNotRun, o.Alive().Error()
	}
	r := report.Report{
		SchemaVersion: report.SchemaVersion,
		Suite:         report.Suite{Name: programName, Version: o.Version, Edition: spec.Edition},
		Target:        report.Target{Address: o.Address, KeySource: o.KeySource},
		Started:       time.Date(2026, 2, 16, 0, 0, 0, 0, time.UTC),
		Strict:        o.Strict,
		Notes:         []string{"rerun arguments: " + o.RerunArgs},
	}
	if dir := os.Getenv("SHOW_OPTIONS"); dir != "" {
		r.Notes = append(r.Notes, fmt.Sprintf("parallel %d repeat %d timeout %s handler %t key %t select %+v", o.Parallel, o.Repeat, o.Timeout, o.HasHandler, o.Key != nil, o.Select))
	}
	for i, l := range fakeListed() {
		v := []verdict.Verdict{first, second}[i]
		s := report.Scenario{Name: l.Name, Location: l.Location, Verdict: v, Reason: reason, DurationMS: 2}
		if v == verdict.Fail || v == verdict.Warn {
			s.Expected, s.Actual = "one answer", "there were two"
			if o.QLogDir != "" {
				s.QLog = filepath.Join(o.QLogDir, "a.sqlog")
			}
			s.Rerun = programName + " run " + o.RerunArgs + " --scenario " + l.Location
		}
		q, _ := spec.Lookup(l.IDs[0])
		if n := o.Select.Shards; n > 0 {
			if r.Shard = (&report.Shard{Index: o.Select.Shard, Of: n}); i%n != o.Select.Shard-1 {
				r.Requirements = append(r.Requirements, report.Requirement{ID: l.IDs[0], Level: l.Levels[0], Section: q.Section, Text: q.Text, Verdict: verdict.NotApplicable})
				continue
			}
		}
		r.Requirements = append(r.Requirements, report.Requirement{ID: l.IDs[0], Level: l.Levels[0], Section: q.Section, Text: q.Text,
			Verdict: v, Scenarios: []report.Scenario{s}})
		for n := range o.Repeat {
			if o.Progress != nil {
				o.Progress(suite.Progress{Done: i*o.Repeat + n + 1, Total: 2 * o.Repeat, Name: l.Name, Location: l.Location, IDs: l.IDs, Verdict: v, Reason: reason})
			}
		}
	}
	r.Total()
	return r, nil
}
