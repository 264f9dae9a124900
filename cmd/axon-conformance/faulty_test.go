package main

import (
	"slices"
	"testing"

	"github.com/axonproto/axon/cmd/axon-conformance/internal/faulty"
	"github.com/axonproto/axon/conformance/mutants"
)

// TestFaultsAreMutants: each faulty command line is a mutant, and the other way round.
func TestFaultsAreMutants(t *testing.T) {
	made := faulty.Names()
	listed := mutants.CommandFaults()
	for _, name := range made {
		if !slices.Contains(listed, name) {
			t.Errorf("the fault %s is no mutant: add it to conformance/mutants/table_command*.go", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(made, name) {
			t.Errorf("the mutant %s has no fault: add it to cmd/axon-conformance/internal/faulty", name)
		}
	}
}
