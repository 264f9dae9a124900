package report

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
)

// Bounds of a page. The transcripts of all checks share the room.
const (
	transcriptRoom = 560 << 10 // bytes over the whole page
	leastRoom      = 1 << 10   // for one check
	mostRoom       = 16 << 10
	firstCauses    = 5  // shown at the top
	fullPerRule    = 12 // checks of one requirement shown in full
	maxSteps       = 20
)

// pageView is what the page's template shows.
type pageView struct {
	Style  template.CSS
	Script template.JS
	Policy string

	Report   Report
	Word     string
	Tone     string
	Sentence string
	Scope    string
	When     string
	Took     string
	Levels   []levelView
	Causes   []causeView
	Known    []knownFailure
	Outdated []BaselineProblem
	News     []newsView // chips by baseline
	More     int        // broken requirements that Causes leaves out
	Unjudged []groupView
	Silent   []groupView // what is not applicable, by reason
	SilentN  int
	Sections []*sectionView
	Verdicts []chipView
	Total    int
}

type levelView struct {
	Name  string
	Total int
	Bars  []barView
	Parts []partView
}

// barView is a piece of a bar that is 100 wide.
type barView struct {
	Verdict  verdict.Verdict
	X, Width string
}

type partView struct {
	Verdict verdict.Verdict
	Count   int
}

type causeView struct {
	Requirement requirementView
	Check       Scenario
	Failing     int
	Also        []string
}

type groupView struct {
	Verdict verdict.Verdict
	Reason  string
	IDs     []string
	More    int
	Checks  int
}

type sectionView struct {
	Slug, Title  string
	Parts        []partView
	Requirements []requirementView
}

type requirementView struct {
	Requirement
	Seed   string
	Bad    []checkView // all but the passed ones, in full up to a bound
	Listed []checkView // further bad ones, a line each
	Good   []checkView
	Silent []groupView // not applicable ones, by reason
	Tally  string
	// News is new or known for what is broken, where there is a baseline.
	News string
}

type checkView struct {
	Scenario
	Anchor string
	// SameAs is the id of the requirement under which the check is shown in full.
	SameAs   string
	Sequence *sequence
	QLogLink string
	Took     string
}

type newsView struct {
	News  string
	Count int
}

type chipView struct {
	Verdict verdict.Verdict
	Count   int
}

// view makes everything that the page shows. link turns the path of a file into
// one that the page can refer to.
func view(r Report, link func(string) string) pageView {
	j := judge(r)
	v := pageView{
		Report: r, Word: j.word, Tone: j.tone, Sentence: j.sentence, Scope: j.scope,
		When: r.Started.UTC().Format("2 January 2006, 15:04 UTC"), Took: elapsed(r.DurationMS), Total: len(r.Requirements),
	}
	for i, counts := range []Counts{r.Summary.Must, r.Summary.Should, r.Summary.Advisory} {
		v.Levels = append(v.Levels, levelOf(Levels()[i], counts))
	}
	all := r.Summary.Must.plus(r.Summary.Should).plus(r.Summary.Advisory)
	for _, at := range slices.Backward(verdict.All()) {
		if n := all.At(at); n > 0 {
			v.Verdicts = append(v.Verdicts, chipView{at, n})
		}
	}
	b := &pageBuilder{report: r, link: link, shown: map[string]string{}, room: roomOf(r)}
	found := causes(r)
	for i, c := range found {
		if i == firstCauses {
			for _, rest := range found[i:] {
				v.More += 1 + len(rest.also)
			}
			break
		}
		v.Causes = append(v.Causes, causeView{
			Requirement: requirementView{Requirement: c.requirement}, Check: c.check, Failing: c.failing, Also: c.also,
		})
	}
	v.Known = knownFailures(r)
	if r.Baseline != nil {
		v.Outdated = r.Baseline.Problems
		for _, n := range []newsView{{newlyBroken, r.Baseline.New}, {knownBroken, r.Baseline.Known}} {
			if n.Count > 0 {
				v.News = append(v.News, n)
			}
		}
	}
	for _, g := range unjudged(r) {
		v.Unjudged = append(v.Unjudged, groupOf(g))
	}
	for _, g := range groupBy(r, verdict.NotApplicable) {
		v.Silent = append(v.Silent, groupOf(g))
	}
	v.SilentN = all.NotApplicable
	names, counts := sectionCounts(r)
	for _, name := range names {
		s := &sectionView{Slug: name, Title: name, Parts: parts(counts[name])}
		for _, q := range r.Requirements {
			if q.Section == name {
				if q.SectionTitle != "" {
					s.Title = q.SectionTitle
				}
				s.Requirements = append(s.Requirements, b.requirement(q))
			}
		}
		v.Sections = append(v.Sections, s)
	}
	return v
}

