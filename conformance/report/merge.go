package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
)

// ErrCannotMerge is wrapped by the errors of Merge.
var ErrCannotMerge = errors.New("the reports do not belong together")

// maxMergedReasons bounds how many parts' remarks on one check are joined.
const maxMergedReasons = 4

// Merge joins the reports of all parts of a run into what one run would have
// reported. order compares the places of two checks as one run orders them.
//
// A check of the whole run stands in each part, where it judged what that part saw:
// joined it has the worst verdict that it had, so it holds when it held in each part
// that saw something. What only the parts together would show, such as an id that
// two of them were sent, is not seen. What a baseline made of the parts is dropped:
// hold the joined report against it.
func Merge(parts []Report, order func(a, b string) int) (Report, error) {
	if err := sameRun(parts); err != nil {
		return Report{}, err
	}
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b Report) int { return cmp.Compare(a.Shard.Index, b.Shard.Index) })
	out := parts[0]
	out.Baseline, out.Shard, out.Notes, out.Requirements, out.DurationMS = nil, nil, nil, nil, 0
	agents := map[string]bool{}
	for _, p := range parts {
		if p.Started.Before(out.Started) {
			out.Started = p.Started
		}
		out.DurationMS += p.DurationMS
		for _, note := range p.Notes {
			if !slices.Contains(out.Notes, note) {
				out.Notes = append(out.Notes, note)
			}
		}
		// A part that never met its target does not know it.
		if out.Target.AgentID == "" {
			out.Target = p.Target
		}
		if p.Target.AgentID != "" {
			agents[p.Target.AgentID] = true
		}
	}
	if len(agents) > 1 && out.Target.KeySource != KeyBundled {
		out.Notes = append(out.Notes, fmt.Sprintf("the %d parts met %d targets with different keys; that they were the same program is taken on trust", len(parts), len(agents)))
	}
	for i := range parts[0].Requirements {
		q, err := mergeRequirement(parts, i, order)
		if err != nil {
			return Report{}, err
		}
		out.Requirements = append(out.Requirements, q)
	}
	out.Total()
	return filled(out), nil
}

// sameRun tells whether the reports are all parts of one run.
func sameRun(parts []Report) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrCannotMerge}, args...)...)
	}
	if len(parts) == 0 {
		return wrong("there is none; name the reports of all parts")
	}
	seen := map[int]bool{}
	first := parts[0]
	for i, p := range parts {
		if p.Shard == nil {
			return wrong("report %d is of a whole run; each part is made with run --shard I/N", i+1)
		}
		name := fmt.Sprintf("part %d/%d", p.Shard.Index, p.Shard.Of)
		switch {
		case p.Shard.Of != first.Shard.Of:
			return wrong("%s stands beside part %d/%d; take parts of one run", name, first.Shard.Index, first.Shard.Of)
		case p.Shard.Index < 1 || p.Shard.Index > p.Shard.Of:
			return wrong("%s cannot be; the report was changed by hand", name)
		case seen[p.Shard.Index]:
			return wrong("%s is there twice; name each report once", name)
		case p.Suite != first.Suite:
			return wrong("%s was made by suite %s for edition %s, and part %d/%d by %s for %s; run all parts with the same program",
				name, p.Suite.Version, p.Suite.Edition, first.Shard.Index, first.Shard.Of, first.Suite.Version, first.Suite.Edition)
		case p.Strict != first.Strict:
			return wrong("only some parts were run with --strict; run all in the same way")
		case !sameWords(p.Target.Capabilities, first.Target.Capabilities):
			return wrong("%s had %s of the target, and part %d/%d %s; run all parts in the same way", name,
				strings.Join(p.Target.Capabilities, ", "), first.Shard.Index, first.Shard.Of, strings.Join(first.Target.Capabilities, ", "))
		case !slices.EqualFunc(p.Requirements, first.Requirements, func(a, b Requirement) bool { return a.ID == b.ID && a.Level == b.Level }):
			return wrong("%s is about other requirements than part %d/%d; run all parts with the same selection", name, first.Shard.Index, first.Shard.Of)
		}
		seen[p.Shard.Index] = true
	}
	var missing []string
	for i := 1; i <= first.Shard.Of; i++ {
		if !seen[i] {
			missing = append(missing, fmt.Sprintf("%d/%d", i, first.Shard.Of))
		}
	}
	if len(missing) > 0 {
		return wrong("part %s is missing; name the reports of all parts", strings.Join(missing, ", "))
	}
	return nil
}

func sameWords(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// mergeRequirement joins what the parts say about their i-th requirement.
func mergeRequirement(parts []Report, i int, order func(a, b string) int) (Requirement, error) {
	q := parts[0].Requirements[i]
	q.Scenarios = nil
	at := map[string]int{}
	var reasons [][]string
	for _, p := range parts {
		for _, s := range p.Requirements[i].Scenarios {
			s.Known = nil
			index, known := at[s.Location]
			if !known {
				at[s.Location] = len(q.Scenarios)
				q.Scenarios = append(q.Scenarios, s)
				reasons = append(reasons, []string{s.Reason})
				continue
			}
			if !s.WholeRun {
				return Requirement{}, fmt.Errorf("%w: the check %s stands in more than one part; run all parts with the same selection", ErrCannotMerge, s.Location)
			}
			kept := &q.Scenarios[index]
			took := kept.DurationMS + s.DurationMS
			switch {
			case verdict.Worst(kept.Verdict, s.Verdict) != kept.Verdict:
				*kept, reasons[index] = s, []string{s.Reason}
			case kept.Verdict == s.Verdict && !slices.Contains(reasons[index], s.Reason):
				reasons[index] = append(reasons[index], s.Reason)
			}
			kept.DurationMS = took
		}
	}
	var all []verdict.Verdict
	for k := range q.Scenarios {
		s := &q.Scenarios[k]
		// Of several parts that failed, one says enough.
		if said := reasons[k]; len(said) > 1 && (s.Verdict == verdict.Pass || s.Verdict == verdict.Observed) {
			said = slices.DeleteFunc(said, func(text string) bool { return text == "" })
			if len(said) > maxMergedReasons {
				said = append(slices.Clone(said[:maxMergedReasons]), "…")
			}
			s.Reason = strings.Join(said, "; ")
		}
		all = append(all, s.Verdict)
	}
	slices.SortStableFunc(q.Scenarios, func(a, b Scenario) int { return order(a.Location, b.Location) })
	q.Verdict = verdict.Worst(all...)
	return q, nil
}
