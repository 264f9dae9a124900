package report

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/axonproto/axon/conformance/verdict"
)

// cause is something to mend: a broken requirement with the check that shows it
// best, and the other requirements that probably break by the same fault.
type cause struct {
	requirement Requirement
	check       Scenario
	// failing is the number of its checks that fail.
	failing int
	// also are ids of requirements whose failing checks all fail here as well, or
	// saw the very same thing.
	also []string
}

var variable = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|[0-9]+`)

// alike is what a check saw, without the ids and numbers that differ each time.
func alike(s Scenario) string {
	return variable.ReplaceAllString(cmp.Or(s.Actual, s.Reason), "#")
}

// causes lists what is broken, and not known to the baseline, in the order in which
// to mend it: MUSTs first,
// among them what explains most, then in the order of the text. Requirements that
// an earlier cause explains are folded into it.
func causes(r Report) []cause {
	var list []cause
	places, sights := map[string]int{}, map[string]int{}
	for _, q := range brokenRequirements(r) {
		if r.news(q) == knownBroken {
			continue
		}
		var failing []Scenario
		// by is the cause that explains every failing check so far; -1: none does.
		by, first := -1, true
		for _, s := range q.Scenarios {
			if !broken(r, s.Verdict) || s.Known != nil {
				continue
			}
			failing = append(failing, s)
			at, known := places[s.Location]
			if !known || s.Location == "" {
				at, known = sights[alike(s)]
			}
			switch {
			case !known, !first && at != by:
				by = -1
			case first:
				by = at
			}
			first = false
		}
		if by >= 0 && list[by].requirement.Level == q.Level {
			list[by].also = append(list[by].also, q.ID)
			continue
		}
		c := cause{requirement: q, failing: len(failing)}
		if len(failing) > 0 {
			c.check = failing[0]
		}
		list = append(list, c)
		for _, s := range failing {
			claim(places, s.Location, len(list)-1)
			claim(sights, alike(s), len(list)-1)
		}
	}
	slices.SortStableFunc(list, func(a, b cause) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Levels(), a.requirement.Level), slices.Index(Levels(), b.requirement.Level)),
			cmp.Compare(len(b.also), len(a.also)))
	})
	return list
}

func claim(index map[string]int, key string, by int) {
	if _, taken := index[key]; !taken && key != "" {
		index[key] = by
	}
}

// brokenRequirements lists what is broken, MUSTs before the SHOULDs of a strict
// run, otherwise in the order of the text.
func brokenRequirements(r Report) []Requirement {
	var list []Requirement
	for _, q := range r.Requirements {
		if broken(r, q.Verdict) {
			list = append(list, q)
		}
	}
	slices.SortStableFunc(list, func(a, b Requirement) int {
		return cmp.Compare(slices.Index(Levels(), a.Level), slices.Index(Levels(), b.Level))
	})
	return list
}

// unjudged groups by reason what could not run and where the suite went wrong.
func unjudged(r Report) []*group {
	return append(groupBy(r, verdict.HarnessError), groupBy(r, verdict.CouldNotRun)...)
}
