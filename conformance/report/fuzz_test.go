package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/schemas"
)

func jsonOf(t testing.TB, r Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzReadJSON: a report that is taken has only words that there are, is the same
// after it was written, differs in nothing from itself, and can be shown in each form
// without anything in it getting out of its place. What is refused says why.
func FuzzReadJSON(f *testing.F) {
	hostile := sample()
	hostile.Shard = &Shard{Index: 1, Of: 1}
	hostile.Baseline = &Baseline{File: "</script>", Problems: []BaselineProblem{{Kind: EntryPasses, Entry: "\x1b[31m", Line: 3, Text: "`|<b>"}}}
	hostile.Notes = []string{"\x1b]0;x\a</title><script>alert(1)</script>", "[x](javascript:y)\n# z"}
	hostile.Target.Name, hostile.Requirements[0].Scenarios[0].QLog = `"><img onerror=x>`, "../../x\"' onclick=y"
	for _, r := range []Report{sample(), good(), {SchemaVersion: SchemaVersion}, hostile} {
		f.Add(jsonOf(f, r))
	}
	for _, text := range []string{
		"", "{}", "null", "[]", `{"schema_version":2}`, `{"schema_version":1}x`, `{"schema_version":1,"requirements":null}`, `{"schema_version":1,"x":1}`, `{"Schema_Version":1}`,
		`{"schema_version":1,"requirements":[{"id":"A","level":"MUST","verdict":"fail","scenarios":[{"verdict":"fail"},{"verdict":"fail","known":{}}]},{"id":"A","level":"SHOULD","verdict":"pass"}]}`,
		`{"schema_version":1,"duration_ms":-1e308,"exit_code":-1,"shard":{},"baseline":{}}`,
	} {
		f.Add([]byte(text))
	}
	schema := schemas.MustCompile(schemas.Report)
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ReadJSON(bytes.NewReader(text))
		if err != nil {
			if !errors.Is(err, ErrNotReport) || len(err.Error()) > 10*len(text)+500 || !reflect.DeepEqual(r, Report{}) {
				t.Fatalf("%q: %v, %+v", text, err, r)
			}
			return
		}
		written := jsonOf(t, r)
		if again, err := ReadJSON(bytes.NewReader(written)); err != nil || !reflect.DeepEqual(r, again) {
			t.Fatalf("%q: read as %+v, written and read as %+v, %v", text, r, again, err)
		}
		regular := schema.Validate(text) == nil
		if regular {
			if err := schema.Validate(written); err != nil {
				t.Fatalf("%q: written: %v", text, err)
			}
		}
		d := Diff("a", r, "b", r)
		if distinct(r) && (d.Same != len(r.Requirements) || len(d.Broken)+len(d.Fixed)+len(d.Shifted)+len(d.Applicable)+len(d.Gone)+len(d.Unjudged)+len(d.Judged) > 0 || d.Worse()) {
			t.Fatalf("%q: differs from itself: %+v", text, d)
		}
		if joined, err := Merge([]Report{r}, strings.Compare); err != nil && !errors.Is(err, ErrCannotMerge) || err == nil && len(joined.Requirements) != len(r.Requirements) {
			t.Fatalf("%q: merged alone: %+v, %v", text, joined, err)
		}
		checkTotal(t, text, r)
		checkForms(t, text, r, regular)
	})
}

// distinct tells whether no requirement stands twice.
func distinct(r Report) bool {
	seen := map[string]bool{}
	for _, q := range r.Requirements {
		if q.ID == "" || seen[q.ID] {
			return false
		}
		seen[q.ID] = true
	}
	return true
}

// checkTotal: every requirement is counted once, and a conformant run has nothing
// that binds broken.
func checkTotal(t *testing.T, text []byte, r Report) {
	t.Helper()
	r.Total()
	if s := r.Summary; s.Must.Sum()+s.Should.Sum()+s.Advisory.Sum() != len(r.Requirements) {
		t.Fatalf("%q: counted %+v", text, s)
	}
	if r.ExitCode < ExitConformant || r.ExitCode > ExitHarnessError || r.Conformant && !r.Complete {
		t.Fatalf("%q: exit code %d, conformant %v, complete %v", text, r.ExitCode, r.Conformant, r.Complete)
	}
	for _, q := range r.Requirements {
		for _, v := range append([]verdict.Verdict{q.Verdict}, verdictsOf(q)...) {
			if r.Conformant && (v == verdict.Fail || v == verdict.CouldNotRun || v == verdict.HarnessError) {
				t.Fatalf("%q: conformant in spite of %s", text, v)
			}
		}
	}
}

func verdictsOf(q Requirement) (list []verdict.Verdict) {
	for _, s := range q.Scenarios {
		list = append(list, s.Verdict)
	}
	return list
}

// checkForms writes a report in every form for people and programs. Of a regular one
// nothing is missing.
func checkForms(t *testing.T, text []byte, r Report, regular bool) {
	t.Helper()
	var b bytes.Buffer
	texts := []func(io.Writer) error{Diff("\x1b", r, "b", Report{}).WriteText, NewMatrix([]MatrixEntry{{Name: "\x1b", Report: r}, {Name: "b", Report: r}}).WriteText}
	for _, o := range []TextOptions{{}, {Verbose: true, Width: 40}, {Quiet: true}} {
		texts = append(texts, func(w io.Writer) error { return WriteText(w, r, o) })
	}
	for _, write := range texts {
		b.Reset()
		if err := write(&b); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if at := strings.IndexFunc(b.String(), func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }); at >= 0 {
			t.Fatalf("%q: in the text: %q", text, b.String()[at:])
		}
	}
	b.Reset()
	if err := WriteJUnit(&b, r); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if n, err := parseXML(b.Bytes()); err != nil {
		t.Fatalf("%q: %v in\n%s", text, err, b.String())
	} else if regular {
		n.check(func(format string, args ...any) { t.Fatalf("%q: "+format, append([]any{text}, args...)...) })
	}
	b.Reset()
	if err := WriteMarkdown(&b, r); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	b.Reset()
	if err := WriteBadge(&b, r); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if err := xml.Unmarshal(b.Bytes(), new(struct{})); err != nil {
		t.Fatalf("%q: %v in\n%s", text, err, b.String())
	}
	b.Reset()
	if err := WriteHTML(&b, r, HTMLOptions{}); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	scripts := 0
	walk(t, b.String(), func(n *html.Node, attribute map[string]string) {
		switch n.Data {
		case "script":
			scripts++
		case "img", "iframe", "object", "embed", "base":
			t.Fatalf("%q: the page has the element %s", text, n.Data)
		}
		for name, value := range attribute {
			scheme, _, absolute := strings.Cut(value, ":")
			switch {
			case strings.HasPrefix(name, "on"), name == "style", name == "src", name == "srcset", name == "action", name == "ping",
				name == "href" && absolute && !strings.ContainsAny(scheme, "/?#") && value != "data:,":
				t.Fatalf("%q: <%s %s=%q>", text, n.Data, name, value)
			}
		}
	})
	if scripts != 1 {
		t.Fatalf("%q: the page has %d scripts", text, scripts)
	}
}
