package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
)

// TextOptions says how WriteText writes; the zero value is plain text, 100
// characters wide.
type TextOptions struct {
	// Colour uses terminal colours.
	Colour bool
	// Verbose shows every failing check in full, whole transcripts, and what was
	// observed and what was not applicable.
	Verbose bool
	// Quiet writes one line for each requirement that is broken or could not be
	// judged, and the closing lines. It wins over Verbose.
	Quiet bool
	// Width is where sentences are broken, in characters; 0 means 100. Values
	// below 40 count as 40.
	Width int
}

// Bounds of what is shown of a failure unless Verbose is set.
const (
	fullChecks      = 2  // failing checks of one requirement shown in full
	listedChecks    = 10 // further ones shown as a line
	transcriptHead  = 8  // events from the start of a transcript
	transcriptTail  = 16 // events from its end
	groupedExamples = 12 // requirement ids named in a group
)

// WriteText writes the report for people: what is broken first and in full, then
// what could not run and the warnings, then the totals, and last what it means.
func WriteText(w io.Writer, r Report, o TextOptions) error {
	t := &text{o: o, width: o.Width}
	if t.width == 0 {
		t.width = 100
	}
	t.width = max(t.width, 40)
	if o.Quiet {
		t.short(r)
	} else {
		t.head(r)
		t.failures(r)
		t.known(r)
		t.outdated(r)
		t.grouped(r)
		t.warnings(r)
		t.observed(r)
		t.notApplicable(r)
		t.summary(r)
		t.notes(r)
	}
	t.closing(r)
	if _, err := io.WriteString(w, t.b.String()); err != nil {
		return fmt.Errorf("writing the text report: %w", err)
	}
	return nil
}

type text struct {
	o     TextOptions
	width int
	b     strings.Builder
}

func (t *text) printf(format string, args ...any) { fmt.Fprintf(&t.b, format, args...) }

// Terminal colours by verdict.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	grey   = "\x1b[90m"
)

func (t *text) paint(colour, s string) string {
	if !t.o.Colour || s == "" {
		return s
	}
	return colour + s + "\x1b[0m"
}

func colourOf(v verdict.Verdict) string {
	switch v {
	case verdict.Pass:
		return green
	case verdict.Fail, verdict.HarnessError:
		return red
	case verdict.Warn, verdict.CouldNotRun:
		return yellow
	default:
		return grey
	}
}

// heading starts a part of the report.
func (t *text) heading(s string) { t.printf("\n%s\n", t.paint(bold, s)) }

// field writes a word and its text, broken and indented below the text's start.
func (t *text) field(word, value string) {
	if value == "" {
		return
	}
	t.printf("   %-11s%s\n", word, t.wrap(value, 14))
}

func (t *text) wrap(s string, indent int) string { return Wrap(s, t.width, indent) }

