package suite

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/axonproto/axon/features"
)

// TestFeaturesAreInOrder: `axon-conformance lint` finds nothing in our own.
func TestFeaturesAreInOrder(t *testing.T) {
	found, err := Lint(features.FS(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Errorf("%s: %s: %s", f.Place, f.Rule, f.Text)
	}
}

func TestLint(t *testing.T) {
	const file = `Feature: Kinds
  @AXON-KIND-003
  Scenario: First
    Given a connection to the target
    When the probe sends a reqest
    Then it is answered

  @AXON-KIND-002
  Scenario: Second
    Given a connection to the target
    When the probe sends a message
    Then the target opens no stream

  @AXON-KIND-999
  Scenario: Third
    When the probe sends a request
    Then it is answered

  @AXON-REF-005
  Scenario Outline: Fourth
    When the probe sends <what>
    Then it is answered

    Examples:
      | what      |
      | a request |
      | nonsense  |
`
	found, err := Lint(fstest.MapFS{"kinds.feature": {Data: []byte(file)}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"kinds.feature:5 step the nearest is",
		"kinds.feature:12 step ",
		"kinds.feature:12 barrier ",
		"kinds.feature:9 order behind those of a later sentence",
		"kinds.feature:15 tag AXON-KIND-999",
		"kinds.feature:20 order no id of the section",
		"kinds.feature:21 step nonsense",
	} {
		parts := strings.SplitN(want, " ", 3)
		if !slices.ContainsFunc(found, func(f Finding) bool {
			return f.Place == parts[0] && f.Rule == parts[1] && strings.Contains(f.Text, parts[2])
		}) {
			t.Errorf("%q is not found", want)
		}
	}
	if len(found) > 9 {
		t.Errorf("%d findings: %q", len(found), found)
	}
	if _, err := Lint(fstest.MapFS{"a.feature": {Data: []byte("Feature\n")}}, false); err == nil {
		t.Error("what is no Gherkin is read")
	}
}
