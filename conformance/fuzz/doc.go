// Package fuzz sends a peer inputs that nobody wrote down: envelopes made by a grammar
// and then damaged, on streams of both types. What has to come of each follows from
// what the suite's own strict reader finds in its bytes, and is judged by the steps of
// the feature files, so that each finding is a scenario that can be kept.
//
// It may import harness, spec, conformance/steps and conformance/verdict. It serves
// AXON-ENV-006, -009, -010, -013 to -015, AXON-PAY-002, -004, AXON-LIMIT-001, -002 and
// -004, AXON-KIND-002, -005 and -008, AXON-REF-002 to -004 and AXON-FWD-001 and -002.
package fuzz