// Wrap breaks s at spaces so that lines which start at column indent end before
// the width. Words longer than a line stay whole; line ends in s are kept, and what
// cannot be printed is escaped.
func Wrap(s string, width, indent int) string {
	room := max(width-indent, 20)
	var lines []string
	for _, part := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		part = cut(Printable(strings.ReplaceAll(part, "\t", "  ")), 4096)
		line := ""
		for _, word := range strings.Split(part, " ") {
			switch {
			case line == "":
				line = word
			case len([]rune(line))+1+len([]rune(word)) > room:
				lines = append(lines, line)
				line = word
			default:
				line += " " + word
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}

func (t *text) head(r Report) {
	t.printf("%s, edition %s, suite %s\n", t.paint(bold, "AXON conformance"), r.Suite.Edition, Printable(r.Suite.Version))
	t.printf("target  %s", Printable(r.Target.Address))
	if r.Target.AgentID != "" {
		t.printf("  %s", Printable(r.Target.AgentID))
	}
	if r.Target.KeySource != "" {
		t.printf("  (key: %s)", Printable(r.Target.KeySource))
	}
	t.printf("\n")
	if r.Target.Name != "" {
		t.printf("is      %s\n", Printable(strings.TrimSpace(r.Target.Name+" "+r.Target.Version)))
	}
	if len(r.Target.Capabilities) > 0 {
		t.printf("offers  %s\n", Printable(strings.Join(r.Target.Capabilities, ", ")))
	}
}

func (t *text) notes(r Report) {
	if len(r.Notes) == 0 {
		return
	}
	t.heading("NOTES")
	for _, note := range r.Notes {
		t.printf("   %s\n", t.wrap(note, 3))
	}
}

// closing says in plain words what the report means, and what to look at first.
func (t *text) closing(r Report) {
	if !t.o.Quiet {
		t.printf("\n")
	}
	word, colour, meaning := conclusion(r)
	t.printf("%s: %s (exit %d)\n", t.paint(bold+colour, word), t.wrap(meaning, 0), r.ExitCode)
}

// conclusion is the verdict on the whole, in a word and in a sentence.
func conclusion(r Report) (word, colour, meaning string) {
	must, should := r.Summary.Must, r.Summary.Should
	all := must.plus(should).plus(r.Summary.Advisory)
	seconds := fmt.Sprintf("%.1f s", r.DurationMS/1000)
	if word, tone, text := expected(r); word != "" {
		colour = yellow
		if tone == "bad" {
			colour = red
		}
		if r.Baseline.New > 0 {
			if first := firstBroken(r); first != "" {
				text += "; look at " + first + " first"
			}
		}
		return strings.ToUpper(word), colour, text
	}
	switch r.ExitCode {
	case ExitConformant:
		var parts []string
		if must.Pass > 0 {
			parts = append(parts, fmt.Sprintf("every MUST that applies holds (%d)", must.Pass))
		}
		switch {
		case should.Warn > 0:
			parts = append(parts, count(should.Warn, "SHOULD is", "SHOULDs are")+" broken, which is allowed without --strict")
		case should.Pass > 0:
			parts = append(parts, fmt.Sprintf("every SHOULD that applies holds (%d)", should.Pass))
		}
		if len(parts) == 0 {
			parts = append(parts, "nothing that was checked is broken")
		}
		if all.NotApplicable > 0 {
			parts = append(parts, count(all.NotApplicable, "requirement is", "requirements are")+" not applicable (--verbose says why)")
		}
		meaning = strings.Join(parts, "; ")
		return "CONFORMANT", green, meaning + "; took " + seconds
	case ExitBroken:
		var parts []string
		if must.Fail > 0 {
			parts = append(parts, count(must.Fail, "MUST is", "MUSTs are")+" broken")
		}
		if r.Strict && should.Warn > 0 {
			parts = append(parts, count(should.Warn, "SHOULD is", "SHOULDs are")+" broken, which counts with --strict")
		}
		meaning = strings.Join(parts, ", and ")
		if all.CouldNotRun > 0 {
			meaning += fmt.Sprintf("; %d more could not be judged", all.CouldNotRun)
		}
		if first := firstBroken(r); first != "" {
			meaning += "; look at " + first + " first"
		}
		return "NOT CONFORMANT", red, meaning
	case ExitIncomplete:
		if all.CouldNotRun == 0 {
			return "INCOMPLETE", yellow, "no check that ran saw the target do anything, so nothing is shown either way"
		}
		return "INCOMPLETE", yellow, fmt.Sprintf("%s could not be judged, and none failed; remove the cause above and run again",
			count(all.CouldNotRun, "requirement", "requirements"))
	case ExitHarnessError:
		return "SUITE FAULT", red, fmt.Sprintf("the suite itself went wrong in %s, so nothing is shown about that; please report it with the JSON report",
			count(all.HarnessError, "requirement", "requirements"))
	default:
		return "UNKNOWN", red, "the report has an exit code that this program does not know"
	}
}

// firstBroken is the id of the requirement that a reader should fix first: the
// text's own order goes from what everything rests on to what rests on it.
func firstBroken(r Report) string {
	for _, worst := range []verdict.Verdict{verdict.Fail, verdict.Warn} {
		for _, q := range r.Requirements {
			if q.Verdict == worst && (r.Baseline == nil || r.news(q) == newlyBroken) {
				return q.ID
			}
		}
	}
	return ""
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
