package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const (
	id1 = "6f1c2f3a-8f1e-4c7b-9d55-0123456789ab"
	id2 = "0b0e7d1c-52ff-4a01-8aa3-ba9876543210"
)

func TestGoodDocuments(t *testing.T) {
	report, err := os.ReadFile("testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	deferr := `{"id":"` + id1 + `","kind":"error","ref":"` + id2 + `","payload":{"code":"unhandled","message":"no application handler registered for request '` + id2 + `'","retryable":false`
	for name, docs := range map[string][]string{
		Envelope: {
			`{"id":"` + id1 + `","kind":"request","payload":{}}`,
			`{"id":"` + strings.ToUpper(id1) + `","kind":"request","payload":{"a":[1e400,1e999999999,30.0,"\ud800"]},"ref":"` + id2 + `"}`,
			`{"id":"` + id1 + `","kind":"message","payload":{"a":1,"a":2,"b":{"c":[{"d":1,"d":1}]}}}`,
			`{"id":"` + id1 + `","kind":"response","payload":{},"ref":"` + id2 + `"}`,
			`{"id":"` + id1 + `","kind":"error","payload":{}}`,
			`{"id":"` + id1 + `","kind":"error","payload":{},"ref":"` + id2 + `"}`,
			" \n{\t\"payload\": {\"ref\": null},\r\n \"kind\": \"message\", \"id\": \"" + id1 + "\"}\n ",
		},
		DefaultError: {deferr + `}}`, deferr + `,"hint":"more"}}`},
		ErrorPayload: {
			`{"code":"unhandled","message":"m","retryable":true}`,
			`{"code":"v2_not_yet","message":"m","retryable":false,"details":{}}`,
		},
		Report: {
			string(report),
			edit(t, report, func(d map[string]any) {
				delete(d, "notes")
				delete(d, "strict")
				d["target"] = map[string]any{"address": ""}
				d["requirements"] = []any{}
			}),
			edit(t, report, func(d map[string]any) {
				d["target"] = map[string]any{"address": "a", "agent_id": "", "public_key": "", "key_source": ""}
				d["conformant"], d["exit_code"] = true, 0
				at(d, "summary", "must").(map[string]any)["fail"] = 0
			}),
		},
	} {
		s := MustCompile(name)
		for _, doc := range docs {
			if err := s.Validate([]byte(doc)); err != nil {
				t.Errorf("%s refuses %s\n%v", name, doc, err)
			}
		}
	}
}

func TestBadMessages(t *testing.T) {
	env := func(id, kind, payload, more string) string {
		return `{"id":` + id + `,"kind":` + kind + `,"payload":` + payload + more + `}`
	}
	q1 := `"` + id1 + `"`
	deferr := env(q1, `"error"`, `{"code":"unhandled","message":"no application handler registered for request '`+id2+`'","retryable":false}`, `,"ref":"`+id2+`"`)
	if err := MustCompile(DefaultError).Validate([]byte(deferr)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ schema, doc, want string }{
		{Envelope, `[]`, "the document: expected object, but got array"},
		{Envelope, `null`, "the document: expected object, but got null"},
		{Envelope, `{}`, "the document: missing properties: 'id', 'kind', 'payload'"},
		{Envelope, env(q1, `"request"`, `{}`, `,"from":null,"ts":1,"v":1,"to":""`), "members that are not allowed: 'from', 'to', 'ts', 'v'"},
		{Envelope, `{"ID":` + q1 + `,"kind":"request","payload":{}}`, "missing properties: 'id'"},
		{Envelope, env(`"00000000-0000-0000-0000-000000000000"`, `"request"`, `{}`, ""), "/id: does not match pattern"},
		{Envelope, env(`"`+strings.Replace(id1, "-4c7b", "-1c7b", 1)+`"`, `"request"`, `{}`, ""), "/id: does not match pattern"},
		{Envelope, env(`"`+strings.Replace(id1, "-9d55", "-cd55", 1)+`"`, `"request"`, `{}`, ""), "/id: does not match pattern"},
		{Envelope, env(`"{`+id1+`}"`, `"request"`, `{}`, ""), "/id: does not match pattern"},
		{Envelope, env(`"`+id1+`\n"`, `"request"`, `{}`, ""), "/id: does not match pattern"},
		{Envelope, env(`7`, `"request"`, `{}`, ""), "/id: expected string, but got number"},
		{Envelope, env(q1, `"Request"`, `{}`, ""), "/kind: value must be one of"},
		{Envelope, env(q1, `"unknown"`, `{}`, ""), "/kind: value must be one of"},
		{Envelope, env(q1, `{}`, `{}`, ""), "/kind: value must be one of"},
		{Envelope, env(q1, `"message"`, `[]`, ""), "/payload: expected object, but got array"},
		{Envelope, env(q1, `"message"`, `null`, ""), "/payload: expected object, but got null"},
		{Envelope, env(q1, `"message"`, `"{}"`, ""), "/payload: expected object, but got string"},
		{Envelope, env(q1, `"message"`, `{}`, `,"ref":null`), "/ref: expected string, but got null"},
		{Envelope, env(q1, `"message"`, `{}`, `,"ref":""`), "/ref: '' is not valid 'uuid'"},
		{Envelope, env(q1, `"message"`, `{}`, `,"ref":"urn:uuid:`+id1+`"`), "is not valid 'uuid'"},
		{Envelope, env(q1, `"response"`, `{}`, ""), "the document: missing properties: 'ref'"},

		{DefaultError, strings.Replace(deferr, `"error"`, `"response"`, 1), "/kind: value must be \"error\""},
		{DefaultError, strings.Replace(deferr, `,"ref":"`+id2+`"`, "", 1), "missing properties: 'ref'"},
		{DefaultError, strings.Replace(deferr, `"unhandled"`, `"no_handler"`, 1), "/payload/code: value must be \"unhandled\""},
		{DefaultError, strings.Replace(deferr, `'`+id2+`'`, id2, 1), "/payload/message: does not match pattern"},
		{DefaultError, deferr[:10], "not one JSON document"},
		{DefaultError, strings.Replace(deferr, `:false`, `:true`, 1), "/payload/retryable: value must be false"},
		{DefaultError, strings.Replace(deferr, `:false`, `:"false"`, 1), "/payload/retryable: expected boolean, but got string"},
		{DefaultError, strings.Replace(deferr, `,"retryable":false`, ``, 1), "/payload: missing properties: 'retryable'"},
		{DefaultError, strings.Replace(deferr, `"kind"`, `"v":1,"kind"`, 1), "members that are not allowed: 'v'"},

		{ErrorPayload, `{}`, "missing properties: 'code', 'message', 'retryable'"},
		{ErrorPayload, `{"code":"Unhandled","message":"m","retryable":true}`, "/code: does not match pattern"},
		{ErrorPayload, `{"code":"un-handled","message":"m","retryable":true}`, "/code: does not match pattern"},
		{ErrorPayload, `{"code":"a__b","message":"m","retryable":true}`, "/code: does not match pattern"},
		{ErrorPayload, `{"code":404,"message":"m","retryable":true}`, "/code: expected string, but got number"},
		{ErrorPayload, `{"code":"a","message":"","retryable":true}`, "/message: length must be >= 1"},
		{ErrorPayload, `{"code":"a","message":"m","retryable":0}`, "/retryable: expected boolean, but got number"},
		{ErrorPayload, `{"code":"a","message":"m","retryable":1e999999999}`, "/retryable: expected boolean, but got number"},
	} {
		err := MustCompile(c.schema).Validate([]byte(c.doc))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s\n got %v\nwant %s", c.schema, c.doc, err, c.want)
		}
	}
}

