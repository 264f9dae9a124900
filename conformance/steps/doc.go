// Package steps turns the sentences of the feature files into acts of the
// harness and judgements of what was seen.
//
// A step either acts (Given, When) or judges (Then). Judging steps return the
// errors of conformance/verdict; any other error is a fault of the suite. What
// every envelope of the target must be is checked on each one that arrives,
// whatever the scenario was after, and kept in a Record for the whole run: that is
// how a fault shows that occurs only now and then.
//
// The package may import harness, spec, conformance/verdict and godog.
package steps
