package baseline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/spec"
)

// Check is one check that there is, whether a run selected it or not.
type Check struct {
	Name     string
	Location string // FILE:LINE
	IDs      []string
}

// Apply marks in a report what the list expects, adds the entries that do not hold
// any more, and totals it anew. all are the checks that there are, so that what
// this run did not select is not taken for something that is gone: an entry is said
// to pass only when every check that it speaks of has run. today is the day by which
// dates are judged, as a date in UTC.
func Apply(l List, r *report.Report, all []Check, today time.Time) {
	b := &report.Baseline{File: l.File, Problems: []report.BaselineProblem{}}
	results := index(r)
	for _, e := range l.Entries {
		problem := func(kind, format string, args ...any) {
			b.Problems = append(b.Problems, report.BaselineProblem{Kind: kind, Entry: e.name(), Line: e.Line, Text: fmt.Sprintf(format, args...)})
		}
		pairs := e.matches(all)
		if len(pairs) == 0 {
			problem(report.EntryUnknown, "%s", e.missing(all))
			continue
		}
		switch judged, broken := mark(e, pairs, results); {
		case e.outdated(today):
			problem(report.EntryOutdated, "%s was accepted until %s (%s); mend it, or give the entry another date", e.name(), e.Until, e.Reason)
		case broken:
		case judged:
			problem(report.EntryPasses, "%s is listed as broken (%s) and passes; remove the entry", e.name(), e.Reason)
		default:
			b.Unjudged++
		}
	}
	r.Baseline = b
	r.Total()
}

// place is a check under a requirement.
type place struct{ id, location string }

// index finds the results of a report.
func index(r *report.Report) map[place]*report.Scenario {
	found := map[place]*report.Scenario{}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		for k := range q.Scenarios {
			found[place{q.ID, q.Scenarios[k].Location}] = &q.Scenarios[k]
		}
	}
	return found
}

// matches lists what an entry speaks of.
func (e Entry) matches(all []Check) []place {
	var list []place
	for _, c := range all {
		if e.Scenario != "" && e.Scenario != c.Location && e.Scenario != c.reference() {
			continue
		}
		for _, id := range c.IDs {
			if e.Requirement == "" || e.Requirement == id {
				list = append(list, place{id, c.Location})
			}
		}
	}
	return list
}

// reference is "FILE: NAME".
func (c Check) reference() string {
	file, _, _ := strings.Cut(c.Location, ":")
	return file + ": " + strings.Join(strings.Fields(c.Name), " ")
}

// mark marks what is broken as the entry expects. judged: everything that it speaks
// of ran, and something of it says how the target does. What is not applicable says
// nothing.
func mark(e Entry, pairs []place, results map[place]*report.Scenario) (judged, broken bool) {
	complete, seen := true, false
	for _, p := range pairs {
		s := results[p]
		if s == nil {
			complete = false
			continue
		}
		switch s.Verdict {
		case verdict.Fail, verdict.Warn:
			broken = true
			if s.Known == nil {
				s.Known = &report.Known{Reason: e.Reason, Issue: e.Issue, Until: e.Until}
			}
		case verdict.Pass, verdict.Observed:
			seen = true
		case verdict.NotApplicable:
		default:
			complete = false
		}
	}
	return complete && seen, broken
}

func (e Entry) outdated(today time.Time) bool {
	return e.Until != "" && today.UTC().Format(time.DateOnly) > e.Until
}

// missing says what of an entry there is not, with the nearest that there is.
func (e Entry) missing(all []Check) string {
	if e.Requirement != "" {
		q, known := spec.Lookup(e.Requirement)
		switch {
		case known && q.Withdrawn:
			return fmt.Sprintf("the requirement %s is withdrawn; remove the entry", e.Requirement)
		case !known && !slices.ContainsFunc(all, func(c Check) bool { return slices.Contains(c.IDs, e.Requirement) }):
			return fmt.Sprintf("there is no requirement %s; correct the entry or remove it", e.Requirement)
		case e.Scenario == "":
			return fmt.Sprintf("no scenario checks %s, so nothing can be expected of it; remove the entry", e.Requirement)
		}
	}
	file, _, _ := strings.Cut(e.Scenario, ":")
	there := ""
	for _, c := range all {
		if name, _, _ := strings.Cut(c.Location, ":"); name != file {
			continue
		}
		there = "; there are others in " + file
		if e.Scenario == c.Location || e.Scenario == c.reference() {
			return fmt.Sprintf("the scenario %s does not serve %s; correct the entry or remove it", e.Scenario, e.Requirement)
		}
	}
	return fmt.Sprintf("there is no scenario %s%s, which `axon-conformance list` shows; correct the entry or remove it", e.Scenario, there)
}
