package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/schemas"
)

func TestJSONRoundTrip(t *testing.T) {
	for _, r := range []Report{sample(), good(), {SchemaVersion: SchemaVersion}} {
		var b bytes.Buffer
		if err := WriteJSON(&b, r); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "null") {
			t.Errorf("null in\n%s", b.String())
		}
		got, err := ReadJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if want := filled(r); !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v", got, want)
		}
	}
}

func TestJSONKeepsToItsSchema(t *testing.T) {
	schema := schemas.MustCompile("report/report")
	for name, r := range map[string]Report{"sample": sample(), "good": good()} {
		var b bytes.Buffer
		if err := WriteJSON(&b, r); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(b.Bytes()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWriteJSONLeavesTheReportAlone(t *testing.T) {
	r := sample()
	if err := WriteJSON(&bytes.Buffer{}, r); err != nil {
		t.Fatal(err)
	}
	if r.Requirements[0].Scenarios[0].Transcript != nil {
		t.Error("the caller's report was changed")
	}
}

func TestReadJSONRefuses(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for name, c := range map[string]struct{ doc, want string }{
		"empty":          {"", "not a conformance report"},
		"other document": {"{}", "no schema_version"},
		"next version":   {strings.Replace(text, `"schema_version": 1`, `"schema_version": 2`, 1), "schema_version is 2"},
		"more members":   {strings.Replace(text, `"strict"`, `"stricter"`, 1), "unknown field"},
		"text after it":  {text + "{}", "after top-level value"},
		"verdict":        {strings.Replace(text, `"verdict": "pass"`, `"verdict": "passed"`, 1), `verdict "passed"`},
		"level":          {strings.Replace(text, `"level": "MUST"`, `"level": "MAY"`, 1), `level "MAY"`},
		"odd id":         {strings.Replace(text, `"id": "AXON-KIND-002"`, `"id": "\u001b[31m"`, 1), `the word \x1b[31m holds`},
		"odd edition":    {strings.Replace(text, `"edition": "2026-02-16"`, `"edition": "\u001b[31m"`, 1), `the word \x1b[31m holds`},
		"odd direction":  {strings.Replace(text, `"direction": "sent"`, `"direction": "s\u007fnt"`, 1), `the word s\x7fnt holds`},
		"odd event":      {strings.Replace(text, `"event": "close"`, `"event": "\u009b31m"`, 1), `the word \u009b31m holds`},
		"no id":          {strings.Replace(text, `"id": "AXON-KIND-002"`, `"id": ""`, 1), "requirement 0 has no id"},
		"exit code":      {strings.Replace(text, `"exit_code": 4`, `"exit_code": 5`, 1), "exit_code is 5"},
		"duration":       {strings.Replace(text, `"duration_ms": 1234.5`, `"duration_ms": -1`, 1), "duration_ms is below 0"},
		"a check's":      {strings.Replace(text, `"duration_ms": 12.5`, `"duration_ms": -1`, 1), "duration_ms of envelope.feature:20"},
		"part":           {strings.Replace(text, `"notes"`, `"shard": {"index": 3, "of": 2}, "notes"`, 1), "part 3 of 2"},
		"half":           {text[:len(text)/2], "unexpected end"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadJSON(strings.NewReader(c.doc))
			if !errors.Is(err, ErrNotReport) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestJUnit(t *testing.T) {
	r := sample()
	var b bytes.Buffer
	if err := WriteJUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	// Eight requirements rest on seven scenarios, in five sections.
	if got.Tests != 7 || got.Failures != 1 || got.Errors != 2 || got.Skipped != 1 || len(got.Suites) != 5 {
		t.Errorf("got %d tests, %d failures, %d errors, %d skipped in %d suites", got.Tests, got.Failures, got.Errors, got.Skipped, len(got.Suites))
	}
	for _, want := range []string{"AXON-ENV-002 AXON-ENV-007 No member beyond the four", "run again: axon-conformance run --target 127.0.0.1:7100",
		"the target cannot be made to send", "warn: expected retryable to be a boolean", `file="kinds.feature" line="12"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %q in\n%s", want, b.String())
		}
	}
	r.Strict = true
	b.Reset()
	if err := WriteJUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `failures="2"`) {
		t.Errorf("a broken SHOULD is no failure with strict:\n%s", b.String())
	}
}

// TestJUnitOfAnyBytes: XML has no way to write some characters.
func TestJUnitOfAnyBytes(t *testing.T) {
	r := sample()
	s := &r.Requirements[1].Scenarios[0]
	s.Actual = "\x00\x01\xff\ufffe]]>&<\""
	s.Transcript = []Event{{Event: "data", Text: s.Actual}}
	var b bytes.Buffer
	if err := WriteJUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(b.Bytes(), new(junitSuites)); err != nil {
		t.Errorf("%v in\n%s", err, b.String())
	}
}

type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(b), nil
}

func TestWritersTellOfAFullDisk(t *testing.T) {
	for name, err := range map[string]error{
		"text":  WriteText(&full{10}, sample(), TextOptions{}),
		"json":  WriteJSON(&full{10}, sample()),
		"junit": WriteJUnit(&full{100}, sample()),

		"html":            WriteHTML(&full{100}, sample(), HTMLOptions{}),
		"markdown":        WriteMarkdown(&full{100}, sample()),
		"badge":           WriteBadge(&full{10}, sample()),
		"diff":            Diff("a", sample(), "b", good()).WriteText(&full{10}),
		"diff markdown":   Diff("a", sample(), "b", good()).WriteMarkdown(&full{10}),
		"diff json":       Diff("a", sample(), "b", good()).WriteJSON(&full{10}),
		"matrix":          NewMatrix([]MatrixEntry{{"a", sample()}}).WriteText(&full{10}),
		"matrix markdown": NewMatrix([]MatrixEntry{{"a", sample()}}).WriteMarkdown(&full{10}),
		"matrix html":     NewMatrix([]MatrixEntry{{"a", sample()}}).WriteHTML(&full{10}),
	} {
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCounts(t *testing.T) {
	var c Counts
	for _, v := range verdict.All() {
		c.Add(v)
		if c.At(v) != 1 {
			t.Errorf("%s is counted %d times", v, c.At(v))
		}
	}
	if c.Sum() != len(verdict.All()) || c.plus(c).Sum() != 2*c.Sum() {
		t.Errorf("sum %d", c.Sum())
	}
	text, err := json.Marshal(c)
	if err != nil || strings.Count(string(text), ":1") != len(verdict.All()) {
		t.Errorf("got %s, %v", text, err)
	}
}
