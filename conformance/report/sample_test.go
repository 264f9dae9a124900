package report

import (
	"time"

	"github.com/axonproto/axon/conformance/verdict"
)

// sample is a report with one of everything.
func sample() Report {
	r := Report{
		SchemaVersion: SchemaVersion,
		Suite:         Suite{Name: "axon-conformance", Version: "devel", Edition: "2026-02-16"},
		Target: Target{Address: "127.0.0.1:7100", AgentID: "ed25519.00112233445566778899aabbccddeeff",
			PublicKey: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", KeySource: KeyLearned, Capabilities: []string{"wire", "quiet"}},
		Started:    time.Date(2026, 2, 16, 12, 0, 0, 0, time.UTC),
		DurationMS: 1234.5,
		Notes:      []string{"The key was learned, so another peer at this address would not be noticed."},
		Requirements: []Requirement{
			{ID: "AXON-KIND-002", Level: "MUST", Section: "kinds", Text: "A request is answered on its own stream by exactly one response or error.",
				Verdict: verdict.Pass, Scenarios: []Scenario{
					{Name: "A request is answered", Location: "kinds.feature:12", Verdict: verdict.Pass, DurationMS: 3, Rerun: "axon-conformance run --scenario kinds.feature:12"}}},
			{ID: "AXON-ENV-002", Level: "MUST", Section: "envelope", Text: "An envelope has the members id, kind, payload and, where due, ref, and no other.",
				Verdict: verdict.Fail, Scenarios: []Scenario{failing()}},
			{ID: "AXON-ENV-007", Level: "MUST", Section: "envelope", Text: "The kind is one of the four.",
				Verdict: verdict.Fail, Scenarios: []Scenario{failing()}},
			{ID: "AXON-REF-005", Level: "MUST", Section: "ref", Text: "Each reply carries its own request's id.",
				Verdict: verdict.CouldNotRun, Scenarios: []Scenario{
					{Name: "64 at once", Location: "ref.feature:40", Verdict: verdict.CouldNotRun, Reason: "the target went away", Rerun: "axon-conformance run --scenario ref.feature:40"}}},
			{ID: "AXON-REF-001", Level: "SHOULD", Section: "ref", Text: "No reference, no member.",
				Verdict: verdict.NotApplicable, Scenarios: []Scenario{
					{Name: "Nothing without a reference", Location: "ref.feature:9", Verdict: verdict.NotApplicable, Reason: "the target cannot be made to send"}}},
			{ID: "AXON-ERRPAY-001", Level: "SHOULD", Section: "payloads", Text: "An error payload has a code, a message and retryable.",
				Verdict: verdict.Warn, Scenarios: []Scenario{
					{Name: "The usual shape", Location: "payloads.feature:7", Verdict: verdict.Warn, Expected: "retryable to be a boolean", Actual: "it is missing",
						Rerun: "axon-conformance run --scenario payloads.feature:7"}}},
			{ID: "AXON-ENV-016", Level: "ADVISORY", Section: "envelope", Text: "What is done with extra members.",
				Verdict: verdict.Observed, Scenarios: []Scenario{
					{Name: "An extra member", Location: "envelope.feature:90", Verdict: verdict.Observed, Reason: "it is ignored"}}},
			{ID: "AXON-TLS-001", Level: "MUST", Section: "tls", Text: "The token is negotiated.",
				Verdict: verdict.HarnessError, Scenarios: []Scenario{
					{Name: "The token", Location: "tls.feature:5", Verdict: verdict.HarnessError, Reason: "a step is not defined"}}},
		},
	}
	r.Total()
	return r
}

func failing() Scenario {
	return Scenario{
		Name: "No member beyond the four", Location: "envelope.feature:20", Verdict: verdict.Fail,
		Expected: "the members id, kind, payload and ref", Actual: "the reply also has \x1b[31m\"from\"",
		DurationMS: 12.5, Rerun: "axon-conformance run --target 127.0.0.1:7100 --scenario envelope.feature:20",
		Transcript: []Event{
			{AtMS: 0.5, Direction: "sent", Connection: 1, Stream: 4, Event: "data", Text: `{"id":"x"}`, Bytes: 10},
			{AtMS: 0.6, Direction: "sent", Connection: 1, Stream: 4, Event: "fin", Fin: true},
			{AtMS: 1.5, Direction: "received", Connection: 1, Stream: 4, Event: "data", Hex: "00ff", Bytes: 2},
			{AtMS: 1.6, Direction: "received", Connection: 1, Stream: 4, Event: "reset", Code: 0},
			{AtMS: 2, Direction: "received", Connection: 1, Stream: -1, Event: "close", Code: 18, Text: "bye\r\n\x1b]0;title\a"},
		},
	}
}

// good is a report of a target that keeps to everything it was asked.
func good() Report {
	r := sample()
	r.Requirements = []Requirement{r.Requirements[0], r.Requirements[4]}
	r.Total()
	return r
}
