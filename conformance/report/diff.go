package report

import (
	"slices"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
)

// Difference is what changed from one report to another.
type Difference struct {
	Before Party `json:"before"`
	After  Party `json:"after"`
	// Broken now and not before; Fixed the other way round.
	Broken []Change `json:"newly_broken"`
	Fixed  []Change `json:"newly_fixed"`
	// Shifted are broken in both, but not in the same checks.
	Shifted []Change `json:"broken_otherwise"`
	// Applicable were not applicable before, or not part of the report, and hold now.
	Applicable []Change `json:"newly_applicable"`
	// Gone were judged before and are not applicable now, or not part of the report.
	Gone []Change `json:"no_longer_applicable"`
	// Unjudged could not be judged now, Judged could not be before.
	Unjudged []Change `json:"no_longer_judged"`
	Judged   []Change `json:"judged_again"`
	// Same counts the requirements of which nothing of this can be said.
	Same int `json:"same"`
	// Notes say what makes the two hard to compare.
	Notes []string `json:"notes"`
}

// Party is one of the reports that are compared.
type Party struct {
	Name       string `json:"name"`
	Target     string `json:"target"`
	Edition    string `json:"edition"`
	Suite      string `json:"suite"`
	Started    string `json:"started"`
	Conformant bool   `json:"conformant"`
}

// Change is a requirement whose verdict, or whose failing checks, changed. A verdict
// is empty where the report does not have the requirement.
type Change struct {
	ID      string          `json:"id"`
	Level   string          `json:"level"`
	Section string          `json:"section"`
	Text    string          `json:"text"`
	Before  verdict.Verdict `json:"before"`
	After   verdict.Verdict `json:"after"`
	// Counts: it counts against the target in the later report, or did in the
	// earlier one.
	Counts bool `json:"counts"`
	// Checks are those that changed between broken and not broken.
	Checks []CheckChange `json:"checks"`
}

// CheckChange is a check that broke or was mended.
type CheckChange struct {
	Name     string          `json:"name"`
	Location string          `json:"location"`
	Before   verdict.Verdict `json:"before"`
	After    verdict.Verdict `json:"after"`
	// Actual is what was seen where it is broken.
	Actual string `json:"actual,omitempty"`
}

// Worse tells whether something that counts is newly broken.
func (d Difference) Worse() bool {
	return slices.ContainsFunc(d.Broken, func(c Change) bool { return c.Counts })
}

// PartyOf names a report for a comparison.
func PartyOf(name string, r Report) Party {
	target := r.Target.Address
	if own := strings.TrimSpace(r.Target.Name + " " + r.Target.Version); own != "" {
		target = own + " at " + target
	}
	return Party{Name: name, Target: target, Edition: r.Suite.Edition, Suite: r.Suite.Version,
		Started: r.Started.UTC().Format("2006-01-02 15:04 UTC"), Conformant: r.Conformant}
}

// Diff compares two reports requirement by requirement. Checks are told apart by
// file and name, since their lines move from one version of the suite to another.
func Diff(beforeName string, before Report, afterName string, after Report) Difference {
	d := Difference{Before: PartyOf(beforeName, before), After: PartyOf(afterName, after), Notes: []string{}}
	for _, list := range []*[]Change{&d.Broken, &d.Fixed, &d.Shifted, &d.Applicable, &d.Gone, &d.Unjudged, &d.Judged} {
		*list = []Change{}
	}
	if before.Suite.Edition != after.Suite.Edition {
		d.Notes = append(d.Notes, "the reports are about different editions of the text")
	}
	if !sameWords(before.Target.Capabilities, after.Target.Capabilities) {
		d.Notes = append(d.Notes, "the target offered other things to the suite: "+
			strings.Join(before.Target.Capabilities, ", ")+" before, "+strings.Join(after.Target.Capabilities, ", ")+" after")
	}
	if before.Shard != nil || after.Shard != nil {
		d.Notes = append(d.Notes, "at least one report is of a part of a run; merge the parts first")
	}
	older, seen := map[string]Requirement{}, map[string]bool{}
	for _, q := range before.Requirements {
		older[q.ID] = q
	}
	for _, q := range after.Requirements {
		seen[q.ID] = true
		d.add(before, after, older[q.ID], q)
	}
	for _, q := range before.Requirements {
		if !seen[q.ID] {
			d.add(before, after, q, Requirement{})
		}
	}
	return d
}

// bad: the verdict says that something is broken, whether it counts or not.
func bad(v verdict.Verdict) bool { return v == verdict.Fail || v == verdict.Warn }

// holds: the verdict says that something was looked at and nothing was broken.
func holds(v verdict.Verdict) bool { return v == verdict.Pass || v == verdict.Observed }

func absent(v verdict.Verdict) bool { return v == "" || v == verdict.NotApplicable }

func open(v verdict.Verdict) bool { return v == verdict.CouldNotRun || v == verdict.HarnessError }

// add sorts one requirement into the difference. One of the two may be missing.
func (d *Difference) add(before, after Report, older, newer Requirement) {
	shown := newer
	if shown.ID == "" {
		shown = older
	}
	c := Change{
		ID: shown.ID, Level: shown.Level, Section: shown.Section, Text: shown.Text, Before: older.Verdict, After: newer.Verdict,
		Counts: broken(before, older.Verdict) || broken(after, newer.Verdict), Checks: changedChecks(older, newer),
	}
	switch v, w := c.Before, c.After; {
	case bad(w) && !bad(v):
		d.Broken = append(d.Broken, c)
	case bad(v) && holds(w):
		d.Fixed = append(d.Fixed, c)
	case bad(v) && bad(w) && len(c.Checks) > 0:
		d.Shifted = append(d.Shifted, c)
	case absent(v) && holds(w):
		d.Applicable = append(d.Applicable, c)
	case !absent(v) && absent(w):
		d.Gone = append(d.Gone, c)
	case open(w) && !open(v):
		d.Unjudged = append(d.Unjudged, c)
	case open(v) && holds(w):
		d.Judged = append(d.Judged, c)
	default:
		d.Same++
	}
}

// changedChecks lists the checks that broke or were mended.
func changedChecks(older, newer Requirement) []CheckChange {
	changes := []CheckChange{}
	was := byName(older)
	now := byName(newer)
	for _, key := range now.keys {
		s, before := now.checks[key], was.checks[key]
		if bad(s.Verdict) != bad(before.Verdict) {
			c := CheckChange{Name: s.Name, Location: s.Location, Before: before.Verdict, After: s.Verdict}
			if c.Actual = s.Actual; bad(before.Verdict) {
				c.Actual = before.Actual
			}
			changes = append(changes, c)
		}
	}
	for _, key := range was.keys {
		if _, still := now.checks[key]; !still && bad(was.checks[key].Verdict) {
			s := was.checks[key]
			changes = append(changes, CheckChange{Name: s.Name, Location: s.Location, Before: s.Verdict, Actual: s.Actual})
		}
	}
	return changes
}

type checkKey struct {
	file, name string
	// nth tells checks of one name apart, by their order.
	nth int
}

type namedChecks struct {
	keys   []checkKey
	checks map[checkKey]Scenario
}

func byName(q Requirement) namedChecks {
	n := namedChecks{checks: map[checkKey]Scenario{}}
	for _, s := range q.Scenarios {
		file, _, _ := strings.Cut(s.Location, ":")
		key := checkKey{file: file, name: s.Name}
		for _, taken := n.checks[key]; taken; _, taken = n.checks[key] {
			key.nth++
		}
		n.keys = append(n.keys, key)
		n.checks[key] = s
	}
	return n
}
