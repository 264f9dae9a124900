// Package suite chooses the scenarios of a run, has godog execute them against a
// target, and totals what they found.
//
// godog runs the steps; selection, results and reports are ours, because its own
// take an expression that matches nothing, and a step that is not defined, for
// success. The package may import harness, spec, features and the rest of
// conformance except cli and mutants.
package suite
