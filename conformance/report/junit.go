package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	ms         float64
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	ClassName string       `xml:"classname,attr"`
	File      string       `xml:"file,attr,omitempty"`
	Line      string       `xml:"line,attr,omitempty"`
	Time      string       `xml:"time,attr"`
	Skipped   *junitNotice `xml:"skipped"`
	Failure   *junitNotice `xml:"failure"`
	Error     *junitNotice `xml:"error"`
	SystemOut string       `xml:"system-out,omitempty"`
}

type junitNotice struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// noReason stands where a reader of JUnit XML wants a message and there is none.
const noReason = "no reason is known"

// WriteJUnit writes the report as JUnit XML: a testsuite for each section of the
// spec and a testcase for each scenario, in the section of the first requirement
// that it serves; the name starts with the requirement ids. A broken MUST is a
// failure (with a strict report, a broken SHOULD too), what is not applicable is
// skipped, what could not run and a fault of the suite are errors. A broken
// SHOULD otherwise, and what was observed, stand in system-out. What the baseline
// expects to be broken is skipped with its reason, and each entry of the baseline
// that does not hold any more is a failure in a testsuite of its own.
func WriteJUnit(w io.Writer, r Report) error {
	all := junitSuites{Name: "AXON conformance, edition " + r.Suite.Edition, Time: seconds(r.DurationMS)}
	index := map[string]int{}
	for _, c := range checks(r) {
		at, known := index[c.section]
		if !known {
			at = len(all.Suites)
			index[c.section] = at
			all.Suites = append(all.Suites, junitSuite{
				Name:       c.section,
				Timestamp:  r.Started.UTC().Format("2006-01-02T15:04:05"),
				Properties: properties(r),
			})
		}
		s := &all.Suites[at]
		s.add(c, r.Strict)
	}
	all.outdated(r)
	for i := range all.Suites {
		s := &all.Suites[i]
		s.Time = seconds(s.ms)
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	return nil
}

func properties(r Report) []junitProperty {
	return []junitProperty{
		{"target.address", r.Target.Address},
		{"target.agent_id", r.Target.AgentID},
		{"target.key_source", r.Target.KeySource},
		{"suite.version", r.Suite.Version},
		{"suite.edition", r.Suite.Edition},
	}
}

func (s *junitSuite) add(c *check, strict bool) {
	ids := strings.Join(c.ids, " ")
	entry := junitCase{Name: ids + " " + c.Name, ClassName: "axon." + c.section, Time: seconds(c.DurationMS)}
	if at := strings.LastIndexByte(c.Location, ':'); at > 0 {
		entry.File = c.Location[:at]
		if line, err := strconv.ParseUint(c.Location[at+1:], 10, 32); err == nil {
			entry.Line = strconv.FormatUint(line, 10)
		}
		entry.Name += " (" + c.Location + ")"
	}
	s.Tests++
	s.ms += c.DurationMS
	switch {
	case c.Verdict == verdict.NotApplicable:
		s.Skipped++
		entry.Skipped = &junitNotice{Message: cmp.Or(c.Reason, noReason)}
	case c.known():
		s.Skipped++
		entry.Skipped = &junitNotice{Message: "known to be broken: " + c.Known.String()}
		entry.SystemOut = headline(c) + "\n" + details(c)
	case c.Verdict == verdict.Fail, c.Verdict == verdict.Warn && strict:
		s.Failures++
		entry.Failure = &junitNotice{Message: cmp.Or(headline(c), noReason), Type: string(c.Verdict), Text: details(c)}
	case c.Verdict == verdict.CouldNotRun, c.Verdict == verdict.HarnessError:
		s.Errors++
		entry.Error = &junitNotice{Message: cmp.Or(c.Reason, noReason), Type: string(c.Verdict), Text: details(c)}
	case c.Verdict == verdict.Warn, c.Verdict == verdict.Observed:
		entry.SystemOut = string(c.Verdict) + ": " + headline(c) + "\n" + details(c)
	}
	s.Cases = append(s.Cases, entry)
}

// outdated adds a failure for each entry of the baseline that does not hold.
func (all *junitSuites) outdated(r Report) {
	if r.Baseline == nil || len(r.Baseline.Problems) == 0 {
		return
	}
	s := junitSuite{Name: "baseline", Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"), Properties: properties(r)}
	for _, p := range r.Baseline.Problems {
		s.Tests++
		s.Failures++
		s.Cases = append(s.Cases, junitCase{
			Name: p.Entry, ClassName: "axon.baseline", File: r.Baseline.File, Line: strconv.Itoa(p.Line), Time: seconds(0),
			Failure: &junitNotice{Message: p.Text, Type: p.Kind, Text: p.Text},
		})
	}
	all.Suites = append(all.Suites, s)
}

// headline is the one line that says what is wrong.
func headline(c *check) string {
	switch {
	case c.Expected != "" && c.Actual != "":
		return "expected " + c.Expected + ", but " + c.Actual
	case c.Reason != "":
		return c.Reason
	default:
		return c.Actual
	}
}

func details(c *check) string {
	var b strings.Builder
	line := func(word, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", word, text)
		}
	}
	for i, id := range c.ids {
		line(id, string(c.verdicts[i]))
	}
	line("reason", c.Reason)
	line("expected", c.Expected)
	line("actual", c.Actual)
	line("run again", c.Rerun)
	line("qlog", c.QLog)
	if len(c.Transcript) > 0 {
		b.WriteString("transcript:\n")
		for _, e := range c.Transcript {
			b.WriteString("  " + e.Line() + "\n")
		}
	}
	return b.String()
}

func seconds(ms float64) string { return strconv.FormatFloat(ms/1000, 'f', 3, 64) }
