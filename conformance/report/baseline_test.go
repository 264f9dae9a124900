package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/schemas"
)

// expectedFailures is a run with one failure that is known and one that is new.
func expectedFailures() Report {
	r := good()
	known := failing()
	known.Location, known.Actual = "envelope.feature:1", "another fault"
	known.Known = &Known{Reason: "the <next> release", Issue: "https://example.org/7", Until: "2026-12-31"}
	r.Requirements = append(r.Requirements,
		Requirement{ID: "AXON-ENV-001", Level: "MUST", Section: "envelope", Text: "One object.", Verdict: verdict.Fail, Scenarios: []Scenario{known}},
		Requirement{ID: "AXON-ENV-002", Level: "MUST", Section: "envelope", Text: "No other member.", Verdict: verdict.Fail, Scenarios: []Scenario{failing()}})
	r.Baseline = &Baseline{File: "known.yaml"}
	r.Total()
	return r
}

func TestTotalWithABaseline(t *testing.T) {
	r := expectedFailures()
	if b := r.Baseline; b.Known != 1 || b.New != 1 || r.ExitCode != ExitBroken || r.Conformant {
		t.Errorf("one of two is new: got %+v, exit %d", b, r.ExitCode)
	}
	r.Requirements[3].Scenarios[0].Known = &Known{Reason: "so be it"}
	r.Total()
	if b := r.Baseline; b.Known != 2 || b.New != 0 || r.ExitCode != ExitConformant || r.Conformant || !r.Complete {
		t.Errorf("both are known: got %+v, exit %d, conformant %t", b, r.ExitCode, r.Conformant)
	}
	r.Baseline.Problems = []BaselineProblem{{Kind: EntryPasses, Entry: "AXON-ENV-003", Line: 4, Text: "AXON-ENV-003 passes now"}}
	r.Total()
	if r.ExitCode != ExitBroken {
		t.Errorf("an entry that does not hold ends in exit %d", r.ExitCode)
	}
	// What could not run is never expected, and a fault of the suite is one.
	r.Baseline.Problems = nil
	r.Requirements[0].Verdict, r.Requirements[0].Scenarios[0].Verdict = verdict.CouldNotRun, verdict.CouldNotRun
	if r.Total(); r.ExitCode != ExitIncomplete {
		t.Errorf("with a check that could not run: exit %d", r.ExitCode)
	}
	r.Requirements[0].Verdict, r.Requirements[0].Scenarios[0].Verdict = verdict.HarnessError, verdict.HarnessError
	if r.Total(); r.ExitCode != ExitHarnessError {
		t.Errorf("with a fault of the suite: exit %d", r.ExitCode)
	}
	// Without a baseline a mark means nothing.
	r = expectedFailures()
	r.Baseline = nil
	if r.Total(); r.ExitCode != ExitBroken {
		t.Errorf("without a baseline: exit %d", r.ExitCode)
	}
}

