package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
)

// broken tells whether a verdict makes a requirement broken in this report.
func broken(r Report, v verdict.Verdict) bool {
	return v == verdict.Fail || r.Strict && v == verdict.Warn
}

// failures writes each broken requirement with its failing checks in full. A
// check that stands under several requirements is shown under the first one.
func (t *text) failures(r Report) {
	list := brokenRequirements(r)
	title := "BROKEN"
	if r.Baseline != nil {
		list = slices.DeleteFunc(list, func(q Requirement) bool { return r.news(q) == knownBroken })
		title = "NEWLY BROKEN"
	}
	if len(list) == 0 {
		return
	}
	t.heading(fmt.Sprintf("%s (%d)", title, len(list)))
	if len(list) > 3 {
		for i, q := range list {
			t.printf("%2d. %s  %s\n", i+1, q.ID, cut(Printable(q.Text), max(t.width-24, 20)))
		}
	}
	shown := map[string]int{}
	for i, q := range list {
		t.broken(r, i+1, q, shown)
	}
}

func (t *text) broken(r Report, number int, q Requirement, shown map[string]int) {
	t.printf("\n%2d. %s\n", number, t.paint(bold+red, fmt.Sprintf("%s  %s  (%s)", q.ID, q.Level, Printable(q.Section))))
	t.printf("   %s\n", t.wrap(q.Text, 3))
	full, listed, failing := 0, 0, 0
	for _, s := range q.Scenarios {
		if !broken(r, s.Verdict) {
			continue
		}
		failing++
		if at, before := shown[s.Location]; before && s.Location != "" {
			t.field("check", fmt.Sprintf("%s %s: the same as in %d.", s.Location, s.Name, at))
			continue
		}
		if full < fullChecks || t.o.Verbose {
			shown[s.Location] = number
			full++
			t.check(s)
			continue
		}
		if listed < listedChecks {
			listed++
			t.field("also", fmt.Sprintf("%s %s: %s", s.Location, s.Name, cut(headline(&check{Scenario: s}), 200)))
		}
	}
	if rest := failing - full - listed; rest > 0 && listed == listedChecks {
		t.field("", fmt.Sprintf("and %d more; --verbose shows all", rest))
	}
}

// check writes one failing check.
func (t *text) check(s Scenario) {
	t.field("check", strings.TrimSpace(s.Location+" "+s.Name))
	t.field("expected", s.Expected)
	t.field("actual", s.Actual)
	if s.Reason != "" && s.Reason != s.Actual {
		t.field("reason", s.Reason)
	}
	t.transcript(s.Transcript)
	t.field("qlog", s.QLog)
	if s.Rerun != "" {
		// Never broken, so that it can be copied.
		t.printf("   %-11s%s\n", "run again", t.paint(bold, Printable(s.Rerun)))
	}
}

func (t *text) transcript(events []Event) {
	if len(events) == 0 {
		return
	}
	t.printf("   transcript\n")
	head, tail := len(events), len(events)
	if !t.o.Verbose && len(events) > transcriptHead+transcriptTail {
		head, tail = transcriptHead, len(events)-transcriptTail
	}
	for i, e := range events {
		switch {
		case i == head && head < tail:
			t.printf("      %s\n", t.paint(grey, fmt.Sprintf("… %d events more, in the JSON report and with --verbose …", tail-head)))
		case i > head && i < tail:
		default:
			t.printf("   %s\n", e.Line())
		}
	}
}

// group is a reason and what it kept from being judged.
type group struct {
	verdict verdict.Verdict
	reason  string
	ids     []string
	checks  map[string]bool
	rerun   string
}

// grouped writes what could not run and faults of the suite, once per reason.
func (t *text) grouped(r Report) {
	titles := map[verdict.Verdict]string{
		verdict.HarnessError: "FAULT OF THE SUITE",
		verdict.CouldNotRun:  "COULD NOT RUN",
	}
	for _, v := range []verdict.Verdict{verdict.HarnessError, verdict.CouldNotRun} {
		groups := groupBy(r, v)
		if len(groups) == 0 {
			continue
		}
		number := 0
		for _, g := range groups {
			number += len(g.checks)
		}
		t.heading(fmt.Sprintf("%s (%s)", titles[v], count(number, "check", "checks")))
		for _, g := range groups {
			t.printf("   %s\n", t.paint(colourOf(v), t.wrap(g.reason, 3)))
			t.printf("      %s of %s\n", count(len(g.checks), "check", "checks"), t.wrap(t.ids(g.ids), 6))
			if len(g.checks) == 1 && g.rerun != "" {
				t.printf("      run again  %s\n", Printable(g.rerun))
			}
		}
	}
}

