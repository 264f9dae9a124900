package fuzz

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/report"
)

// SchemaVersion of Report.
const SchemaVersion = 1

// Finding is something that the target does wrong.
type Finding struct {
	Requirements []string `json:"requirements"`
	// Level of the gravest of them.
	Level    string `json:"level"`
	Title    string `json:"title"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	// Input is the number of the input, and Body what of it still fails.
	Input int    `json:"input"`
	Body  []byte `json:"body"`
	// Scenario is what fails, for a feature file; empty when nothing can be repeated.
	Scenario string `json:"scenario,omitempty"`
	// Tries is how often it was played to make it smaller.
	Tries int `json:"tries"`
	// Seen is how many inputs showed it.
	Seen int `json:"seen"`
	// Steady: its small form failed each time that it was played again.
	Steady bool `json:"steady"`
	// Gone: the target did not live through it.
	Gone bool `json:"gone"`
}

// Memory of the target's process, resident, in bytes.
type Memory struct {
	Before int64 `json:"before"`
	Most   int64 `json:"most"`
	After  int64 `json:"after"`
}

// Report is the outcome of Run.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Suite         string    `json:"suite"`
	Target        string    `json:"target"`
	AgentID       string    `json:"agent_id,omitempty"`
	Started       time.Time `json:"started"`
	DurationMS    float64   `json:"duration_ms"`
	// Seed with which the same inputs are made again.
	Seed uint64 `json:"seed"`
	// Inputs that were sent: Valid ones, those that must not be accepted, and those of
	// which the text leaves it open.
	Inputs  int     `json:"inputs"`
	Valid   int     `json:"valid"`
	Invalid int     `json:"invalid"`
	Open    int     `json:"open"`
	Rate    float64 `json:"rate"` // inputs a second
	// Complete: the run went to its end.
	Complete bool `json:"complete"`
	// Restarts of the target.
	Restarts int       `json:"restarts"`
	Memory   *Memory   `json:"memory,omitempty"`
	Findings []Finding `json:"findings"`
	Notes    []string  `json:"notes"`
}

func (r *Report) finish(took time.Duration) {
	r.DurationMS = float64(took) / float64(time.Millisecond)
	if took > 0 {
		r.Rate = float64(r.Inputs) / took.Seconds()
	}
}

// Broken tells whether there is a finding that counts: about a MUST, or with strict
// about a SHOULD.
func (r Report) Broken(strict bool) bool {
	for _, f := range r.Findings {
		if f.Level == "MUST" || strict {
			return true
		}
	}
	return false
}

// WriteJSON writes a report as one indented JSON object.
func WriteJSON(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteText writes a report for people.
func WriteText(w io.Writer, r Report) error {
	for _, f := range r.Findings {
		WriteFinding(w, f)
	}
	fmt.Fprintf(w, "seed %d: %d inputs in %.1f s (%.0f a second) to %s\n", r.Seed, r.Inputs, r.DurationMS/1000, r.Rate, report.Printable(r.Target))
	fmt.Fprintf(w, "%d valid, %d invalid, %d of which the text leaves it open\n", r.Valid, r.Invalid, r.Open)
	if r.Memory != nil {
		fmt.Fprintf(w, "memory of the target: %.1f MB before, %.1f MB at the most, %.1f MB after\n", megabytes(r.Memory.Before), megabytes(r.Memory.Most), megabytes(r.Memory.After))
	}
	if r.Restarts > 0 {
		fmt.Fprintf(w, "the target was started again %d times\n", r.Restarts)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", report.Printable(n))
	}
	must, should := 0, 0
	for _, f := range r.Findings {
		if f.Level == "MUST" {
			must++
		} else {
			should++
		}
	}
	var err error
	switch {
	case must+should == 0 && r.Complete:
		_, err = fmt.Fprintln(w, "nothing found")
	case must+should == 0:
		_, err = fmt.Fprintln(w, "nothing found until the run ended early")
	default:
		_, err = fmt.Fprintf(w, "found: %d against a MUST, %d against a SHOULD\n", must, should)
	}
	return err
}

func megabytes(n int64) float64 { return float64(n) / 1e6 }

// WriteFinding writes one finding, with the scenario to be pasted into a feature file.
func WriteFinding(w io.Writer, f Finding) {
	fmt.Fprintf(w, "%s %s\n", f.Level, report.Printable(f.Title))
	fmt.Fprintf(w, "  expected: %s\n  actual:   %s\n", report.Printable(f.Expected), report.Printable(f.Actual))
	if f.Gone {
		fmt.Fprintln(w, "  the target did not live through it")
	}
	if !f.Steady && f.Scenario != "" {
		fmt.Fprintln(w, "  it does not fail each time")
	}
	fmt.Fprintf(w, "  input %d, seen %d times, made smaller in %d tries:\n\n", f.Input, f.Seen, f.Tries)
	for line := range strings.Lines(f.Scenario) {
		fmt.Fprintln(w, report.Printable(strings.TrimRight(line, "\n")))
	}
	fmt.Fprintln(w)
}