// TestKnownFromNew: every form tells the known failure from the new one.
func TestKnownFromNew(t *testing.T) {
	r := expectedFailures()
	r.Baseline.Problems = []BaselineProblem{{Kind: EntryOutdated, Entry: "AXON-ENV-003", Line: 4, Text: "AXON-ENV-003 was accepted until 2026-01-01"}}
	r.Baseline.Unjudged = 1
	r.Total()
	write := map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return WriteText(b, r, TextOptions{Width: 200}) },
		"quiet":    func(b *bytes.Buffer) error { return WriteText(b, r, TextOptions{Width: 200, Quiet: true}) },
		"markdown": func(b *bytes.Buffer) error { return WriteMarkdown(b, r) },
		"html":     func(b *bytes.Buffer) error { return WriteHTML(b, r, HTMLOptions{}) },
		"junit":    func(b *bytes.Buffer) error { return WriteJUnit(b, r) },
	}
	for name, wants := range map[string][]string{
		"text": {"NEWLY BROKEN (1)\n\n 1. AXON-ENV-002", "KNOWN TO BE BROKEN (1, by known.yaml)\n   AXON-ENV-001  MUST  1 check\n      the <next> release (https://example.org/7), until 2026-12-31\n",
			"BASELINE OUT OF DATE (1)\n   known.yaml:4: AXON-ENV-003 was accepted", "says nothing about 1 entry\n",
			"NOT CONFORMANT: 1 requirement is newly broken, 1 known one is still broken, 1 entry of the baseline does not hold any more; look at AXON-ENV-002 first (exit 1)"},
		"quiet":    {"fail AXON-ENV-002 ", "baseline known.yaml:4: AXON-ENV-003 was accepted"},
		"markdown": {"### Newly broken, in the order to mend (1)\n\n**1. AXON-ENV-002** ", "### Baseline out of date (1)\n\n- `known.yaml:4`: `AXON-ENV-003 was accepted", "- **AXON-ENV-001** `the <next> release (https://example.org/7), until 2026-12-31`"},
		"html": {`data-news="new"`, `data-news="known"`, `the &lt;next&gt; release (<a href="https://example.org/7" rel="noreferrer">https://example.org/7</a>), until 2026-12-31`,
			"line 4: AXON-ENV-003 was accepted", `data-filter="news" data-value="new"`},
		"junit": {`<skipped message="known to be broken: the &lt;next&gt; release (https://example.org/7), until 2026-12-31">`, `<failure message="AXON-ENV-003 was accepted until 2026-01-01" type="past-its-date">`,
			`tests="5" failures="2" errors="0" skipped="2"`},
	} {
		var b bytes.Buffer
		if err := write[name](&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s does not say %q:\n%.3000s", name, want, b.String())
			}
		}
		if name == "quiet" && strings.Contains(b.String(), "AXON-ENV-001") {
			t.Errorf("the quiet form speaks of what is known: %s", b.String())
		}
	}
}

// TestCheckKnownInPart: a check that serves two requirements, of which only one is
// listed, is a failure.
func TestCheckKnownInPart(t *testing.T) {
	r := good()
	one, two := failing(), failing()
	one.Known = &Known{Reason: "listed"}
	r.Requirements = append(r.Requirements,
		Requirement{ID: "AXON-ENV-001", Level: "MUST", Section: "envelope", Text: "T.", Verdict: verdict.Fail, Scenarios: []Scenario{one}},
		Requirement{ID: "AXON-ENV-002", Level: "MUST", Section: "envelope", Text: "T.", Verdict: verdict.Fail, Scenarios: []Scenario{two}})
	r.Baseline = &Baseline{File: "known.yaml"}
	r.Total()
	var b bytes.Buffer
	if err := WriteJUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal(b.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Failures != 1 || suites.Skipped != 1 {
		t.Errorf("got %d failures and %d skipped", suites.Failures, suites.Skipped)
	}
	if r.Baseline.Known != 1 || r.Baseline.New != 1 {
		t.Errorf("got %+v", r.Baseline)
	}
}

func TestBaselineInJSON(t *testing.T) {
	r := expectedFailures()
	r.Shard = &Shard{Index: 1, Of: 3}
	r.Requirements[3].Scenarios[0].QLog = "logs/a.sqlog"
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := schemas.MustCompile(schemas.Report).Validate(b.Bytes()); err != nil {
		t.Error(err)
	}
	back, err := ReadJSON(&b)
	if err != nil || back.Baseline.New != 1 || back.Shard.Of != 3 || back.Requirements[2].Scenarios[0].Known.Issue != "https://example.org/7" {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestExpectedConclusions(t *testing.T) {
	r := expectedFailures()
	r.Requirements[3].Scenarios[0].Known = &Known{Reason: "listed"}
	r.Total()
	text := func() string {
		var b bytes.Buffer
		if err := WriteText(&b, r, TextOptions{Quiet: true, Width: 300}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got, want := text(), "AS EXPECTED: 2 requirements are broken, as the baseline says, and nothing else is (exit 0)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Baseline.Problems = []BaselineProblem{{Line: 1, Text: "gone"}}
	if r.Total(); !strings.Contains(text(), "BASELINE OUT OF DATE: 2 known ones are still broken, 1 entry of the baseline does not hold any more (exit 1)") {
		t.Errorf("got %q", text())
	}
}
