package mutants

import (
	"os"
	"strings"
	"testing"

	"github.com/axonproto/axon/harness/lan/netns"
	"github.com/axonproto/axon/spec"
)

// TestEachSentenceOfDiscoveryIsBroken: a neighbour breaks each.
func TestEachSentenceOfDiscoveryIsBroken(t *testing.T) {
	broken := map[string]bool{}
	for _, m := range Mutants() {
		if m.lan != nil {
			for _, id := range m.For {
				broken[id] = true
			}
		}
	}
	for _, q := range spec.Requirements() {
		if strings.HasPrefix(q.ID, "AXON-DISC-") && q.Level != spec.Advisory && !q.Withdrawn && !broken[q.ID] {
			t.Errorf("no neighbour breaks %s", q.ID)
		}
	}
}

// TestSomeNeighbours is a fast part of the self test on private networks.
func TestSomeNeighbours(t *testing.T) {
	if err := netns.Possible(); err != nil {
		if os.Getenv(requireNetwork) != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	m, err := SelfTest(t.Context(), Options{Names: []string{"lan-key-in-hex", "lan-off-answers", "lan-replaces-a-pin"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + m.Text(false))
	for _, p := range m.Problems() {
		t.Error(p)
	}
}
