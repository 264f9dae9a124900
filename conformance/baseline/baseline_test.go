package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/schemas"
)

var today = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// checks are those that there are in these tests.
func checks() []Check {
	return []Check{
		{"A reply carries  its id", "ref.feature:3", []string{"AXON-REF-005", "AXON-ENV-011"}},
		{"Another reply", "ref.feature:9", []string{"AXON-REF-005"}},
		{"Nothing else", "envelope.feature:20", []string{"AXON-ENV-002"}},
		{"Handled", "deferr.feature:5", []string{"AXON-DEFERR-007"}},
	}
}

// result makes a report of verdicts by location.
func result(verdicts map[string]verdict.Verdict) report.Report {
	r := report.Report{SchemaVersion: 1, Suite: report.Suite{Edition: "2026-02-16"}}
	for _, id := range []string{"AXON-REF-005", "AXON-ENV-011", "AXON-ENV-002", "AXON-DEFERR-007"} {
		q := report.Requirement{ID: id, Level: "MUST", Section: "s", Text: "T."}
		var all []verdict.Verdict
		for _, c := range checks() {
			v, ran := verdicts[c.Location]
			if !ran || !contains(c.IDs, id) {
				continue
			}
			q.Scenarios = append(q.Scenarios, report.Scenario{Name: c.Name, Location: c.Location, Verdict: v, Actual: "saw # this: \x1b[31m"})
			all = append(all, v)
		}
		q.Verdict = verdict.Worst(all...)
		r.Requirements = append(r.Requirements, q)
	}
	r.Total()
	return r
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

func list(t *testing.T, text string) List {
	t.Helper()
	l, err := Parse("known.yaml", []byte("expected:\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func all(v verdict.Verdict) map[string]verdict.Verdict {
	m := map[string]verdict.Verdict{}
	for _, c := range checks() {
		m[c.Location] = v
	}
	return m
}

func with(v verdict.Verdict, location string, other verdict.Verdict) map[string]verdict.Verdict {
	m := all(v)
	m[location] = other
	return m
}

func TestApply(t *testing.T) {
	const refs = "- {requirement: AXON-REF-005, reason: r}\n"
	only := func(location string, v verdict.Verdict) map[string]verdict.Verdict {
		return map[string]verdict.Verdict{location: v}
	}
	for name, c := range map[string]struct {
		entries            string
		run                map[string]verdict.Verdict
		exit               int
		known, news, quiet int
		problem            string
	}{
		"nothing listed, nothing broken": {"", all(verdict.Pass), 0, 0, 0, 0, ""},
		"listed and broken":              {refs, with(verdict.Pass, "ref.feature:9", verdict.Fail), 0, 1, 0, 0, ""},
		"one of two is listed":           {refs, with(verdict.Pass, "ref.feature:3", verdict.Fail), 1, 1, 1, 0, ""},
		"both by the scenario":           {"- {scenario: 'ref.feature:3', reason: r}\n", with(verdict.Pass, "ref.feature:3", verdict.Fail), 0, 2, 0, 0, ""},
		"both by its name":               {"- {scenario: 'ref.feature: A reply  carries its id', reason: r}\n", with(verdict.Pass, "ref.feature:3", verdict.Fail), 0, 2, 0, 0, ""},
		"a scenario under a requirement": {"- {requirement: AXON-ENV-011, scenario: 'ref.feature:3', reason: r}\n", with(verdict.Pass, "ref.feature:3", verdict.Fail), 1, 1, 1, 0, ""},
		"passes":                         {refs, all(verdict.Pass), 1, 0, 0, 0, "passes: AXON-REF-005 is listed as broken (r) and passes; remove the entry"},
		"passes where it applies":        {refs, with(verdict.Pass, "ref.feature:9", verdict.NotApplicable), 1, 0, 0, 0, "passes"},
		"not applicable":                 {"- {requirement: AXON-DEFERR-007, reason: r}\n", with(verdict.Pass, "deferr.feature:5", verdict.NotApplicable), 0, 0, 0, 1, ""},
		"could not run":                  {"- {requirement: AXON-DEFERR-007, reason: r}\n", with(verdict.Pass, "deferr.feature:5", verdict.CouldNotRun), 3, 0, 0, 1, ""},
		"not selected":                   {refs, only("envelope.feature:20", verdict.Pass), 0, 0, 0, 1, ""},
		"selected in part":               {refs, only("ref.feature:3", verdict.Pass), 0, 0, 0, 1, ""},
		"selected in part and broken":    {refs, only("ref.feature:9", verdict.Fail), 0, 1, 0, 0, ""},
		"a dead target":                  {refs, all(verdict.CouldNotRun), 3, 0, 0, 1, ""},
		"a fault of the suite":           {refs, with(verdict.Fail, "ref.feature:3", verdict.HarnessError), 4, 0, 2, 0, ""},
		"no such requirement":            {"- {requirement: AXON-REF-555, reason: r}\n", all(verdict.Pass), 1, 0, 0, 0, "matches-nothing: there is no requirement AXON-REF-555; correct"},
		"a requirement without checks":   {"- {requirement: AXON-TLS-001, reason: r}\n", all(verdict.Pass), 1, 0, 0, 0, "matches-nothing: no scenario checks AXON-TLS-001"},
		"no such scenario":               {"- {scenario: 'ref.feature: Gone', reason: r}\n", all(verdict.Pass), 1, 0, 0, 0, "matches-nothing: there is no scenario ref.feature: Gone; there are others in ref.feature"},
		"no such file":                   {"- {scenario: 'no.feature:1', reason: r}\n", all(verdict.Pass), 1, 0, 0, 0, "matches-nothing: there is no scenario no.feature:1, which"},
		"a pair that is none":            {"- {requirement: AXON-ENV-002, scenario: 'ref.feature:3', reason: r}\n", all(verdict.Pass), 1, 0, 0, 0, "matches-nothing: the scenario ref.feature:3 does not serve AXON-ENV-002"},
		"until today":                    {"- {requirement: AXON-REF-005, reason: r, until: 2026-06-01}\n", with(verdict.Pass, "ref.feature:9", verdict.Fail), 0, 1, 0, 0, ""},
		"until yesterday":                {"- {requirement: AXON-REF-005, reason: r, until: 2026-05-31}\n", with(verdict.Pass, "ref.feature:9", verdict.Fail), 1, 1, 0, 0, "past-its-date: AXON-REF-005 was accepted until 2026-05-31 (r); mend it"},
	} {
		t.Run(name, func(t *testing.T) {
			r := result(c.run)
			if c.entries == "" {
				c.entries = "  []\n"
			}
			Apply(list(t, c.entries), &r, checks(), today)
			b := r.Baseline
			if r.ExitCode != c.exit || b.Known != c.known || b.New != c.news || b.Unjudged != c.quiet {
				t.Errorf("exit %d, %+v", r.ExitCode, b)
			}
			problem := ""
			for _, p := range b.Problems {
				problem += p.Kind + ": " + p.Text
				if p.Line != 2 || p.Entry == "" {
					t.Errorf("the place of %+v", p)
				}
			}
			if (c.problem == "") != (problem == "") || !strings.Contains(problem, c.problem) {
				t.Errorf("got %q, want %q", problem, c.problem)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	long := "expected: []\n" + strings.Repeat("#", MaxBytes)
	for text, want := range map[string]string{
		"":                                "known.yaml:1: it is empty",
		"# nothing\n":                     "known.yaml",
		"edition: 2026-02-16\n":           `the member expected is missing`,
		"expected: {}\n":                  "known.yaml",
		"expected: []\nexpected: []\n":    "expected",
		"expected: []\nmore: 1\n":         "more",
		"expected: []\n---\nexpected: []": "second document",
		"expected: [":                     "known.yaml",
		"edition: soon\nexpected: []\n":   `the edition "soon" is no date`,
		"expected: []\xff":                "not UTF-8",
		long:                              "larger than",
		"expected:\n- reason: r\n":        "known.yaml:2: the entry names nothing",
		"expected:\n\n- requirement: A\n": "known.yaml:3: A has no reason",
		"expected:\n- {requirement: A, reason: ' '}\n":                              "A has no reason",
		"expected:\n- {requirement: A, reason: r}\n- reason: s\n  requirement: A\n": "known.yaml:3: A is listed already in line 2",
		"expected:\n- {scenario: x, reason: r}\n":                                   "is not FILE:LINE",
		"expected:\n- {requirement: A, reason: r, until: tomorrow}\n":               `until: "tomorrow" is no date`,
		"expected:\n- {requirement: A, reason: r, until: 2026-13-01}\n":             "is no date",
		"expected:\n- {requirement: A, reason: r, issue: '7'}\n":                    `issue: "7" is no link`,
		"expected:\n- {requirement: A, reason: r, issue: 'javascript:alert(1)'}\n":  "is no link",
		"expected:\n- {requirement: A, reasn: r}\n":                                 "reasn",
		"expected:\n- {requirement: [A], reason: r}\n":                              "known.yaml",
		"expected:\n- AXON-KIND-001\n":                                              "known.yaml",
	} {
		_, err := Parse("known.yaml", []byte(text))
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: got %v, want %q", text, err, want)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "--write-baseline") {
		t.Errorf("got %v", err)
	}
}

// TestSchemaAgrees: what Parse takes keeps to the schema, and what it refuses for
// its shape does not.
func TestSchemaAgrees(t *testing.T) {
	schema := schemas.MustCompile(schemas.Baseline)
	for text, good := range map[string]bool{
		"expected: []": true,
		"edition: 2026-02-16\nexpected:\n- {requirement: A, reason: r}":                                               true,
		"expected:\n- {scenario: 'a.feature: B', requirement: A, reason: r, issue: 'https://x/1', until: 2026-01-01}": true,
		"expected:\n- {reason: r}":                              false,
		"expected:\n- {requirement: A}":                         false,
		"expected:\n- {requirement: A, reason: ''}":             false,
		"expected:\n- {requirement: A, reason: r, until: soon}": false,
		"expected:\n- {requirement: A, reason: r, issue: x}":    false,
		"expected:\n- {scenario: b, reason: r}":                 false,
		"expected: []\nmore: 1":                                 false,
		"edition: 2026-02-16":                                   false,
	} {
		_, err := Parse("known.yaml", []byte(text))
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		doc, marshalError := json.Marshal(value)
		if marshalError != nil {
			t.Fatal(marshalError)
		}
		if invalid := schema.Validate(doc); (invalid == nil) != good || (err == nil) != good {
			t.Errorf("%s\nParse: %v\nschema: %v", text, err, invalid)
		}
	}
}

func TestWriteAndReadBack(t *testing.T) {
	run := all(verdict.Fail)
	run["ref.feature:9"] = verdict.Pass
	run["deferr.feature:5"] = verdict.CouldNotRun
	r := result(run)
	l := Make(r, List{})
	var names []string
	for _, e := range l.Entries {
		names = append(names, e.name())
	}
	// REF-005 breaks in part, ENV-011 and ENV-002 as a whole.
	if got, want := strings.Join(names, "|"), "ref.feature: A reply carries its id|AXON-ENV-011|AXON-ENV-002"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if l.Unfilled() != 3 {
		t.Errorf("%d reasons to fill in", l.Unfilled())
	}
	var b bytes.Buffer
	if err := Write(&b, l, r); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("known.yaml", b.Bytes()); err == nil || !strings.Contains(err.Error(), "has no reason; say why") {
		t.Errorf("a list without reasons is taken: %v\n%s", err, b.String())
	}
	if strings.Contains(b.String(), "\x1b") || !strings.Contains(b.String(), `  # saw # this: \x1b[31m`+"\n") {
		t.Errorf("what was seen: %s", b.String())
	}
	// With reasons it reads back, also such that YAML might take for something else.
	reasons := []string{"yes", "a: b # c\nsecond line", "2026-01-01"}
	for i := range l.Entries {
		l.Entries[i].Reason = reasons[i]
	}
	l.Entries[0].Issue, l.Entries[1].Until = "https://example.org/1#x", "2027-01-01"
	b.Reset()
	if err := Write(&b, l, r); err != nil {
		t.Fatal(err)
	}
	back, err := Parse("known.yaml", b.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	for i, e := range back.Entries {
		e.Line = 0
		if e != l.Entries[i] {
			t.Errorf("got %+v, want %+v", e, l.Entries[i])
		}
	}
	Apply(back, &r, checks(), today)
	if r.Baseline.New != 0 || r.Baseline.Known != 3 || len(r.Baseline.Problems) != 0 || r.ExitCode != report.ExitIncomplete {
		t.Errorf("its own run: exit %d, %+v", r.ExitCode, r.Baseline)
	}
	// Renewed after one was mended and another broke, reasons stay.
	run["envelope.feature:20"], run["deferr.feature:5"] = verdict.Pass, verdict.Fail
	renewed := Make(result(run), back)
	names = nil
	for _, e := range renewed.Entries {
		names = append(names, e.name()+"="+e.Reason)
	}
	if got, want := strings.Join(names, "|"), "ref.feature: A reply carries its id=yes|AXON-ENV-011=a: b # c\nsecond line|AXON-DEFERR-007="; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Reset()
	if err := Write(&b, Make(result(all(verdict.Pass)), back), r); err != nil {
		t.Fatal(err)
	}
	if empty, err := Parse("known.yaml", b.Bytes()); err != nil || len(empty.Entries) != 0 {
		t.Errorf("%+v, %v", empty, err)
	}
}

// TestAnyTextIsReadAgain: what YAML makes of some characters changes no entry.
func TestAnyTextIsReadAgain(t *testing.T) {
	for _, text := range []string{
		"? x", "...", "--- a", "- x", "a: b", "# x", "x # y", "'", "\"", "{", "[", "&a", "*a", "!a", "|", ">", "%", "@", "`", "~", "null", "true", "7", "0x7", ".inf", "2026-01-01",
		"a\nb", "a\n\n  b\n c", "a\r\nb", "a\tb", "\x1b[31m", "a\u2028b", "a\u00a0b", "\ufeffa", "späť 😀", "<<", "\\u0041",
	} {
		l := List{Edition: "2026-02-16", Entries: []Entry{{Requirement: "AXON-REF-005", Reason: text}, {Scenario: "ref.feature: " + text, Reason: "x"}}}
		var b bytes.Buffer
		if err := Write(&b, l, report.Report{}); err != nil {
			t.Fatal(err)
		}
		got, err := Parse("known.yaml", b.Bytes())
		if err != nil || got.Entries[0].Reason != strings.TrimSpace(text) || got.Entries[1].Scenario != "ref.feature: "+strings.Join(strings.Fields(text), " ") {
			t.Errorf("%q is written as\n%s\nand read as %+v, %v", text, b.String(), got, err)
		}
	}
}