func TestBadReports(t *testing.T) {
	report, err := os.ReadFile("testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	set := func(value any, path ...any) func(map[string]any) {
		return func(d map[string]any) {
			at(d, path[:len(path)-1]...).(map[string]any)[path[len(path)-1].(string)] = value
		}
	}
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	scenario := []any{"requirements", 0, "scenarios", 0}
	event := append(slices.Clone(scenario), "transcript", 1)
	in := func(path []any, more ...any) []any { return append(slices.Clone(path), more...) }
	for _, c := range []struct {
		change func(map[string]any)
		want   string
	}{
		{set(2, "schema_version"), "/schema_version: value must be"},
		{set("1", "schema_version"), "/schema_version: expected integer, but got string"},
		{set(raw("1.0"), "schema_version"), "/schema_version: expected integer, but got number with a fraction"},
		{set(raw("1e0"), "exit_code"), "/exit_code: expected integer, but got number with a fraction"},
		{set(raw("1e999999999"), "exit_code"), "/exit_code: expected integer, but got number with a fraction"},
		{set(raw("-1e999999999"), "duration_ms"), "/duration_ms: must be >= 0"},
		{set(5, "exit_code"), "/exit_code: must be <= 4"},
		{set(-1, "exit_code"), "/exit_code: must be >= 0"},
		{set("yesterday", "started"), "/started: 'yesterday' is not valid 'date-time'"},
		{set("16 February 2026", "suite", "edition"), "/suite/edition: '16 February 2026' is not valid 'date'"},
		{set("", "suite", "version"), "/suite/version: length"},
		{set("x", "suite", "commit"), "/suite: members that are not allowed: 'commit'"},
		{set("learned", "target", "key_source"), "/target/key_source: value must be one of"},
		{set("ed25519.xyz", "target", "agent_id"), "/target/agent_id: does not match"},
		{set("AAAA", "target", "public_key"), "/target/public_key: does not match"},
		{set([]any{"wire", "wire"}, "target", "capabilities"), "/target/capabilities: items at index 0 and 1 are equal"},
		{set(nil, "notes"), "/notes: expected array, but got null"},
		{set([]any{1}, "notes"), "/notes/0: expected string, but got number"},
		{set("x", "extra"), "the document: members that are not allowed: 'extra'"},
		{set(-1, "summary", "must", "pass"), "/summary/must/pass: must be >= 0"},
		{set(1, "summary", "may"), "/summary: members that are not allowed: 'may'"},
		{set(1, "summary", "must", "not-applicable"), "/summary/must: members that are not allowed: 'not-applicable'"},
		{set(map[string]any{}, "summary", "should"), "/summary/should: missing properties: 'pass', 'fail', 'warn', 'observed', 'not_applicable', 'could_not_run', 'harness_error'"},
		{set("passed", "requirements", 0, "verdict"), "/requirements/0/verdict: value must be one of"},
		{set("not_applicable", "requirements", 0, "verdict"), "/requirements/0/verdict: value must be one of"},
		{set("must", "requirements", 0, "level"), "/requirements/0/level: value must be one of"},
		{set("AXON-DEFERR-3", "requirements", 0, "id"), "/requirements/0/id: does not match"},
		{set(nil, "requirements", 0, "scenarios"), "/requirements/0/scenarios: expected array"},
		{set("MAYBE", in(scenario, "verdict")...), "/requirements/0/scenarios/0/verdict: value must be one of"},
		{set("3", in(scenario, "duration_ms")...), "/scenarios/0/duration_ms: expected number"},
		{set(1, in(scenario, "line")...), "/scenarios/0: members that are not allowed: 'line'"},
		{set("up", in(event, "direction")...), "/transcript/1/direction: value must be one of"},
		{set(-2, in(event, "stream")...), "/transcript/1/stream: must be >= -1"},
		{set("abc", in(event, "hex")...), "/transcript/1/hex: does not match"},
		{set(1, in(event, "fin")...), "/transcript/1/fin: expected boolean"},
		{set(true, "conformant"), "/summary/must/fail: value must be"},
		{func(d map[string]any) { d["conformant"], d["complete"] = true, false }, "/complete: value must be true"},
		{func(d map[string]any) { delete(d, "summary") }, "missing properties: 'summary'"},
		{func(d map[string]any) { delete(d["target"].(map[string]any), "address") }, "/target: missing properties: 'address'"},
	} {
		doc := edit(t, report, c.change)
		err := MustCompile(Report).Validate([]byte(doc))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestNotOneDocument(t *testing.T) {
	s := MustCompile(Envelope)
	good := `{"id":"` + id1 + `","kind":"message","payload":{}}`
	for doc, want := range map[string]string{
		"":                           "ends too early",
		" \n":                        "ends too early",
		good[:len(good)-1]:           "ends too early",
		good + "x":                   "something follows",
		good + good:                  "something follows",
		good + "\n}":                 "something follows",
		good + "\x00":                "something follows",
		"\ufeff" + good:              "invalid character",
		good[:8] + "\xff" + good[8:]: "invalid UTF-8",
		"{'id':1}":                   "correct the text at byte 2",
		`{"id":1,}`:                  "invalid character",
		strings.Repeat("[", 20000) + strings.Repeat("]", 20000):                              "exceeded max depth",
		`{"id":"` + id1 + `",` + good[1:]:                                                    `the name "id" stands twice`,
		`{"id":"` + id1 + `","kind":"message","payload":{},"payload":{}}`:                    `the name "payload" stands twice`,
		`{"id":"` + id1 + `","kind":"message","payload":{},"x":{"a":1,"b":[{"c":1,"c":1}]}}`: `the name "c" stands twice`,
		`{"x":{"payload":{"a":1,"a":1}}}`:                                                    `the name "a" stands twice`,
	} {
		err := s.Validate([]byte(doc))
		if !errors.Is(err, ErrNotJSON) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %s", doc, err, want)
		}
	}
	if err := MustCompile(ErrorPayload).Validate([]byte(`{"code":"a","code":"b","message":"m","retryable":true}`)); !errors.Is(err, ErrNotJSON) {
		t.Errorf("doubled code: %v", err)
	}
}

func TestErrorsAreTheSameInEveryRun(t *testing.T) {
	doc := []byte(`{"kind":"x","payload":[],"ref":1,"f":1,"e":1,"d":1,"c":1,"b":1,"a":1,"id":"x"}`)
	first := MustCompile(Envelope).Validate(doc)
	var invalid *InvalidError
	if !errors.As(first, &invalid) || len(invalid.Problems) != 5 || invalid.Schema != Envelope {
		t.Fatalf("want five problems, got %v", first)
	}
	if !slices.IsSortedFunc(invalid.Problems, func(a, b Problem) int { return comparePointers(a.Location, b.Location) }) {
		t.Errorf("not sorted: %v", invalid.Problems)
	}
	for range 200 {
		if err := MustCompile(Envelope).Validate(doc); err.Error() != first.Error() {
			t.Fatalf("two errors for one document:\n%v\n%v", first, err)
		}
	}
}

func TestProblemLocations(t *testing.T) {
	report, err := os.ReadFile("testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	doc := edit(t, report, func(d map[string]any) {
		notes := make([]any, 25)
		for i := range notes {
			notes[i] = i
		}
		d["notes"] = notes
	})
	err = MustCompile(Report).Validate([]byte(doc))
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 25 {
		t.Fatalf("%v", err)
	}
	for i, p := range invalid.Problems {
		if want := fmt.Sprintf("/notes/%d", i); p.Location != want {
			t.Errorf("problem %d is at %s, want %s", i, p.Location, want)
		}
	}
	if !strings.Contains(err.Error(), "and 5 more") {
		t.Errorf("the text is not bounded: %v", err)
	}
}

