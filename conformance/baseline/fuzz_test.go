package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/schemas"
)

// seeds are lists good and bad, in the forms that YAML has.
var seeds = []string{
	"expected: []\n", "expected:\n  - requirement: AXON-REF-005\n    reason: mixed up\n    issue: https://example.org/7\n    until: 2026-12-31\n",
	"edition: 2026-02-16\nexpected:\n  # why\n  - scenario: \"envelope.feature: Nothing  else\"\n    reason: |\n      two\n\n      lines\n  - {requirement: A, scenario: 'b:3', reason: c}\n",
	"", "null\n", "expected:\n", "expected: {}\n", "expected: [{}]\n", "expected:\n- requirement: A\n  reason: ' '\n", "expected: [{requirement: A, reason: b}, {requirement: ' A', reason: c}]\n",
	"expected: [{scenario: x, reason: b}]\n", "expected: [{requirement: A, reason: b, until: 2026-13-01}]\n", "expected: [{requirement: A, reason: b, issue: 'javascript:x'}]\n",
	"edition: soon\nexpected: []\n", "expected: []\nexpected: []\n", "expected: []\n---\nexpected: []\n", "expected: [{requirement: &a A, reason: *a}]\n", "x: &x [1]\nexpected: *x\n",
	"- a\n", "a: [\n", "{\"expected\": []}", "\ufeffexpected: []\n", "expected:\n  - requirement: \"\\u001b\"\n    reason: \"\\u2028\"\n", "expected:\n  -\n   requirement: A\n   reason: b\n", "expected: [~]\n",
	"? expected\n: []\n", "\xff", "expected: !!seq []\n", "--- \nexpected:\n- requirement: A\r\n  reason: b\r\n",
}

// same compares entries without the lines in which they stand.
func same(a, b List) bool {
	strip := func(l List) []Entry {
		var list []Entry
		for _, e := range l.Entries {
			e.Line = 0
			list = append(list, e)
		}
		return list
	}
	return a.Edition == b.Edition && reflect.DeepEqual(strip(a), strip(b))
}

// FuzzParse: a list that is taken keeps to its schema, names the line of each entry,
// and is the same after it was written; one that is refused is refused with the name
// of the file and words that stay short.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	schema := schemas.MustCompile(schemas.Baseline)
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Parse("known.yaml", text)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "known.yaml") || len(err.Error()) > 50*len(text)+5000 || l.Entries != nil {
				t.Fatalf("%q: %v, %+v", text, err, l)
			}
			return
		}
		if err := schema.Validate(inJSON(t, l)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + 1
		seen, last := map[string]bool{}, 1
		for _, e := range l.Entries {
			if e.Line < last || e.Line > lines || seen[e.name()] {
				t.Fatalf("%q: %+v stands after line %d of %d", text, e, last, lines)
			}
			seen[e.name()], last = true, e.Line
		}
		var b bytes.Buffer
		if err := Write(&b, l, report.Report{}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if again, err := Parse("known.yaml", b.Bytes()); err != nil || !same(l, again) {
			t.Fatalf("%q: %+v written as\n%s\nand read as %+v, %v", text, l, b.String(), again, err)
		}
	})
}

// inJSON is the list as its schema describes it.
func inJSON(t *testing.T, l List) []byte {
	t.Helper()
	doc := map[string]any{}
	if l.Edition != "" {
		doc["edition"] = l.Edition
	}
	list := []any{}
	for _, e := range l.Entries {
		item := map[string]any{}
		for name, value := range map[string]string{"requirement": e.Requirement, "scenario": e.Scenario, "reason": e.Reason, "issue": e.Issue, "until": e.Until} {
			if value != "" {
				item[name] = value
			}
		}
		list = append(list, item)
	}
	doc["expected"] = list
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// FuzzWrite: a list that is made of a report is read again as what it was, whatever
// the checks are called, what was seen, and why it is accepted; and held against that
// report it expects all that is broken there.
func FuzzWrite(f *testing.F) {
	for _, s := range []string{"Nothing else", "a: b", " x ", "\x1b[31m", "- x", "'", "\"", "\u2028", "a\n  b\n\n c", "# no", "~", "\xff", "| ", "7", "2026-01-01", "a\r\nb", "\t", "{", "&a *b", "? x", "..."} {
		f.Add(s, "saw "+s, s+"!", "AXON-REF-005")
	}
	f.Fuzz(func(t *testing.T, name, actual, reason, id string) {
		broken := report.Scenario{Name: name, Location: "ref.feature:3", Verdict: verdict.Fail, Actual: actual}
		passes := report.Scenario{Name: name + "2", Location: "ref.feature:9", Verdict: verdict.Pass}
		r := report.Report{SchemaVersion: 1, Suite: report.Suite{Edition: "2026-02-16"}, Requirements: []report.Requirement{
			{ID: id, Level: "MUST", Verdict: verdict.Fail, Scenarios: []report.Scenario{broken}},
			{ID: id + "X", Level: "MUST", Verdict: verdict.Fail, Scenarios: []report.Scenario{broken, passes}},
		}}
		l := Make(r, List{})
		for i := range l.Entries {
			l.Entries[i].Reason = reason
		}
		var b bytes.Buffer
		if err := Write(&b, l, r); err != nil {
			t.Fatal(err)
		}
		again, err := Parse("known.yaml", b.Bytes())
		if err != nil {
			// Some words cannot be those of an entry, which is said.
			if !errors.Is(err, ErrInvalid) || usable(name) && usable(reason) && usable(id) {
				t.Fatalf("%+v written as\n%s\n%v", l, b.String(), err)
			}
			return
		}
		if len(again.Entries) != len(l.Entries) {
			t.Fatalf("%+v written as\n%s\nand read as %+v", l, b.String(), again)
		}
		if !usable(name) || !usable(id) {
			return
		}
		checks := []Check{{Name: name, Location: "ref.feature:3", IDs: []string{id, id + "X"}}, {Name: name + "2", Location: "ref.feature:9", IDs: []string{id + "X"}}}
		Apply(again, &r, checks, today)
		if r.ExitCode != report.ExitConformant || r.Baseline.New != 0 || len(r.Baseline.Problems) != 0 {
			t.Fatalf("%s\nleaves %+v, exit code %d", b.String(), fmt.Sprint(r.Baseline), r.ExitCode)
		}
	})
}

// usable tells whether text says something and is kept as it is, but for blanks.
func usable(text string) bool {
	return strings.TrimSpace(text) != "" && strings.ToValidUTF8(text, "") == text && strings.TrimSpace(text) == text
}
