package report

import "github.com/axonproto/axon/conformance/verdict"

// Exit codes of a run.
const (
	ExitConformant   = 0 // every selected check ran, no MUST is broken but those of the baseline
	ExitBroken       = 1 // a MUST is broken (or a SHOULD, with strict), or the baseline does not hold
	ExitUsage        = 2 // the command line, the selection or a feature file is wrong
	ExitIncomplete   = 3 // something could not run, and nothing failed
	ExitHarnessError = 4 // the suite itself is at fault
)

// Total fills Summary, Conformant, Complete, ExitCode and the numbers of Baseline
// from Requirements, Strict and the problems of Baseline. A run in which no check
// passed, failed or was observed is incomplete: nothing happened, so nothing is
// shown. What a baseline expects breaks no run, but conformant it is not.
func (r *Report) Total() {
	r.Summary = Summary{}
	known, news := 0, 0
	broken, blocked, fault, seen := false, false, false, false
	for _, q := range r.Requirements {
		counts := &r.Summary.Advisory
		switch q.Level {
		case "MUST":
			counts = &r.Summary.Must
		case "SHOULD":
			counts = &r.Summary.Should
		}
		counts.Add(q.Verdict)
		// A requirement that failed may still hide a check that could not run.
		for _, s := range q.Scenarios {
			blocked = blocked || s.Verdict == verdict.CouldNotRun
			fault = fault || s.Verdict == verdict.HarnessError
			broken = broken || s.Verdict == verdict.Fail || r.Strict && s.Verdict == verdict.Warn
			seen = seen || s.Verdict == verdict.Pass || s.Verdict == verdict.Observed || s.Verdict == verdict.Warn || s.Verdict == verdict.Fail
		}
		blocked = blocked || q.Verdict == verdict.CouldNotRun
		fault = fault || q.Verdict == verdict.HarnessError
		broken = broken || q.Verdict == verdict.Fail
		switch r.news(q) {
		case newlyBroken:
			news++
		case knownBroken:
			known++
		}
	}
	r.Complete = !blocked && !fault && (seen || broken)
	r.Conformant = !broken && !fault && seen && !blocked
	unexpected := broken
	if r.Baseline != nil {
		r.Baseline.Known, r.Baseline.New = known, news
		unexpected = news > 0 || len(r.Baseline.Problems) > 0
	}
	switch {
	case fault:
		r.ExitCode = ExitHarnessError
	case unexpected:
		r.ExitCode = ExitBroken
	case !r.Complete:
		r.ExitCode = ExitIncomplete
	default:
		r.ExitCode = ExitConformant
	}
}

// What a requirement is with regard to the baseline.
const (
	newlyBroken = "new"
	knownBroken = "known"
)

// news tells whether a requirement that counts as broken was expected to be; empty
// for one that is not broken.
func (r *Report) news(q Requirement) string {
	if !broken(*r, q.Verdict) {
		return ""
	}
	found := false
	for _, s := range q.Scenarios {
		if !broken(*r, s.Verdict) {
			continue
		}
		if found = true; s.Known == nil {
			return newlyBroken
		}
	}
	if !found {
		return newlyBroken
	}
	return knownBroken
}
