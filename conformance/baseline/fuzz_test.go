package baseline

import (
	"errors"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"expected: []\n", "edition: 2026-02-16\nexpected:\n  - requirement: AXON-ENV-001\n    reason: known\n    issue: https://example.org/1\n    until: 2027-01-01\n",
		"expected:\n  - scenario: Something\n    reason: x\n  - requirement: AXON-ENV-001\n    scenario: a  b\n    reason: y\n", "", "expected: 7\n", "expected:\n  - 7\n", "expected:\n  - reason: x\n",
		"a: b\n", "---\n---\n", "expected: []\nexpected: []\n", "\xff", "expected:\n  - requirement: x\n    reason: ''\n", "expected: &a [*a]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Parse("list.yaml", text)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "list.yaml") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		names := map[string]bool{}
		for _, e := range l.Entries {
			if e.Requirement == "" && e.Scenario == "" || e.Reason == "" || names[e.name()] {
				t.Fatalf("%q was taken for %+v", text, l.Entries)
			}
			names[e.name()] = true
		}
	})
}
