package report

import (
	"fmt"

	"github.com/axonproto/axon/conformance/verdict"
)

// columns of the summary, from good to bad.
var columns = []struct {
	title   string
	verdict verdict.Verdict
}{
	{"pass", verdict.Pass},
	{"fail", verdict.Fail},
	{"warn", verdict.Warn},
	{"observed", verdict.Observed},
	{"not-applicable", verdict.NotApplicable},
	{"could-not-run", verdict.CouldNotRun},
	{"harness-error", verdict.HarnessError},
}

// summary writes the number of requirements by section and by level.
func (t *text) summary(r Report) {
	names, counts := sectionCounts(r)
	wide := len("all")
	for _, name := range names {
		wide = max(wide, len([]rune(name)))
	}
	wide = min(max(wide, len("ADVISORY")), 40)
	title := func(what string) {
		t.printf("%-*s", wide+3, "   "+what)
		for _, c := range columns {
			t.printf("  %*s", len(c.title), c.title)
		}
		t.printf("\n")
	}
	row := func(name string, c Counts) {
		t.printf("   %-*s", wide, cut(Printable(name), 60))
		for _, column := range columns {
			n := c.At(column.verdict)
			cell := fmt.Sprintf("%*s", len(column.title), "·")
			if n > 0 {
				cell = t.paint(colourOf(column.verdict), fmt.Sprintf("%*d", len(column.title), n))
			}
			t.printf("  %s", cell)
		}
		t.printf("\n")
	}
	t.heading("SUMMARY (requirements)")
	title("section")
	for _, name := range names {
		row(name, counts[name])
	}
	title("level")
	levels := []Counts{r.Summary.Must, r.Summary.Should, r.Summary.Advisory}
	for i, level := range Levels() {
		row(level, levels[i])
	}
	row("all", levels[0].plus(levels[1]).plus(levels[2]))
}

// short writes a line for each requirement that is broken or was not judged.
func (t *text) short(r Report) {
	for _, q := range r.Requirements {
		if !broken(r, q.Verdict) && q.Verdict != verdict.HarnessError || r.news(q) == knownBroken {
			continue
		}
		where := ""
		for _, s := range q.Scenarios {
			if s.Verdict == q.Verdict {
				where = fmt.Sprintf("%s: %s", s.Location, headline(&check{Scenario: s}))
				break
			}
		}
		t.printf("%s %s %s\n", t.paint(colourOf(q.Verdict), string(q.Verdict)), q.ID, t.wrap(cut(where, 400), 4))
	}
	t.outdated(r)
	for _, g := range groupBy(r, verdict.CouldNotRun) {
		t.printf("%s %s: %s\n", t.paint(yellow, string(verdict.CouldNotRun)), t.ids(g.ids), t.wrap(g.reason, 4))
	}
}
