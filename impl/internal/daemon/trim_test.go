package daemon

import "testing"

func TestTrimmer(t *testing.T) {
	var m trimmer
	for i, step := range []struct {
		allocated uint64 // MB
		due       bool
	}{
		{3, false},   // the start
		{3, false},   // quiet, and nothing to give back
		{100, false}, // a load
		{300, false},
		{300, true},  // it is over
		{300, false}, // once is enough
		{310, false}, // a little
		{310, false},
		{400, false},
		{400, true},
	} {
		if got := m.due(step.allocated << 20); got != step.due {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
