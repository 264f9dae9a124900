// Package wire reads and writes envelope bytes with a strict JSON reader of its
// own, written apart from the daemon's so that the two do not share a mistake.
//
// It reports what is there and never judges a target. It imports the standard
// library (no JSON package of it) and a UUID generator. It serves AXON-ENV-…,
// AXON-REF-…, AXON-PAY-001, AXON-PAY-004, AXON-ERRPAY-… and AXON-LIMIT-004.
package wire
