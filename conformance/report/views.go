package report

import (
	"slices"

	"github.com/axonproto/axon/conformance/verdict"
)

// At gives the number of one verdict.
func (c Counts) At(v verdict.Verdict) int {
	switch v {
	case verdict.Pass:
		return c.Pass
	case verdict.Fail:
		return c.Fail
	case verdict.Warn:
		return c.Warn
	case verdict.Observed:
		return c.Observed
	case verdict.NotApplicable:
		return c.NotApplicable
	case verdict.CouldNotRun:
		return c.CouldNotRun
	default:
		return c.HarnessError
	}
}

// Sum is the number of requirements counted.
func (c Counts) Sum() int {
	sum := 0
	for _, v := range verdict.All() {
		sum += c.At(v)
	}
	return sum
}

// plus adds two counts.
func (c Counts) plus(d Counts) Counts {
	return Counts{
		Pass:          c.Pass + d.Pass,
		Fail:          c.Fail + d.Fail,
		Warn:          c.Warn + d.Warn,
		Observed:      c.Observed + d.Observed,
		NotApplicable: c.NotApplicable + d.NotApplicable,
		CouldNotRun:   c.CouldNotRun + d.CouldNotRun,
		HarnessError:  c.HarnessError + d.HarnessError,
	}
}

// sectionCounts counts requirements by section, in the order in which the
// sections come first.
func sectionCounts(r Report) (names []string, counts map[string]Counts) {
	counts = map[string]Counts{}
	for _, q := range r.Requirements {
		if !slices.Contains(names, q.Section) {
			names = append(names, q.Section)
		}
		c := counts[q.Section]
		c.Add(q.Verdict)
		counts[q.Section] = c
	}
	return names, counts
}

// check is one scenario with all the requirements that it stands under.
type check struct {
	Scenario
	section string
	ids     []string
	// verdicts has the verdict for each of ids.
	verdicts []verdict.Verdict
	// unexpected: it is broken for one of ids without the baseline expecting it.
	unexpected bool
}

// known: it is broken, and was expected to be wherever it is.
func (c *check) known() bool { return c.Known != nil && !c.unexpected }

// checks lists each scenario of the report once, in order. Its section is that
// of the first requirement; its verdict is the worst that it has anywhere, and
// the details are those of that place.
func checks(r Report) []*check {
	var list []*check
	seen := map[string]*check{}
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			c := seen[s.Location]
			if c == nil || s.Location == "" {
				c = &check{Scenario: s, section: q.Section}
				seen[s.Location] = c
				list = append(list, c)
			} else if verdict.Worst(c.Verdict, s.Verdict) != c.Verdict {
				c.Scenario = s
			}
			if (s.Verdict == verdict.Fail || s.Verdict == verdict.Warn && r.Strict) && s.Known == nil {
				c.unexpected = true
			}
			c.ids = append(c.ids, q.ID)
			c.verdicts = append(c.verdicts, s.Verdict)
		}
	}
	return list
}