// roomOf is how many bytes of transcript each check may show.
func roomOf(r Report) int {
	places := map[string]bool{}
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			if len(s.Transcript) > 0 {
				places[s.Location] = true
			}
		}
	}
	return min(max(transcriptRoom/max(len(places), 1), leastRoom), mostRoom)
}

func levelOf(name string, c Counts) levelView {
	l := levelView{Name: name, Total: c.Sum(), Parts: parts(c)}
	x := 0.0
	for _, p := range l.Parts {
		width := 100 * float64(p.Count) / float64(max(l.Total, 1))
		l.Bars = append(l.Bars, barView{p.Verdict, strconv.FormatFloat(x, 'f', 2, 64), strconv.FormatFloat(width, 'f', 2, 64)})
		x += width
	}
	return l
}

// parts lists what was counted, what is broken first.
func parts(c Counts) []partView {
	var list []partView
	for _, at := range slices.Backward(verdict.All()) {
		if n := c.At(at); n > 0 {
			list = append(list, partView{at, n})
		}
	}
	return list
}

func groupOf(g *group) groupView {
	view := groupView{Verdict: g.verdict, Reason: g.reason, IDs: g.ids, Checks: len(g.checks)}
	if len(g.ids) > groupedExamples && g.verdict != verdict.NotApplicable {
		view.IDs, view.More = g.ids[:groupedExamples], len(g.ids)-groupedExamples
	}
	return view
}

// pageBuilder remembers which checks the page has shown in full already.
type pageBuilder struct {
	report Report
	link   func(string) string
	shown  map[string]string // location → requirement id
	room   int
}

func (b *pageBuilder) requirement(q Requirement) requirementView {
	v := requirementView{Requirement: q, Seed: ranges(q.SeedLines)}
	if b.report.Baseline != nil {
		v.News = b.report.news(q)
	}
	silent := map[string]int{}
	bad := 0
	for _, s := range q.Scenarios {
		switch s.Verdict {
		case verdict.Pass, verdict.Observed:
			v.Good = append(v.Good, checkView{Scenario: s, Took: elapsed(s.DurationMS)})
		case verdict.NotApplicable:
			at, known := silent[s.Reason]
			if !known {
				at = len(v.Silent)
				silent[s.Reason] = at
				v.Silent = append(v.Silent, groupView{Reason: s.Reason})
			}
			v.Silent[at].Checks++
		default:
			bad++
			if len(v.Bad) < fullPerRule {
				v.Bad = append(v.Bad, b.check(q, s))
			} else {
				v.Listed = append(v.Listed, checkView{Scenario: s, Took: elapsed(s.DurationMS)})
			}
		}
	}
	switch total := len(q.Scenarios); {
	case total == 0:
		v.Tally = "no check"
	case bad > 0 && bad < total:
		v.Tally = fmt.Sprintf("%d of %d checks", bad, total)
	default:
		v.Tally = count(total, "check", "checks")
	}
	return v
}

// check shows one in full, at the first requirement that it stands under.
func (b *pageBuilder) check(q Requirement, s Scenario) checkView {
	c := checkView{Scenario: s, Took: elapsed(s.DurationMS), Anchor: "check-" + q.ID + "-" + s.Location}
	if before, known := b.shown[s.Location]; known && s.Location != "" {
		c.SameAs = before
		return c
	}
	b.shown[s.Location] = q.ID
	c.QLogLink = b.link(s.QLog)
	if len(c.Steps) > maxSteps {
		c.Steps = append(slices.Clone(c.Steps[:maxSteps]), fmt.Sprintf("… and %d steps more", len(c.Steps)-maxSteps))
	}
	if len(s.Transcript) > 0 {
		drawn := draw(s.Transcript, b.room)
		c.Sequence = &drawn
	}
	c.Transcript = nil
	return c
}

// ranges writes line numbers in short: 32-33, 70.
func ranges(lines []int) string {
	var out []string
	for i := 0; i < len(lines); {
		k := i
		for k+1 < len(lines) && lines[k+1] == lines[k]+1 {
			k++
		}
		if k > i {
			out = append(out, fmt.Sprintf("%d–%d", lines[i], lines[k]))
		} else {
			out = append(out, strconv.Itoa(lines[i]))
		}
		i = k + 1
	}
	return strings.Join(out, ", ")
}
