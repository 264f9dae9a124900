package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	_ "embed" // the page

	"github.com/axonproto/axon/conformance/verdict"
)

// MatrixEntry is one implementation in a matrix: its report, and what to call it.
type MatrixEntry struct {
	Name   string
	Report Report
}

// Matrix is several implementations side by side.
type Matrix struct {
	Columns []MatrixColumn
	Rows    []MatrixRow
	Notes   []string
}

// MatrixColumn is one implementation.
type MatrixColumn struct {
	Party
	Word string
	Tone string
	// Must and Should are how many hold of those that apply: "71/71".
	Must, Should string
}

// MatrixRow is one requirement; Verdicts has one for each column, empty where the
// report does not have it.
type MatrixRow struct {
	ID, Level, Section, Title, Text string
	Verdicts                        []verdict.Verdict
	// Same: all columns have the same verdict.
	Same bool
}

// NewMatrix puts reports side by side, requirements in the order in which they come
// first.
func NewMatrix(entries []MatrixEntry) Matrix {
	m := Matrix{Notes: []string{}}
	at := map[string]int{}
	for column, e := range entries {
		j := judge(e.Report)
		m.Columns = append(m.Columns, MatrixColumn{Party: PartyOf(e.Name, e.Report), Word: j.word, Tone: j.tone,
			Must: held(e.Report.Summary.Must), Should: held(e.Report.Summary.Should)})
		if e.Report.Suite.Edition != entries[0].Report.Suite.Edition {
			m.Notes = append(m.Notes, fmt.Sprintf("%s was judged by edition %s, %s by %s", e.Name, e.Report.Suite.Edition, entries[0].Name, entries[0].Report.Suite.Edition))
		}
		if e.Report.Suite.Version != entries[0].Report.Suite.Version {
			m.Notes = append(m.Notes, fmt.Sprintf("%s was judged by suite %s, %s by %s", e.Name, e.Report.Suite.Version, entries[0].Name, entries[0].Report.Suite.Version))
		}
		if s := e.Report.Shard; s != nil {
			m.Notes = append(m.Notes, fmt.Sprintf("%s is part %d/%d of a run; merge the parts first", e.Name, s.Index, s.Of))
		}
		for _, q := range e.Report.Requirements {
			row, known := at[q.ID]
			if !known {
				row = len(m.Rows)
				at[q.ID] = row
				title := q.SectionTitle
				if title == "" {
					title = q.Section
				}
				m.Rows = append(m.Rows, MatrixRow{ID: q.ID, Level: q.Level, Section: q.Section, Title: title, Text: q.Text, Verdicts: make([]verdict.Verdict, len(entries))})
			}
			m.Rows[row].Verdicts[column] = q.Verdict
		}
	}
	// A section that a later report adds to stays together.
	order := map[string]int{}
	for _, r := range m.Rows {
		if _, known := order[r.Section]; !known {
			order[r.Section] = len(order)
		}
	}
	slices.SortStableFunc(m.Rows, func(a, b MatrixRow) int { return order[a.Section] - order[b.Section] })
	for i := range m.Rows {
		v := m.Rows[i].Verdicts
		m.Rows[i].Same = !slices.ContainsFunc(v, func(w verdict.Verdict) bool { return w != v[0] })
	}
	return m
}

// held says how many requirements hold of those that apply.
func held(c Counts) string { return fmt.Sprintf("%d/%d", c.Pass, c.Sum()-c.NotApplicable) }

// shortVerdict is a verdict in a narrow cell.
func shortVerdict(v verdict.Verdict) string {
	switch v {
	case verdict.Pass:
		return "pass"
	case verdict.Fail:
		return "FAIL"
	case verdict.Warn:
		return "warn"
	case verdict.Observed:
		return "seen"
	case verdict.NotApplicable:
		return "–"
	case verdict.CouldNotRun:
		return "?"
	case verdict.HarnessError:
		return "fault"
	}
	return ""
}

const matrixLegend = "pass, FAIL (a MUST is broken), warn (a SHOULD is), seen (ADVISORY), – (not applicable), ? (could not run), fault (of the suite), empty (not part of the report)"

