package mutants

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/axonproto/axon/features"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/spec"
)

// each is the part of the mutants, one in so many, that a test run meets.
const each = 59

// TestSubset is a part of the self test that is quick and always the same;
// `axon-conformance selftest` is the whole.
func TestSubset(t *testing.T) {
	names := []string{"odd-correct"}
	for i, m := range Mutants() {
		if i%each == 0 && m.change != nil && m.Ceiling == 0 && !m.Heavy && !m.Whole {
			names = append(names, m.Name)
		}
	}
	if len(names) < 8 {
		t.Errorf("only %d peers are met", len(names))
	}
	last := 0
	m, err := SelfTest(t.Context(), Options{Names: names, Progress: func(done, total int, _ Row) {
		if last++; done != last || total != len(names) {
			t.Errorf("progress says %d of %d", done, total)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range m.Rows {
		if r.Name != names[i] {
			t.Errorf("row %d is %s, not %s", i, r.Name, names[i])
		}
	}
	for _, p := range m.Problems() {
		t.Error(p)
	}
	if t.Failed() {
		t.Log("\n" + m.Text(true))
	}
}

// TestEveryWireSentenceHasAMutant: the needs wire and quiet are all that these peers
// can be met by.
func TestEveryWireSentenceHasAMutant(t *testing.T) {
	made := map[string]bool{}
	for _, m := range List() {
		for _, id := range m.Requirements {
			made[id] = true
		}
	}
	for _, q := range spec.Requirements() {
		wire := slices.ContainsFunc(q.Needs, func(together []spec.Need) bool {
			return !slices.ContainsFunc(together, func(n spec.Need) bool { return n != spec.Wire && n != spec.Quiet })
		})
		if wire && !q.Withdrawn && q.Level != spec.Advisory && !made[q.ID] {
			t.Errorf("%s has no mutant", q.ID)
		}
	}
}

// TestOthersAreSurvivors: a mutant that is not caught, and one that is caught by the
// wrong sentence or for the wrong reason, is a problem.
func TestOthersAreSurvivors(t *testing.T) {
	checks, err := newSelection(features.FS())
	if err != nil {
		t.Fatal(err)
	}
	me, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		made  []string
		why   string
		fault change
		want  bool
	}{
		{"no-fault", ids("ENV-006"), ".", func(*manner) {}, true},
		{"another-sentence", ids("ENV-015"), ".", coding(`"no_handler"`), true},
		{"another-reason", ids("DEFERR-003"), "the moon", coding(`"no_handler"`), true},
		{"blamed-besides", ids("DEFERR-003"), "no_handler", coding(`"no_handler"`), true},
		{"as-it-should-be", ids("DEFERR-003", "FWD-002"), "no_handler", coding(`"no_handler"`), false},
	} {
		j := &job{row: Row{Name: c.name, Sort: SortMutant, MadeFor: c.made}, reason: regexp.MustCompile(c.why), change: c.fault}
		// FWD-002 is broken by a wrong code as well, and has to be met for that.
		whole := c.name == "blamed-besides"
		row, err := j.lookWire(t.Context(), Options{Features: features.FS()}, checks, me, whole)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(row.Problems) > 0; got != c.want {
			t.Errorf("%s: problems %q", c.name, row.Problems)
		}
	}
}

func TestAnUnknownNameIsAnError(t *testing.T) {
	if _, err := SelfTest(t.Context(), Options{Names: []string{"nobody"}}); !IsUnknownName(err) {
		t.Errorf("got %v", err)
	}
}

func TestACancelledSelfTestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := SelfTest(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
