package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/axonproto/axon/conformance/verdict"
)

// MaxJSON bounds what ReadJSON takes, in bytes.
const MaxJSON = 256 << 20

// ErrNotReport is wrapped by every error that ReadJSON gives for text that is
// not a report of a version that it knows.
var ErrNotReport = errors.New("not a conformance report")

// WriteJSON writes the report as one indented JSON document with a line end.
// Lists without entries are written as [], never as null.
func WriteJSON(w io.Writer, r Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(filled(r)); err != nil {
		return fmt.Errorf("writing the JSON report: %w", err)
	}
	return nil
}

// filled is a copy of the report in which no list is nil.
func filled(r Report) Report {
	r.Notes = notNil(r.Notes)
	r.Target.Capabilities = notNil(r.Target.Capabilities)
	if r.Baseline != nil {
		b := *r.Baseline
		b.Problems = notNil(b.Problems)
		r.Baseline = &b
	}
	requirements := make([]Requirement, len(r.Requirements))
	for i, q := range r.Requirements {
		scenarios := make([]Scenario, len(q.Scenarios))
		for k, s := range q.Scenarios {
			s.Transcript = notNil(s.Transcript)
			scenarios[k] = s
		}
		q.Scenarios = scenarios
		requirements[i] = q
	}
	r.Requirements = requirements
	return r
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// ReadJSON reads what WriteJSON wrote. It is strict: members that it does not
// know, another schema version, words that are no verdict or level, requirements
// without an id, numbers that cannot be, text after the document and documents above MaxJSON are errors that wrap ErrNotReport.
func ReadJSON(in io.Reader) (Report, error) {
	limited := &io.LimitedReader{R: in, N: MaxJSON + 1}
	text, err := io.ReadAll(limited)
	if err != nil {
		return Report{}, fmt.Errorf("reading the report: %w", err)
	}
	if len(text) > MaxJSON {
		return Report{}, fmt.Errorf("%w: it is larger than %d bytes; split the run with --tags", ErrNotReport, MaxJSON)
	}
	// The version is looked at first: a newer form may well have other members.
	var head struct {
		SchemaVersion *int `json:"schema_version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return Report{}, fmt.Errorf("%w: %w; write one with run --report json=FILE", ErrNotReport, err)
	}
	switch {
	case head.SchemaVersion == nil:
		return Report{}, fmt.Errorf("%w: it has no schema_version; write one with run --report json=FILE", ErrNotReport)
	case *head.SchemaVersion != SchemaVersion:
		return Report{}, fmt.Errorf("%w: its schema_version is %d and this program reads %d; use the program that wrote it",
			ErrNotReport, *head.SchemaVersion, SchemaVersion)
	}
	var r Report
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return Report{}, fmt.Errorf("%w: %w; the file was changed by hand or is of another program", ErrNotReport, err)
	}
	if err := checkWords(r); err != nil {
		return Report{}, err
	}
	if err := checkNumbers(r); err != nil {
		return Report{}, err
	}
	return filled(r), nil
}

func checkWords(r Report) error {
	for _, word := range words(r) {
		if Printable(word) != word {
			return fmt.Errorf("%w: the word %s holds characters that cannot be printed", ErrNotReport, cut(Printable(word), 100))
		}
	}
	for i, q := range r.Requirements {
		if q.ID == "" {
			return fmt.Errorf("%w: requirement %d has no id", ErrNotReport, i)
		}
		if !slices.Contains(Levels(), q.Level) {
			return fmt.Errorf("%w: %s has the level %q; levels are MUST, SHOULD and ADVISORY", ErrNotReport, q.ID, q.Level)
		}
		verdicts := []verdict.Verdict{q.Verdict}
		for _, s := range q.Scenarios {
			verdicts = append(verdicts, s.Verdict)
		}
		for _, v := range verdicts {
			if !slices.Contains(verdict.All(), v) {
				return fmt.Errorf("%w: %s has the verdict %q, which is none; see verdict words in the README", ErrNotReport, q.ID, v)
			}
		}
	}
	return nil
}

// words are what the suite itself chose, and is shown as it stands.
func words(r Report) []string {
	list := []string{r.Suite.Edition}
	for _, q := range r.Requirements {
		list = append(list, q.ID)
		for _, s := range q.Scenarios {
			for _, e := range s.Transcript {
				list = append(list, e.Direction, e.Event)
			}
		}
	}
	return list
}

func checkNumbers(r Report) error {
	switch {
	case r.ExitCode < ExitConformant || r.ExitCode > ExitHarnessError:
		return fmt.Errorf("%w: its exit_code is %d; there are %d to %d", ErrNotReport, r.ExitCode, ExitConformant, ExitHarnessError)
	case r.DurationMS < 0:
		return fmt.Errorf("%w: its duration_ms is below 0", ErrNotReport)
	case r.Shard != nil && (r.Shard.Index < 1 || r.Shard.Index > r.Shard.Of):
		return fmt.Errorf("%w: it is of part %d of %d, which cannot be", ErrNotReport, r.Shard.Index, r.Shard.Of)
	}
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			if s.DurationMS < 0 {
				return fmt.Errorf("%w: the duration_ms of %s is below 0 under %s", ErrNotReport, Printable(s.Location), q.ID)
			}
		}
	}
	return nil
}

// Levels lists the levels from the strictest to the loosest.
func Levels() []string { return []string{"MUST", "SHOULD", "ADVISORY"} }
