package fuzz

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/axonproto/axon/spec"
)

// SchemaVersion of Report; see schemas/fuzz/report.schema.json.
const SchemaVersion = 1

// Report is what came of a run.
type Report struct {
	SchemaVersion int    `json:"schema_version"`
	Suite         string `json:"suite,omitempty"`
	Target        string `json:"target"`
	AgentID       string `json:"agent_id,omitempty"`
	// Seed repeats the run.
	Seed        uint64  `json:"seed"`
	DurationMS  float64 `json:"duration_ms"`
	Inputs      int     `json:"inputs"`
	Connections int     `json:"connections"`
	// Outcomes counts the inputs by what had to come of them: accepted, unknown,
	// silent, refused, open.
	Outcomes map[string]int `json:"outcomes"`
	// Complete: the target was there to the end.
	Complete bool      `json:"complete"`
	Findings []Finding `json:"findings"`
	Notes    []string  `json:"notes"`
	// Memory of the target's process in bytes, before and after; nil: not known.
	Memory *Memory `json:"memory,omitempty"`
}

// Memory is what a process holds in bytes.
type Memory struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// Finding is something that did not come out as the text demands, and that could be
// repeated.
type Finding struct {
	// Input is the number of the input of the run, from 0.
	Input        int      `json:"input"`
	Requirements []string `json:"requirements"`
	// Level is the strictest of the requirements, MUST or SHOULD.
	Level    string `json:"level"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	// Lost: the target did not answer any more.
	Lost bool `json:"lost"`
	// Scenario repeats it, as it can stand in a feature file.
	Scenario string `json:"scenario,omitempty"`
}

// Broken tells whether a MUST is broken; with strict, or a SHOULD.
func (r Report) Broken(strict bool) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return strict || f.Level == string(spec.Must) })
}

// levelOf is the strictest level of sentences.
func levelOf(ids []string) string {
	for _, q := range spec.Requirements() {
		if q.Level == spec.Must && slices.Contains(ids, q.ID) {
			return string(spec.Must)
		}
	}
	return string(spec.Should)
}

// Text writes the report for people.
func (r Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d inputs on %d connections in %.1f s, %.0f a second\n", r.Seed, r.Inputs, r.Connections, r.DurationMS/1000, float64(r.Inputs)/max(r.DurationMS/1000, 0.001))
	for _, o := range []struct {
		what outcome
		text string
	}{
		{accepted, "valid requests, to be accepted"},
		{unknown, "of a kind that nobody knows, to get the default error"},
		{silent, "valid on a unidirectional stream, to draw no answer"},
		{refused, "no envelopes, not to be accepted"},
		{open, "left open by the text, to do no harm"},
	} {
		fmt.Fprintf(&b, "%8d %s\n", r.Outcomes[string(o.what)], o.text)
	}
	if r.Memory != nil {
		fmt.Fprintf(&b, "the target's process held %.1f MB before and %.1f MB after\n", float64(r.Memory.Before)/1e6, float64(r.Memory.After)/1e6)
	}
	for i, f := range r.Findings {
		about := strings.Join(f.Requirements, ", ")
		if about == "" {
			about = "memory"
		}
		fmt.Fprintf(&b, "\nFINDING %d  %s  %s\n  expected  %s\n  actual    %s\n\n%s", i+1, f.Level, about, f.Expected, f.Actual, f.Scenario)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\nnote: %s\n", n)
	}
	switch {
	case len(r.Findings) > 0:
		fmt.Fprintf(&b, "\n%d found. Put the scenarios below a line \"Feature: Found by fuzzing\" into a file\nof a folder DIR, and repeat them with 'axon-conformance run --features DIR'.\n", len(r.Findings))
	case r.Complete && r.Inputs > 0:
		b.WriteString("\nNothing was found.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// memoryBefore and memoryAfter look at the target's process, where it is known.
func (f *fuzzer) memoryBefore() {
	if f.Memory != nil {
		f.before = f.Memory()
	}
}

// mayGrow is what a target may hold more after a run than before: it keeps nothing of
// what it refused, but has grown to its working size.
const mayGrow = 128 << 20

func (f *fuzzer) memoryAfter() {
	if f.before == 0 {
		return
	}
	after := f.Memory()
	if after == 0 {
		return
	}
	f.report.Memory = &Memory{Before: f.before, After: after}
	if after > 3*f.before+mayGrow && !slices.ContainsFunc(f.report.Findings, func(x Finding) bool { return x.Lost }) {
		f.report.Findings = append(f.report.Findings, Finding{
			Input: f.report.Inputs, Requirements: []string{}, Level: string(spec.Must),
			Expected: fmt.Sprintf("the target's process holds at most %d MB after the run, having held %d MB before", (3*f.before+mayGrow)>>20, f.before>>20),
			Actual:   fmt.Sprintf("it holds %d MB: look for something that it keeps for each input", after>>20),
		})
	}
}
