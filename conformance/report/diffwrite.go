package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// parts are the parts of a difference in the order in which one wants to know.
func (d Difference) parts() []struct {
	title string
	list  []Change
} {
	return []struct {
		title string
		list  []Change
	}{
		{"newly broken", d.Broken},
		{"broken in other checks than before", d.Shifted},
		{"newly fixed", d.Fixed},
		{"newly applicable", d.Applicable},
		{"no longer applicable", d.Gone},
		{"no longer judged", d.Unjudged},
		{"judged again", d.Judged},
	}
}

// summary is the difference in a line.
func (d Difference) summary() string {
	var words []string
	for _, p := range d.parts() {
		if len(p.list) > 0 {
			words = append(words, fmt.Sprintf("%d %s", len(p.list), p.title))
		}
	}
	if len(words) == 0 {
		return fmt.Sprintf("nothing changed in %s", count(d.Same, "requirement", "requirements"))
	}
	return strings.Join(append(words, fmt.Sprintf("%d as before", d.Same)), ", ")
}

// shownChecks bounds the checks that are shown of one requirement.
const shownChecks = 5

// WriteText writes the difference for people.
func (d Difference) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, p := range []struct {
		word string
		of   Party
	}{{"before", d.Before}, {"after ", d.After}} {
		fmt.Fprintf(&b, "%s  %s  %s, edition %s, suite %s, %s\n", p.word, Printable(p.of.Name), Printable(p.of.Target),
			Printable(p.of.Edition), Printable(p.of.Suite), p.of.Started)
	}
	for _, note := range d.Notes {
		fmt.Fprintf(&b, "note    %s\n", Printable(note))
	}
	for _, p := range d.parts() {
		if len(p.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s (%d)\n", strings.ToUpper(p.title), len(p.list))
		for _, c := range p.list {
			fmt.Fprintf(&b, "   %s  %s  %s → %s  %s\n", Printable(c.ID), Printable(c.Level), shownVerdict(c.Before), shownVerdict(c.After), cut(Printable(c.Text), 160))
			for i, k := range c.Checks {
				if i == shownChecks {
					fmt.Fprintf(&b, "      and %d checks more\n", len(c.Checks)-i)
					break
				}
				fmt.Fprintf(&b, "      %s %s: %s → %s", Printable(k.Location), Printable(k.Name), shownVerdict(k.Before), shownVerdict(k.After))
				if k.Actual != "" {
					fmt.Fprintf(&b, "; %s", cut(Printable(k.Actual), 300))
				}
				b.WriteString("\n")
			}
		}
	}
	fmt.Fprintf(&b, "\n%s\n", d.summary())
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the difference: %w", err)
	}
	return nil
}

func shownVerdict[V ~string](v V) string {
	if v == "" {
		return "absent"
	}
	return string(v)
}

// WriteMarkdown writes the difference for a comment on a pull request.
func (d Difference) WriteMarkdown(w io.Writer) error {
	m := &markdown{}
	m.printf("## AXON conformance: what changed\n\n**%s.**\n\n", strings.ToUpper(d.summary()[:1])+d.summary()[1:])
	m.printf("| | report | target | edition | suite | made |\n|---|---|---|---|---|---|\n")
	for _, p := range []struct {
		word string
		of   Party
	}{{"before", d.Before}, {"after", d.After}} {
		m.printf("| %s | %s | %s | %s | %s | %s |\n", p.word, cellText(p.of.Name), cellText(p.of.Target), cellText(p.of.Edition), cellText(p.of.Suite), p.of.Started)
	}
	m.printf("\n")
	for _, note := range d.Notes {
		m.printf("- %s\n", plainText(note))
	}
	for i, p := range d.parts() {
		if len(p.list) == 0 {
			continue
		}
		var lines []string
		for _, c := range p.list {
			line := fmt.Sprintf("- **%s** (%s) %s → %s: %s", plainText(c.ID), plainText(c.Level), shownVerdict(c.Before), shownVerdict(c.After), sentenceText(cut(c.Text, markdownField)))
			for k, check := range c.Checks {
				if k == shownChecks {
					line += fmt.Sprintf("\n  - and %d checks more", len(c.Checks)-k)
					break
				}
				line += fmt.Sprintf("\n  - %s %s → %s", codeSpan(check.Location, 200), shownVerdict(check.Before), shownVerdict(check.After))
				if saw := codeSpan(check.Actual, 300); saw != "" {
					line += ": " + saw
				}
			}
			lines = append(lines, line)
		}
		title := strings.ToUpper(p.title[:1]) + p.title[1:]
		if i > 1 { // what is not broken is folded
			m.fold(fmt.Sprintf("%s (%d)", title, len(lines)), lines)
			continue
		}
		m.printf("\n### %s (%d)\n\n", title, len(lines))
		for k, line := range lines {
			if !m.add(line + "\n") {
				m.printf("- … and %d more\n", len(lines)-k)
				break
			}
		}
		m.printf("\n")
	}
	if _, err := io.WriteString(w, m.b.String()); err != nil {
		return fmt.Errorf("writing the difference: %w", err)
	}
	return nil
}

// WriteJSON writes the difference for programs.
func (d Difference) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(d); err != nil {
		return fmt.Errorf("writing the difference: %w", err)
	}
	return nil
}

// cellText is text of any origin in a cell of a table, which a bar would end.
func cellText(text string) string {
	return codeSpan(strings.ReplaceAll(text, "|", "/"), 200)
}