// groupBy collects the checks of a verdict by their reason, in order.
func groupBy(r Report, v verdict.Verdict) []*group {
	var groups []*group
	index := map[string]*group{}
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			if s.Verdict != v {
				continue
			}
			reason := s.Reason
			if reason == "" {
				reason = cmp.Or(s.Actual, noReason)
			}
			g := index[reason]
			if g == nil {
				g = &group{verdict: v, reason: reason, checks: map[string]bool{}, rerun: s.Rerun}
				index[reason] = g
				groups = append(groups, g)
			}
			if !slices.Contains(g.ids, q.ID) {
				g.ids = append(g.ids, q.ID)
			}
			g.checks[s.Location+"\x00"+s.Name] = true
		}
		if len(q.Scenarios) == 0 && q.Verdict == v {
			reason := "no check of it has run"
			g := index[reason]
			if g == nil {
				g = &group{verdict: v, reason: reason, checks: map[string]bool{}}
				index[reason] = g
				groups = append(groups, g)
			}
			g.ids = append(g.ids, q.ID)
		}
	}
	return groups
}

// ids lists requirement ids, shortened unless Verbose.
func (t *text) ids(ids []string) string {
	if t.o.Verbose || len(ids) <= groupedExamples {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:groupedExamples], ", "), len(ids)-groupedExamples)
}

// warnings writes SHOULDs that are broken where that is no failure.
func (t *text) warnings(r Report) {
	if r.Strict {
		return
	}
	var list []Requirement
	for _, q := range r.Requirements {
		if q.Verdict == verdict.Warn {
			list = append(list, q)
		}
	}
	if len(list) == 0 {
		return
	}
	t.heading(fmt.Sprintf("WARNINGS (%d)", len(list)))
	for _, q := range list {
		t.printf("   %s\n", t.paint(yellow, fmt.Sprintf("%s  %s  (%s)", q.ID, q.Level, Printable(q.Section))))
		t.printf("   %s\n", t.wrap(q.Text, 3))
		shown := 0
		for _, s := range q.Scenarios {
			if s.Verdict != verdict.Warn {
				continue
			}
			if shown++; shown > 1 && !t.o.Verbose {
				continue
			}
			t.check(Scenario{Name: s.Name, Location: s.Location, Expected: s.Expected, Actual: s.Actual,
				Reason: s.Reason, Rerun: s.Rerun, Transcript: t.onlyVerbose(s.Transcript)})
		}
		if shown > 1 && !t.o.Verbose {
			t.field("", count(shown-1, "check more warns", "checks more warn")+" of it; --verbose shows all")
		}
	}
}

func (t *text) onlyVerbose(events []Event) []Event {
	if t.o.Verbose {
		return events
	}
	return nil
}

// observed writes what was seen of ADVISORY sentences, with Verbose.
func (t *text) observed(r Report) {
	if !t.o.Verbose {
		return
	}
	first := true
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			if s.Verdict != verdict.Observed {
				continue
			}
			if first {
				t.heading("OBSERVED (no judgement)")
				first = false
			}
			t.printf("   %s  %s\n", q.ID, t.wrap(s.Name+": "+cmp.Or(s.Reason, s.Actual, "nothing to report"), 6))
		}
	}
}

// notApplicable writes what the target does not offer, with Verbose.
func (t *text) notApplicable(r Report) {
	if !t.o.Verbose {
		return
	}
	groups := groupBy(r, verdict.NotApplicable)
	if len(groups) == 0 {
		return
	}
	t.heading("NOT APPLICABLE")
	for _, g := range groups {
		t.printf("   %s\n      %s\n", t.wrap(g.reason, 3), t.wrap(t.ids(g.ids), 6))
	}
}
