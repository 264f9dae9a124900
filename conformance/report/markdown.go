package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
)

// MaxMarkdown bounds a Markdown report, in bytes: a comment on GitHub holds 65,536
// characters.
const MaxMarkdown = 60000

// Bounds of single things in a Markdown report, in bytes.
const (
	markdownField      = 600
	markdownTranscript = 4000
)

// WriteMarkdown writes the report for a comment on a pull request: what is broken
// comes first, with its transcripts folded, then in folds what else there is to
// know. It is never longer than MaxMarkdown; what has no room is counted. What
// came from the target cannot form markup, links or mentions.
func WriteMarkdown(w io.Writer, r Report) error {
	m := &markdown{}
	m.head(r)
	m.causes(r)
	m.outdated(r)
	m.unjudged(r)
	m.known(r)
	m.warnings(r)
	m.sections(r)
	m.silent(r)
	m.notes(r)
	if _, err := io.WriteString(w, m.b.String()); err != nil {
		return fmt.Errorf("writing the Markdown report: %w", err)
	}
	return nil
}

type markdown struct{ b strings.Builder }

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.b, format, args...) }

// room tells whether a piece still fits, with some left for what has to follow.
func (m *markdown) room(piece string) bool { return m.b.Len()+len(piece) < MaxMarkdown-2000 }

// add writes a piece if it fits.
func (m *markdown) add(piece string) bool {
	if !m.room(piece) {
		return false
	}
	m.b.WriteString(piece)
	return true
}

func (m *markdown) head(r Report) {
	j := judge(r)
	m.printf("## AXON conformance: %s\n\n", strings.ToLower(j.word))
	m.printf("**%s:** %s.\n\n", j.word, j.sentence)
	if name := strings.TrimSpace(r.Target.Name + " " + r.Target.Version); name != "" {
		m.printf("%s · ", codeSpan(name, 200))
	}
	m.printf("Target %s · edition %s · suite %s · %s · took %s\n\n", codeSpan(r.Target.Address, 200), plainText(r.Suite.Edition),
		plainText(cut(r.Suite.Version, 100)), r.Started.UTC().Format("2006-01-02 15:04 UTC"), elapsed(r.DurationMS))
	counts := []Counts{r.Summary.Must, r.Summary.Should, r.Summary.Advisory}
	all := counts[0].plus(counts[1]).plus(counts[2])
	head, rule := "| level |", "|---|"
	for _, c := range columns {
		if all.At(c.verdict) > 0 {
			head += " " + c.title + " |"
			rule += "--:|"
		}
	}
	m.printf("%s\n%s\n", head, rule)
	for i, level := range Levels() {
		if counts[i].Sum() == 0 {
			continue
		}
		m.printf("| %s |", level)
		for _, c := range columns {
			if all.At(c.verdict) > 0 {
				m.printf(" %d |", counts[i].At(c.verdict))
			}
		}
		m.printf("\n")
	}
	m.printf("\n")
}

// causes writes what is broken, in the order in which to mend it: each in a line
// at least, and in full as long as there is room for the lines of the others.
func (m *markdown) causes(r Report) {
	list := causes(r)
	if len(list) == 0 {
		return
	}
	number, title := len(brokenRequirements(r)), "Broken"
	if r.Baseline != nil {
		number, title = r.Baseline.New, "Newly broken"
	}
	m.printf("### %s, in the order to mend (%d)\n\n", title, number)
	rest := 0
	for i, c := range list {
		rest += len(causeLine(i+1, c))
	}
	full := true
	for i, c := range list {
		line := causeLine(i+1, c)
		rest -= len(line)
		text := causeText(i+1, c)
		if full = full && m.b.Len()+len(text)+rest < MaxMarkdown-4000; full {
			m.b.WriteString(text)
		} else if !m.add(line) {
			m.printf("… and %s. The JSON and HTML reports have all.\n\n", count(len(list)-i, "more", "more"))
			return
		}
	}
}

func causeLine(number int, c cause) string {
	line := fmt.Sprintf("**%d. %s** (%s) %s", number, c.requirement.ID, c.requirement.Level, sentenceText(c.requirement.Text))
	if saw := codeSpan(c.check.Actual, 200); saw != "" {
		line += " Actual: " + saw
	}
	return line + "\n\n"
}

func causeText(number int, c cause) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%d. %s** (%s) %s\n\n", number, c.requirement.ID, c.requirement.Level, sentenceText(c.requirement.Text))
	item := func(word, text string) {
		if text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", word, text)
		}
	}
	item("expected", codeSpan(c.check.Expected, markdownField))
	item("actual", codeSpan(c.check.Actual, markdownField))
	if c.check.Reason != c.check.Actual {
		item("reason", codeSpan(c.check.Reason, markdownField))
	}
	item("usual cause", sentenceText(cut(c.requirement.Fix, markdownField)))
	item("also breaks", strings.Join(c.also, ", "))
	item("qlog", codeSpan(c.check.QLog, markdownField))
	if c.failing > 1 {
		item("checks", fmt.Sprintf("%d fail, the first of which is %s", c.failing, codeSpan(c.check.Location, 200)))
	}
	b.WriteString("\n")
	if c.check.Rerun == "" && len(c.check.Transcript) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "<details><summary>%s: transcript and command</summary>\n\n", summaryText(c.check.Name))
	if len(c.check.Transcript) > 0 {
		b.WriteString(fence("text", transcriptText(c.check.Transcript)))
	}
	if c.check.Rerun != "" {
		b.WriteString(fence("sh", Printable(c.check.Rerun)))
	}
	b.WriteString("</details>\n\n")
	return b.String()
}

