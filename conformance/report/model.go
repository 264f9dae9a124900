// Package report holds the one result model of a run and writes it as text, JSON,
// JUnit, HTML and Markdown. The JSON form is described by schemas/report/report.schema.json;
// other programs build on it, so members are only ever added.
//
// It imports conformance/verdict alone of ours.
package report

import (
	"time"

	"github.com/axonproto/axon/conformance/verdict"
)

// SchemaVersion is the version of the JSON form.
const SchemaVersion = 1

// Report is what one run found.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Suite         Suite     `json:"suite"`
	Target        Target    `json:"target"`
	Started       time.Time `json:"started"`
	DurationMS    float64   `json:"duration_ms"`
	// Conformant: the run is complete, no MUST is broken (with strict, no SHOULD
	// either), and at least one check saw the target do something.
	Conformant bool `json:"conformant"`
	// Complete: nothing selected was kept from running.
	Complete bool `json:"complete"`
	// Strict: a broken SHOULD counts as a broken MUST does.
	Strict       bool          `json:"strict"`
	ExitCode     int           `json:"exit_code"`
	Notes        []string      `json:"notes"`
	Summary      Summary       `json:"summary"`
	Requirements []Requirement `json:"requirements"`
	// Baseline is set when the run was held against a list of expected failures.
	Baseline *Baseline `json:"baseline,omitempty"`
	// Shard is set when the run was one part of several.
	Shard *Shard `json:"shard,omitempty"`
}

// Baseline tells what a list of expected failures made of a run.
type Baseline struct {
	// File as the user named it.
	File string `json:"file"`
	// Known and New count the broken requirements; one is known when each of its
	// broken checks is.
	Known int `json:"known"`
	New   int `json:"new"`
	// Unjudged counts the entries that this run says nothing about.
	Unjudged int `json:"unjudged"`
	// Problems are the entries that do not hold any more; each fails the run.
	Problems []BaselineProblem `json:"problems"`
}

// Kinds of BaselineProblem.
const (
	EntryPasses   = "passes"          // what it expects to fail passes
	EntryUnknown  = "matches-nothing" // there is no such requirement or scenario
	EntryOutdated = "past-its-date"   // its date has gone by
)

// BaselineProblem is an entry of a baseline that does not hold any more.
type BaselineProblem struct {
	Kind  string `json:"kind"`
	Entry string `json:"entry"`
	Line  int    `json:"line"`
	Text  string `json:"text"`
}

// Known is why a failure was expected.
type Known struct {
	Reason string `json:"reason"`
	Issue  string `json:"issue,omitempty"`
	Until  string `json:"until,omitempty"`
}

// Shard says which part of a run a report is of: Index from 1 to Of.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

// Suite names the suite that made the report.
type Suite struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Edition string `json:"edition"`
}

// Key sources of a target.
const (
	KeyPinned  = "pinned"
	KeyLearned = "learned, not pinned"
	KeyBundled = "bundled"
)

// Target names the implementation under test.
type Target struct {
	Address      string   `json:"address"`
	AgentID      string   `json:"agent_id"`
	PublicKey    string   `json:"public_key"`
	KeySource    string   `json:"key_source"`
	Capabilities []string `json:"capabilities"`
	// Name and Version of the implementation, as it tells them; empty when it has
	// no way to.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
}

// Counts is the number of requirements by verdict.
type Counts struct {
	Pass          int `json:"pass"`
	Fail          int `json:"fail"`
	Warn          int `json:"warn"`
	Observed      int `json:"observed"`
	NotApplicable int `json:"not_applicable"`
	CouldNotRun   int `json:"could_not_run"`
	HarnessError  int `json:"harness_error"`
}

// Summary counts requirements by level and verdict.
type Summary struct {
	Must     Counts `json:"must"`
	Should   Counts `json:"should"`
	Advisory Counts `json:"advisory"`
}

// Requirement is the result for one sentence of the spec.
type Requirement struct {
	ID        string          `json:"id"`
	Level     string          `json:"level"`
	Section   string          `json:"section"`
	Text      string          `json:"text"`
	Verdict   verdict.Verdict `json:"verdict"`
	Scenarios []Scenario      `json:"scenarios"`
	// What the text has beside the sentence. Reports of older programs do not
	// have these.
	SectionTitle string `json:"section_title,omitempty"`
	// SeedLines are lines of the edition's text; Source says where a sentence
	// that is not from there comes from.
	SeedLines []int  `json:"seed_lines,omitempty"`
	Source    string `json:"source,omitempty"`
	// Why it matters, and what usually breaks it with the way out.
	Why string `json:"why,omitempty"`
	Fix string `json:"fix,omitempty"`
}

// Scenario is the result of one check; a scenario that serves several
// requirements stands under each of them, with the verdict that it has there.
type Scenario struct {
	Name     string          `json:"name"`
	Location string          `json:"location"`
	Verdict  verdict.Verdict `json:"verdict"`
	// Reason says why the verdict is what it is, for all but a plain pass.
	Reason     string  `json:"reason"`
	Expected   string  `json:"expected"`
	Actual     string  `json:"actual"`
	DurationMS float64 `json:"duration_ms"`
	Transcript []Event `json:"transcript"`
	// Rerun is a command that runs just this check again.
	Rerun string `json:"rerun"`
	// Steps are the sentences that the check consists of, for all but what
	// passed or was not applicable.
	Steps []string `json:"steps,omitempty"`
	// WholeRun: it judges everything that was seen in the run.
	WholeRun bool `json:"whole_run,omitempty"`
	// Known is set when the baseline expects this check to be broken here.
	Known *Known `json:"known,omitempty"`
	// QLog is the file with the log of the connection on which the check failed; in
	// a stored report relative to that.
	QLog string `json:"qlog,omitempty"`
}

// Event is one line of a transcript.
type Event struct {
	AtMS       float64 `json:"at_ms"`
	Direction  string  `json:"direction"`
	Connection int     `json:"connection"`
	// Stream is the QUIC stream id, -1 for the connection itself.
	Stream int64  `json:"stream"`
	Event  string `json:"event"`
	// Text or Hex holds the bytes of data, or the text of a note.
	Text  string `json:"text,omitempty"`
	Hex   string `json:"hex,omitempty"`
	Bytes int    `json:"bytes"`
	Code  uint64 `json:"code"`
	Fin   bool   `json:"fin"`
}

// Add counts one requirement.
func (c *Counts) Add(v verdict.Verdict) {
	switch v {
	case verdict.Pass:
		c.Pass++
	case verdict.Fail:
		c.Fail++
	case verdict.Warn:
		c.Warn++
	case verdict.Observed:
		c.Observed++
	case verdict.NotApplicable:
		c.NotApplicable++
	case verdict.CouldNotRun:
		c.CouldNotRun++
	default:
		c.HarnessError++
	}
}