// WriteText writes the matrix for people.
func (m Matrix) WriteText(w io.Writer) error {
	var b strings.Builder
	wide := len("conformant")
	for _, c := range m.Columns {
		wide = max(wide, min(len([]rune(Printable(c.Name))), 24), len([]rune(c.Word)))
	}
	first := len("AXON-DEFERR-000") + 2
	for _, r := range m.Rows {
		first = max(first, len([]rune(r.ID))+2)
	}
	line := func(title, level string, cell func(i int) string) {
		fmt.Fprintf(&b, "%-*s%-9s", first, title, level)
		for i := range m.Columns {
			fmt.Fprintf(&b, "  %-*s", wide, narrow(cell(i), wide))
		}
		b.WriteString("\n")
	}
	line("", "", func(i int) string { return Printable(m.Columns[i].Name) })
	line("verdict", "", func(i int) string { return m.Columns[i].Word })
	line("MUST", "", func(i int) string { return m.Columns[i].Must })
	line("SHOULD", "", func(i int) string { return m.Columns[i].Should })
	section := ""
	for _, r := range m.Rows {
		if r.Section != section {
			section = r.Section
			fmt.Fprintf(&b, "\n%s\n", Printable(r.Title))
		}
		line(Printable(r.ID), Printable(r.Level), func(i int) string { return shortVerdict(r.Verdicts[i]) })
	}
	fmt.Fprintf(&b, "\n%s\n", matrixLegend)
	for _, note := range m.Notes {
		fmt.Fprintf(&b, "note: %s\n", Printable(note))
	}
	var lines []string
	for l := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(l, " \n"))
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("writing the matrix: %w", err)
	}
	return nil
}

// narrow cuts a text to a column.
func narrow(s string, wide int) string {
	if letters := []rune(s); len(letters) > wide {
		return string(letters[:wide-1]) + "…"
	}
	return s
}

// WriteMarkdown writes the matrix as tables.
func (m Matrix) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("## AXON conformance, side by side\n\n")
	row := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	columns := func(cell func(MatrixColumn) string) (cells []string) {
		for _, c := range m.Columns {
			cells = append(cells, cell(c))
		}
		return cells
	}
	row(append([]string{""}, columns(func(c MatrixColumn) string { return cellText(c.Name) })...)...)
	row(append([]string{"---"}, columns(func(MatrixColumn) string { return ":-:" })...)...)
	row(append([]string{"target"}, columns(func(c MatrixColumn) string { return cellText(c.Target) })...)...)
	row(append([]string{"verdict"}, columns(func(c MatrixColumn) string { return c.Word })...)...)
	row(append([]string{"MUST"}, columns(func(c MatrixColumn) string { return c.Must })...)...)
	row(append([]string{"SHOULD"}, columns(func(c MatrixColumn) string { return c.Should })...)...)
	section := ""
	for _, r := range m.Rows {
		if r.Section != section {
			section = r.Section
			fmt.Fprintf(&b, "\n### %s\n\n", plainText(r.Title))
			row(append([]string{"requirement", "level"}, columns(func(c MatrixColumn) string { return cellText(c.Name) })...)...)
			row(append([]string{"---", "---"}, columns(func(MatrixColumn) string { return ":-:" })...)...)
		}
		cells := []string{plainText(r.ID), plainText(r.Level)}
		for _, v := range r.Verdicts {
			cell := shortVerdict(v)
			if v == verdict.Fail || v == verdict.Warn {
				cell = "**" + cell + "**"
			}
			cells = append(cells, cell)
		}
		row(cells...)
	}
	fmt.Fprintf(&b, "\n%s\n", matrixLegend)
	for _, note := range m.Notes {
		fmt.Fprintf(&b, "\n- %s\n", plainText(note))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the matrix: %w", err)
	}
	return nil
}

//go:embed assets/matrix.html.tmpl
var matrixText string

var matrixTemplate = template.Must(template.New("matrix").Funcs(template.FuncMap{
	"sentence": codeSpans, "printable": Printable, "short": shortVerdict,
}).Parse(matrixText))

// WriteHTML writes the matrix as one page that holds all that it needs, without any
// script.
func (m Matrix) WriteHTML(w io.Writer) error {
	type section struct {
		Title string
		Rows  []MatrixRow
	}
	var sections []*section
	last := ""
	for _, r := range m.Rows {
		if len(sections) == 0 || r.Section != last {
			last = r.Section
			sections = append(sections, &section{Title: r.Title})
		}
		s := sections[len(sections)-1]
		s.Rows = append(s.Rows, r)
	}
	var b bytes.Buffer
	err := matrixTemplate.Execute(&b, struct {
		Matrix
		Style    template.CSS
		Policy   string
		Sections []*section
		Wide     int
	}{m, template.CSS(pageStyle), policy(), sections, len(m.Columns) + 1})
	if err != nil {
		return fmt.Errorf("making the matrix: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the matrix: %w", err)
	}
	return nil
}