func FuzzValidate(f *testing.F) {
	report, err := os.ReadFile("testdata/report.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(report)
	f.Add([]byte(`{"id":"` + id1 + `","kind":"response","payload":{"a":1,"a":1e99999}}`))
	f.Add([]byte(`{"id":"` + strings.Repeat("é\\u0007", 400) + `","` + strings.Repeat("x\\u001b", 400) + `":1,"kind":[],"ref":30.0}`))
	f.Add([]byte(`{"` + strings.Repeat("\\u0007", 400) + `":1,"` + strings.Repeat("\\u0007", 400) + `":1}`))
	f.Add([]byte(`{"answer":"send","number":2e0,"event":"inbound","cmd":"send","expected":[{}],"error":{"code":"\u0007"}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, name := range Names() {
			checkVerdict(t, name, doc)
		}
	})
}

// checkVerdict: nothing passes that is no JSON, and what is said of a document that
// does not pass is the same every time, in order, of one line, and short.
func checkVerdict(t *testing.T, name string, doc []byte) {
	t.Helper()
	err := MustCompile(name).Validate(doc)
	if err == nil {
		if !json.Valid(doc) || !utf8.Valid(doc) {
			t.Fatalf("%s accepts what is no JSON: %q", name, doc)
		}
		return
	}
	var invalid *InvalidError
	switch {
	case errors.As(err, &invalid):
		if len(invalid.Problems) == 0 || invalid.Schema != name || !slices.IsSortedFunc(invalid.Problems, func(a, b Problem) int { return comparePointers(a.Location, b.Location) }) {
			t.Fatalf("%s: %q: problems %v", name, doc, invalid.Problems)
		}
	case !errors.Is(err, ErrNotJSON):
		t.Fatalf("%s: %q: %v", name, doc, err)
	}
	text := err.Error()
	if len(text) > shownProblems*2*(maxMessage+10)+500 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Fatalf("%s: %q: %d bytes: %q", name, doc, len(text), text)
	}
	if again := MustCompile(name).Validate(doc); again == nil || again.Error() != text {
		t.Fatalf("%s: %q: two errors for one document:\n%v\n%v", name, doc, err, again)
	}
}

// TestErrorsAreShort: what is said of a document does not grow with its names and
// values.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for doc, want := range map[string]string{
		`{"id":"` + id1 + `","kind":"message","payload":{},"` + long + `":1}`:         "members that are not allowed: 'é",
		`{"id":"` + id1 + `","kind":"message","payload":{},"ref":"` + long + `"}`:     "is not valid 'uuid'",
		`{"id":"` + id1 + `","` + long + `":1,"` + long + `":1,"kind":1,"payload":1}`: "stands twice",
	} {
		err := MustCompile(Envelope).Validate([]byte(doc))
		if err == nil || len(err.Error()) > 700 || !utf8.ValidString(err.Error()) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// at walks into decoded JSON by member names and indexes.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v
}

func edit(t *testing.T, doc []byte, change func(map[string]any)) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(doc)))
	dec.UseNumber()
	var d map[string]any
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	change(d)
	out, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
