package report

import "fmt"

// knownFailure is a broken requirement that the baseline expects to be.
type knownFailure struct {
	Requirement Requirement
	// Reasons has each reason that its checks are listed with, once.
	Reasons []Known
	// Checks is the number of its broken checks.
	Checks int
}

// knownFailures lists what is broken and expected to be.
func knownFailures(r Report) []knownFailure {
	var list []knownFailure
	for _, q := range brokenRequirements(r) {
		if r.news(q) != knownBroken {
			continue
		}
		k := knownFailure{Requirement: q}
		seen := map[Known]bool{}
		for _, s := range q.Scenarios {
			if !broken(r, s.Verdict) || s.Known == nil {
				continue
			}
			k.Checks++
			if !seen[*s.Known] {
				seen[*s.Known] = true
				k.Reasons = append(k.Reasons, *s.Known)
			}
		}
		list = append(list, k)
	}
	return list
}

// String is the reason with its link and its date.
func (k Known) String() string {
	text := k.Reason
	if k.Issue != "" {
		text += " (" + k.Issue + ")"
	}
	if k.Until != "" {
		text += ", until " + k.Until
	}
	return text
}

// known writes what is broken as the baseline expects, with the reasons.
func (t *text) known(r Report) {
	list := knownFailures(r)
	if len(list) == 0 {
		return
	}
	t.heading(fmt.Sprintf("KNOWN TO BE BROKEN (%d, by %s)", len(list), Printable(r.Baseline.File)))
	for _, k := range list {
		t.printf("   %s  %s  %s\n", t.paint(yellow, k.Requirement.ID), k.Requirement.Level, count(k.Checks, "check", "checks"))
		for i, reason := range k.Reasons {
			if i == listedChecks && !t.o.Verbose {
				t.printf("      and %d reasons more; --verbose shows all\n", len(k.Reasons)-i)
				break
			}
			t.printf("      %s\n", t.wrap(reason.String(), 6))
		}
	}
}

// outdated writes the entries of the baseline that do not hold any more.
func (t *text) outdated(r Report) {
	if r.Baseline == nil {
		return
	}
	if n := len(r.Baseline.Problems); n > 0 && !t.o.Quiet {
		t.heading(fmt.Sprintf("BASELINE OUT OF DATE (%d)", n))
	}
	for _, p := range r.Baseline.Problems {
		line := fmt.Sprintf("%s:%d: %s", r.Baseline.File, p.Line, p.Text)
		if t.o.Quiet {
			t.printf("%s %s\n", t.paint(red, "baseline"), t.wrap(line, 4))
		} else {
			t.printf("   %s\n", t.wrap(line, 3))
		}
	}
	if n := r.Baseline.Unjudged; n > 0 && !t.o.Quiet {
		t.heading("BASELINE")
		t.printf("   this run says nothing about %s\n", count(n, "entry", "entries"))
	}
}
