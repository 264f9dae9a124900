package mutants

import (
	"regexp"
	"testing"

	"go.uber.org/goleak"

	"github.com/axonproto/axon/spec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTable: names are unique and in kebab-case, ids exist, texts are there.
func TestTable(t *testing.T) {
	kebab := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	name := func(n string) {
		if !kebab.MatchString(n) {
			t.Errorf("%q is not kebab-case", n)
		}
		if seen[n] {
			t.Errorf("the name %s stands twice", n)
		}
		seen[n] = true
	}
	for _, m := range Mutants() {
		name(m.Name)
		if m.Fault == "" || m.Reason == "" || m.change == nil && m.lan == nil && m.local == nil && !m.command || len(m.For) == 0 && !m.Anywhere {
			t.Errorf("%s lacks its fault, reason, change or requirements", m.Name)
		}
		for _, id := range append(append([]string{}, m.For...), m.Also...) {
			if _, ok := spec.Lookup(id); !ok {
				t.Errorf("%s: there is no requirement %s", m.Name, id)
			}
		}
	}
	for _, o := range Oddities() {
		name(o.Name)
		for _, id := range o.Warns {
			if q, ok := spec.Lookup(id); !ok || q.Level != spec.Should {
				t.Errorf("%s: %s is no SHOULD", o.Name, id)
			}
		}
	}
}
