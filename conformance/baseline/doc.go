// Package baseline reads and writes lists of expected failures, and holds the
// report of a run against one. With such a list a target that is known to break
// something can be watched in CI: what is listed fails no run, what is new does, and
// so does an entry that no longer holds.
//
//	edition: 2026-02-16
//	expected:
//	  - requirement: AXON-REF-005
//	    reason: replies are mixed up under load, rewritten in 2.0
//	    issue: https://example.org/issues/7
//	    until: 2026-12-31
//	  - scenario: "envelope.feature: No member beyond the four"
//	    reason: from is still sent, for old peers
//
// Only broken checks can be expected: what could not run never is, so that a dead
// target stays an incomplete run. The form is described by
// schemas/baseline/baseline.schema.json.
//
// It may import conformance/report, conformance/verdict and spec. It serves no
// requirement by itself.
package baseline
