package mutants

import (
	"slices"
	"strings"
	"testing"

	"github.com/axonproto/axon/spec"
)

// eachLocal is the part of the mutants with a local API, one in so many, that a test
// run meets.
const eachLocal = 20

// TestLocalSubset is a part of the self test through the local API that is quick and
// always the same.
func TestLocalSubset(t *testing.T) {
	var names []string
	for i, m := range localMutants() {
		if i%eachLocal == 0 && m.Ceiling == 0 && !m.Heavy {
			names = append(names, m.Name)
		}
	}
	if len(names) < 4 {
		t.Errorf("only %d daemons are met", len(names))
	}
	m, err := SelfTest(t.Context(), Options{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Problems() {
		t.Error(p)
	}
	if t.Failed() {
		t.Log("\n" + m.Text(true))
	}
}

// throughCommands are the sentences about the daemon's life: their checks start
// daemons of their own, so they are broken at the command line.
var throughCommands = []string{"AXON-IPC-058", "AXON-IPC-076", "AXON-IPC-077", "AXON-IPC-078", "AXON-IPC-079"}

// TestEveryLocalSentenceHasAMutant: so has each that needs the target to send, to have
// a handler, or to show what it delivers.
func TestEveryLocalSentenceHasAMutant(t *testing.T) {
	made := map[string]bool{}
	for _, m := range List() {
		for _, id := range m.Requirements {
			made[id] = true
		}
	}
	if !slices.ContainsFunc(localMutants(), func(m Mutant) bool { return slices.Contains(m.For, "AXON-IPC-003") }) {
		made["AXON-IPC-003"] = true // nobody here could tell
	}
	for _, q := range spec.Requirements() {
		local := strings.HasPrefix(q.ID, "AXON-IPC-") || slices.ContainsFunc(q.Needs, func(together []spec.Need) bool {
			return slices.ContainsFunc(together, func(n spec.Need) bool { return n == spec.Drive || n == spec.Handle || n == spec.Observe })
		})
		if local && !q.Withdrawn && q.Level != spec.Advisory && !made[q.ID] && !slices.Contains(throughCommands, q.ID) {
			t.Errorf("%s has no mutant", q.ID)
		}
	}
}