// transcriptText is a transcript within its bound: the events in the middle go.
func transcriptText(events []Event) string {
	var lines []string
	for _, e := range events {
		lines = append(lines, strings.TrimLeft(e.Line(), " "))
	}
	size := func() (n int) {
		for _, l := range lines {
			n += len(l) + 1
		}
		return n
	}
	left := 0
	for size() > markdownTranscript && len(lines) > 4 {
		at := len(lines) / 2
		lines = slices.Delete(lines, at, at+1)
		left++
	}
	if left > 0 {
		lines = slices.Insert(lines, len(lines)/2, fmt.Sprintf("… %s left out …", count(left, "event", "events")))
	}
	return strings.Join(lines, "\n")
}

func (m *markdown) unjudged(r Report) {
	groups := unjudged(r)
	if len(groups) == 0 {
		return
	}
	m.printf("### Not judged\n\n")
	for i, g := range groups {
		ids := g.ids
		if len(ids) > groupedExamples {
			ids = append(slices.Clone(ids[:groupedExamples]), fmt.Sprintf("%d more", len(ids)-groupedExamples))
		}
		if !m.add(fmt.Sprintf("- **%s** %s (%s)\n", g.verdict, codeSpan(g.reason, markdownField), strings.Join(ids, ", "))) {
			m.printf("- … and %s\n", count(len(groups)-i, "more reason", "more reasons"))
			break
		}
	}
	m.printf("\n")
}

// outdated writes the entries of the baseline that do not hold any more.
func (m *markdown) outdated(r Report) {
	if r.Baseline == nil || len(r.Baseline.Problems) == 0 {
		return
	}
	m.printf("### Baseline out of date (%d)\n\n", len(r.Baseline.Problems))
	for i, p := range r.Baseline.Problems {
		if !m.add(fmt.Sprintf("- %s: %s\n", codeSpan(fmt.Sprintf("%s:%d", r.Baseline.File, p.Line), 200), codeSpan(p.Text, markdownField))) {
			m.printf("- … and %d more\n", len(r.Baseline.Problems)-i)
			break
		}
	}
	m.printf("\n")
}

// known writes what is broken as the baseline expects.
func (m *markdown) known(r Report) {
	list := knownFailures(r)
	var lines []string
	for _, k := range list {
		var reasons []string
		for _, reason := range k.Reasons {
			reasons = append(reasons, codeSpan(reason.String(), markdownField))
		}
		lines = append(lines, fmt.Sprintf("- **%s** %s", k.Requirement.ID, strings.Join(reasons, "; ")))
	}
	m.fold("Known to be broken: "+count(len(list), "requirement", "requirements"), lines)
}

// fold writes lines in a fold, as many as there is room for.
func (m *markdown) fold(title string, lines []string) {
	if len(lines) == 0 || !m.add("<details><summary>"+title+"</summary>\n\n") {
		return
	}
	for i, line := range lines {
		if !m.add(line + "\n") {
			m.printf("\n… and %d more\n", len(lines)-i)
			break
		}
	}
	m.printf("\n</details>\n\n")
}

func (m *markdown) warnings(r Report) {
	if r.Strict {
		return
	}
	var lines []string
	for _, q := range r.Requirements {
		if q.Verdict != verdict.Warn {
			continue
		}
		saw := ""
		for _, s := range q.Scenarios {
			if s.Verdict == verdict.Warn {
				saw = ": " + codeSpan(headline(&check{Scenario: s}), markdownField)
				break
			}
		}
		lines = append(lines, fmt.Sprintf("- **%s** %s%s", q.ID, strings.TrimSuffix(sentenceText(q.Text), "."), saw))
	}
	m.fold(fmt.Sprintf("Warnings: %s broken", count(len(lines), "SHOULD is", "SHOULDs are")), lines)
}

func (m *markdown) sections(r Report) {
	names, counts := sectionCounts(r)
	lines := []string{"| section | result |", "|---|---|"}
	for _, name := range names {
		var words []string
		for _, p := range parts(counts[name]) {
			words = append(words, fmt.Sprintf("%d %s", p.Count, p.Verdict))
		}
		lines = append(lines, fmt.Sprintf("| %s | %s |", plainText(name), strings.Join(words, ", ")))
	}
	if len(names) > 0 {
		m.fold("By section", lines)
	}
}

func (m *markdown) silent(r Report) {
	var lines []string
	for _, g := range groupBy(r, verdict.NotApplicable) {
		lines = append(lines, fmt.Sprintf("- %s: %s", codeSpan(g.reason, markdownField), strings.Join(g.ids, ", ")))
	}
	all := r.Summary.Must.plus(r.Summary.Should).plus(r.Summary.Advisory)
	m.fold("Not applicable: "+count(all.NotApplicable, "requirement", "requirements"), lines)
}

func (m *markdown) notes(r Report) {
	var lines []string
	for _, note := range r.Notes {
		lines = append(lines, "- "+codeSpan(note, markdownField))
	}
	m.fold("Notes", lines)
}
