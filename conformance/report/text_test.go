package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axonproto/axon/conformance/verdict"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t *testing.T, r Report, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	strict := sample()
	strict.Strict = true
	strict.Total()
	for name, c := range map[string]struct {
		r Report
		o TextOptions
	}{
		"plain":   {sample(), TextOptions{}},
		"verbose": {sample(), TextOptions{Verbose: true}},
		"quiet":   {sample(), TextOptions{Quiet: true}},
		"strict":  {strict, TextOptions{Width: 60}},
		"colour":  {sample(), TextOptions{Colour: true}},
		"good":    {good(), TextOptions{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := render(t, c.r, c.o)
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s\n(go test ./conformance/report -update, when the change is meant)", got, want)
			}
		})
	}
}

func TestTextHasNoControlCharactersOfTheTarget(t *testing.T) {
	r := sample()
	evil := "\x1b]0;owned\a\x1b[2J\r\u009b31m\u202e"
	for i := range r.Requirements {
		for k := range r.Requirements[i].Scenarios {
			s := &r.Requirements[i].Scenarios[k]
			s.Reason, s.Actual, s.Expected, s.Name = evil, evil, evil, evil
			s.Transcript = []Event{{Event: "data", Text: evil}, {Event: "note", Hex: evil}}
		}
	}
	r.Target.Address, r.Target.AgentID, r.Notes = evil, evil, []string{evil}
	for _, o := range []TextOptions{{}, {Verbose: true}, {Quiet: true}} {
		text := render(t, r, o)
		if at := strings.IndexFunc(text, func(c rune) bool { return c != '\n' && c < ' ' || c == 0x9b || c == 0x202e || c == 7 }); at >= 0 {
			t.Errorf("%+v: control character %q at %d", o, text[at], at)
		}
	}
}

func TestConclusion(t *testing.T) {
	one := func(level string, v verdict.Verdict, strict bool) Report {
		r := Report{Strict: strict, Requirements: []Requirement{{ID: "AXON-X-001", Level: level, Verdict: v,
			Scenarios: []Scenario{{Name: "n", Verdict: v}}}}}
		r.Total()
		return r
	}
	for _, c := range []struct {
		r    Report
		want string
	}{
		{one("MUST", verdict.Pass, false), "CONFORMANT: every MUST that applies holds (1)"},
		{one("MUST", verdict.Fail, false), "NOT CONFORMANT: 1 MUST is broken; look at AXON-X-001 first (exit 1)"},
		{one("SHOULD", verdict.Warn, false), "1 SHOULD is broken, which is allowed without --strict"},
		{one("SHOULD", verdict.Warn, true), "NOT CONFORMANT: 1 SHOULD is broken, which counts with --strict; look at AXON-X-001 first (exit 1)"},
		{one("MUST", verdict.CouldNotRun, false), "INCOMPLETE: 1 requirement could not be judged"},
		{one("MUST", verdict.NotApplicable, false), "INCOMPLETE: no check that ran saw the target do anything"},
		{one("MUST", verdict.HarnessError, false), "SUITE FAULT: the suite itself went wrong in 1 requirement"},
	} {
		if text := render(t, c.r, TextOptions{Width: 1000}); !strings.Contains(text, c.want) {
			t.Errorf("want %q in\n%s", c.want, text)
		}
	}
}

func TestManyFailuresStayReadable(t *testing.T) {
	r := Report{}
	q := Requirement{ID: "AXON-ENV-010", Level: "MUST", Section: "envelope", Text: "Wrong types are not accepted.", Verdict: verdict.Fail}
	for i := range 40 {
		s := failing()
		s.Location = fmt.Sprintf("envelope.feature:%d", 100+i)
		for len(s.Transcript) < 200 {
			s.Transcript = append(s.Transcript, s.Transcript[0])
		}
		q.Scenarios = append(q.Scenarios, s)
	}
	r.Requirements = []Requirement{q}
	r.Total()
	text := render(t, r, TextOptions{})
	if lines := strings.Count(text, "\n"); lines > 120 {
		t.Errorf("%d lines for one requirement", lines)
	}
	for _, want := range []string{"and 28 more; --verbose shows all", "176 events more"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if long := render(t, r, TextOptions{Verbose: true}); strings.Count(long, "run again") != 40 {
		t.Errorf("verbose shows %d checks in full, want 40", strings.Count(long, "run again"))
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü 漢字 🙂": "plain äöü 漢字 🙂",
		"a\nb\x00":       `a\nb\x00`,
		"\xff\xfeok":     `\xff\xfeok`,
		"\u2028":         `\u2028`,
		"":               "",
		"\ufffd":         "\ufffd",
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCutKeepsCharactersWhole(t *testing.T) {
	long := strings.Repeat("漢", 1000)
	for limit := 3; limit < 40; limit++ {
		if got := cut(long, limit); strings.ContainsRune(got, '\ufffd') {
			t.Fatalf("limit %d: %q", limit, got)
		}
	}
	if got := cut("short", 10); got != "short" {
		t.Errorf("got %q", got)
	}
}
