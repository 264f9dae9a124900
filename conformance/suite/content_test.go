package suite

import (
	"slices"
	"testing"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"

	"bytes"

	"github.com/axonproto/axon/features"
)

// TestOnly: whatever part is chosen, godog is given just that part, each scenario at
// its own line.
func TestOnly(t *testing.T) {
	c, err := load(features.FS())
	if err != nil {
		t.Fatal(err)
	}
	for step := range 7 {
		wanted := map[string]bool{}
		var places []string
		for i, k := range c.checks {
			if i%7 == step {
				wanted[k.location] = true
				places = append(places, k.location)
			}
		}
		var got []string
		for _, f := range c.contents {
			ids := (&messages.Incrementing{}).NewId
			document, err := gherkin.ParseGherkinDocument(bytes.NewReader(f.only(wanted)), ids)
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			for _, p := range gherkin.Pickles(*document, f.name, ids) {
				k, err := newCheck(p)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, k.location)
				if whole := c.byPlace[k.location]; whole.name != k.name || !slices.Equal(whole.steps, k.steps) || !slices.Equal(whole.ids, k.ids) {
					t.Errorf("%s is another scenario", k.location)
				}
			}
		}
		if !slices.Equal(got, places) {
			t.Errorf("part %d: %d scenarios instead of %d", step, len(got), len(places))
		}
	}
}
