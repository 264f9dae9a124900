package suite

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/axonproto/axon/features"
)

func feature(text string) fstest.MapFS {
	return fstest.MapFS{"own.feature": {Data: []byte("Feature: own\n" + text)}}
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no scenario":      {"", "no scenario"},
		"no id":            {"Scenario: a\nGiven a connection to the target\n", "no requirement id"},
		"unknown id":       {"@AXON-KIND-092\nScenario: a\nGiven a connection to the target\n", "use AXON-KIND-002"},
		"unknown tag":      {"@AXON-KIND-002 @wip\nScenario: a\nGiven a connection to the target\n", "unknown tag @wip"},
		"undefined step":   {"@AXON-KIND-002\nScenario: a\nGiven a conection to the target\n", `the nearest is "a connection to the target"`},
		"no steps":         {"@AXON-KIND-002\nScenario: a\n", "has no steps"},
		"mistyped keyword": {"Scenaro: a\n", "no scenario"},
		"no gherkin":       {"Scenario: a\nGivn a connection\n", "own.feature"},
		"missing doc text": {"@AXON-KIND-002\nScenario: a\nWhen the probe sends on a bidirectional stream:\n", "doc string"},
	} {
		_, err := load(feature(c.text))
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a usage error with %q", name, err, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	c, err := load(features.FS())
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]Selection{
		"unknown id":         {Requirements: []string{"AXON-KIND-999"}},
		"unknown level":      {Level: "may"},
		"unknown tag":        {Tags: "@quite"},
		"broken off":         {Tags: "@quiet and"},
		"operator alone":     {Tags: "not"},
		"open parenthesis":   {Tags: "(@quiet"},
		"closed parenthesis": {Tags: "@quiet)"},
		"no operator":        {Tags: "@quiet @heavy"},
		"unknown location":   {Location: "kinds.feature:1"},
		"nothing in common":  {Tags: "@AXON-KIND-002", Requirements: []string{"AXON-KIND-003"}},
		"all but everything": {Tags: "@AXON-KIND-002 and not @AXON-KIND-002"},
	} {
		var usage *UsageError
		if chosen, err := c.choose(s); !errors.As(err, &usage) {
			t.Errorf("%s: chose %d, %v", name, len(chosen), err)
		}
	}
	for name, s := range map[string]Selection{
		"all":        {},
		"id":         {Requirements: []string{"AXON-KIND-002"}},
		"level":      {Level: "should"},
		"expression": {Tags: "(@AXON-KIND-002 or @AXON-KIND-005) and not @whole-run"},
		"one":        {Location: c.checks[0].location},
	} {
		chosen, err := c.choose(s)
		if err != nil || len(chosen) == 0 || name != "all" && len(chosen) == len(c.checks) {
			t.Errorf("%s: chose %d of %d, %v", name, len(chosen), len(c.checks), err)
		}
	}
}

// Every sentence that needs only an address, or a quiet target, has a check that
// needs no more.
func TestEveryWireSentenceIsChecked(t *testing.T) {
	_, holes, err := Coverage(features.FS(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range holes {
		if strings.Contains(h, "scenario") && strings.Contains(h, "AXON-") && !strings.Contains(h, "LEARN") &&
			!strings.Contains(h, "-IPC-") && !strings.Contains(h, "-DISC-") && !strings.Contains(h, "-CLI-") {
			t.Error(h)
		}
	}
}
