package suite

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/trace"
	"github.com/axonproto/axon/spec"
)

// result is what one execution of a check found.
type result struct {
	location string
	verdict  verdict.Verdict // before the level of a requirement is applied
	own      bool            // see Options.Own
	// only are the ids that a failure is about; empty means all of the check's.
	only             []string
	reason           string
	expected, actual string
	transcript       []report.Event
	took             time.Duration
	// connection is that of the failure, 0 for none; qlog is the file of its log.
	connection int
	qlog       string
}

// newResult reads the outcome of a finished scenario.
func newResult(k *check, s *steps.Scenario, took time.Duration) *result {
	res := &result{location: k.location, took: took, verdict: verdict.Pass, reason: s.Observed}
	var failure *verdict.Failure
	var inapplicable *verdict.Inapplicable
	var blocked *verdict.Blocked
	switch {
	case s.Err == nil:
	case errors.As(s.Err, &failure):
		res.verdict = verdict.Fail
		res.reason = failure.Actual
		res.expected, res.actual, res.only = failure.Expected, failure.Actual, failure.Requirements
		res.connection = failure.Connection
		events := s.Evidence
		if events == nil && failure.Connection > 0 {
			events = s.Log().Of(failure.Connection, failure.Stream)
		}
		if events == nil {
			events = s.Log().Events()
		}
		res.transcript = transcript(events)
	case errors.As(s.Err, &inapplicable):
		res.verdict, res.reason = verdict.NotApplicable, inapplicable.Reason
	case errors.As(s.Err, &blocked):
		res.verdict, res.reason = verdict.CouldNotRun, blocked.Error()
		res.transcript = transcript(s.Log().Events())
	default:
		res.verdict, res.reason = verdict.HarnessError, s.Err.Error()
		res.transcript = transcript(s.Log().Events())
	}
	return res
}

// note adds a remark to the reason and to what was seen.
func (res *result) note(remark string) {
	res.reason += "; " + remark
	if res.actual != "" {
		res.actual += "; " + remark
	}
}

// block turns a failure into a check that could not run.
func (res *result) block(why string) {
	res.verdict, res.reason = verdict.CouldNotRun, why+": "+res.reason
	res.expected, res.actual = "", ""
}

// under is the verdict of a result for one requirement.
func (res *result) under(id string) verdict.Verdict {
	v := res.verdict
	if v == verdict.Fail && len(res.only) > 0 && !slices.Contains(res.only, id) {
		v = verdict.Pass
	}
	q, _ := spec.Lookup(id)
	return v.ForLevel(levelOf(q, res.own))
}

// worst is the result's verdict over all requirements of its check.
func (res *result) worst(k *check) verdict.Verdict {
	var all []verdict.Verdict
	for _, id := range k.ids {
		all = append(all, res.under(id))
	}
	return verdict.Worst(all...)
}

// transcriptHead and transcriptTail bound a transcript: what began it and what
// ended it.
const (
	transcriptHead = 40
	transcriptTail = 40
)

func transcript(events []trace.Event) []report.Event {
	out := make([]report.Event, 0, min(len(events), transcriptHead+transcriptTail+1))
	for i, e := range events {
		if left := len(events) - transcriptHead - transcriptTail; left > 0 && i >= transcriptHead && i < transcriptHead+left {
			if i == transcriptHead {
				out = append(out, report.Event{AtMS: milliseconds(e.At), Direction: "local", Stream: -1, Event: "note", Text: fmt.Sprintf("%d events left out", left)})
			}
			continue
		}
		out = append(out, EventOf(e))
	}
	return out
}

// EventOf gives an event the form that it has in a report.
func EventOf(e trace.Event) report.Event {
	line := report.Event{
		AtMS: milliseconds(e.At), Direction: string(e.Direction), Connection: e.Connection, Stream: e.Stream,
		Event: string(e.Kind), Bytes: e.Bytes, Code: e.Code, Text: printable(e.Text), Fin: e.Kind == trace.Fin,
	}
	if e.Kind == trace.Data {
		if line.Text = string(e.Data); !isText(e.Data) {
			line.Text, line.Hex = "", hex.EncodeToString(e.Data)
		}
	}
	return line
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// isText: bytes that a person can read and a terminal survives.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}

// printable escapes what a terminal would act on: reasons come from the target.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}
