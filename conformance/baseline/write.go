package baseline

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/verdict"
)

// Make lists what is broken in a report: a requirement whose checks are all broken
// as one entry, and of other requirements each broken check. Reasons, links and
// dates are taken over from an older list where it names the same; other reasons are
// empty, for people to fill in.
func Make(r report.Report, older List) List {
	l := List{Edition: r.Suite.Edition}
	covered := map[string]bool{}
	broken := func(s report.Scenario) bool { return s.Verdict == verdict.Fail || s.Verdict == verdict.Warn }
	add := func(e Entry) {
		if covered[e.name()] {
			return
		}
		covered[e.name()] = true
		for _, o := range older.Entries {
			if o.name() == e.name() {
				e.Reason, e.Issue, e.Until = o.Reason, o.Issue, o.Until
			}
		}
		l.Entries = append(l.Entries, e)
	}
	kept := map[place]bool{}
	results := index(&r)
	// What the older list names stays named so, as long as it is broken.
	for _, e := range older.Entries {
		for p, s := range results {
			c := Check{Name: s.Name, Location: s.Location, IDs: []string{p.id}}
			if broken(*s) && len(e.matches([]Check{c})) > 0 {
				kept[p] = true
				add(Entry{Requirement: e.Requirement, Scenario: e.Scenario})
			}
		}
	}
	for _, q := range r.Requirements {
		bad, good := 0, 0
		for _, s := range q.Scenarios {
			switch {
			case broken(s) && !kept[place{q.ID, s.Location}]:
				bad++
			case s.Verdict != verdict.NotApplicable:
				good++
			}
		}
		if bad > 0 && good == 0 {
			add(Entry{Requirement: q.ID})
			continue
		}
		for _, s := range q.Scenarios {
			if broken(s) && !kept[place{q.ID, s.Location}] {
				add(Entry{Scenario: Check{Name: s.Name, Location: s.Location}.reference()})
			}
		}
	}
	return l
}

const heading = `# What is known to be broken, for axon-conformance run --baseline.
#
# An entry names a requirement by its id, or a scenario as "FILE: NAME" or FILE:LINE.
# Each needs a reason; issue (a link) and until (the last day, YYYY-MM-DD) are
# optional. An entry that passes, names nothing, or is past its date fails the run.
`

// Write writes a list as a file that Parse reads once every reason is filled in.
// What was seen stands beside each entry as a comment.
func Write(w io.Writer, l List, r report.Report) error {
	var b strings.Builder
	b.WriteString(heading)
	fmt.Fprintf(&b, "edition: %s\n", l.Edition)
	if len(l.Entries) == 0 {
		b.WriteString("expected: []\n")
	} else {
		b.WriteString("expected:\n")
	}
	for _, e := range l.Entries {
		if saw := e.seen(r); saw != "" {
			fmt.Fprintf(&b, "  # %s\n", saw)
		}
		mark := "- "
		for _, m := range [][2]string{{"requirement", e.Requirement}, {"scenario", e.Scenario}, {"reason", e.Reason}, {"issue", e.Issue}, {"until", e.Until}} {
			name, value := m[0], m[1]
			switch {
			case value != "":
				fmt.Fprintf(&b, "  %s%s\n", mark, member(name, value))
			case name == "reason":
				fmt.Fprintf(&b, "  %sreason: \"\" # fill in: why is this accepted?\n", mark)
			default:
				continue
			}
			mark = "  "
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the baseline: %w", err)
	}
	return nil
}

// member writes a member of an entry: as the library does where its own reader takes
// that for the same text again, and otherwise in quotes, on one line.
func member(name, value string) string {
	value = strings.ToValidUTF8(value, "\uFFFD")
	text, err := yaml.MarshalWithOptions(map[string]string{name: value}, yaml.UseSingleQuote(false))
	// A value of several lines is indented like its member.
	line := strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n    ")
	odd := strings.ContainsFunc(line, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
	if err != nil || odd || !readAs(line, name, value) {
		line = name + ": " + strconv.Quote(value)
	}
	return line
}

// readAs tells whether a member of an entry is read as a text.
func readAs(line, name, value string) (same bool) {
	defer func() {
		if recover() != nil {
			same = false // the library has panics
		}
	}()
	var list []map[string]any
	err := yaml.Unmarshal([]byte("  - "+line+"\n    next: x\n"), &list)
	return err == nil && len(list) == 1 && list[0][name] == value
}

// Unfilled counts the entries that still need a reason.
func (l List) Unfilled() int {
	n := 0
	for _, e := range l.Entries {
		if e.Reason == "" {
			n++
		}
	}
	return n
}

// seen is what the first broken check of an entry saw, on one line.
func (e Entry) seen(r report.Report) string {
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			if s.Verdict != verdict.Fail && s.Verdict != verdict.Warn {
				continue
			}
			c := Check{Name: s.Name, Location: s.Location, IDs: []string{q.ID}}
			if len(e.matches([]Check{c})) > 0 {
				text := []rune(report.Printable(s.Actual))
				if len(text) > 150 {
					text = append(slices.Clone(text[:150]), '…')
				}
				return strings.TrimSpace(string(text))
			}
		}
	}
	return ""
}
