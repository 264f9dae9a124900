package suite

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/axonproto/axon/features"
	"github.com/axonproto/axon/spec"
)

// TestShardsAreTheWhole: each ordinary check is in exactly one part, each check of
// the whole run in all, and the parts are about as large as each other.
func TestShardsAreTheWhole(t *testing.T) {
	c, err := load(features.FS())
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.choose(Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 3, 7} {
		in := map[*check]int{}
		var sizes []int
		for i := range n {
			part, err := c.choose(Selection{Shard: i + 1, Shards: n})
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, len(part))
			for _, k := range part {
				in[k]++
			}
			if !slices.IsSortedFunc(part, func(a, b *check) int { return a.order - b.order }) {
				t.Errorf("part %d of %d is out of order", i+1, n)
			}
		}
		if slices.Max(sizes)-slices.Min(sizes) > 1 {
			t.Errorf("the parts have %v checks", sizes)
		}
		for _, k := range all {
			want := 1
			if k.wholeRun {
				want = n
			}
			if in[k] != want {
				t.Errorf("%s is in %d of %d parts, want %d", k.location, in[k], n, want)
			}
		}
	}
	ordinary := slices.IndexFunc(all, func(k *check) bool { return !k.wholeRun })
	_, err = c.choose(Selection{Location: all[ordinary].location, Shard: 2, Shards: 2})
	if usage, ok := errors.AsType[*UsageError](err); !ok || !strings.Contains(usage.Problem, "part 2 of 2 is empty: the selection has 1 checks only") {
		t.Errorf("got %v", err)
	}
	if _, err := c.choose(Selection{Shard: 3, Shards: 2}); err == nil {
		t.Error("part 3 of 2 is taken")
	}
}

func TestEditionIsChosen(t *testing.T) {
	if _, err := List(features.FS(), Selection{Edition: "2020-01-01"}); err == nil || !strings.Contains(err.Error(), spec.Edition) {
		t.Errorf("got %v", err)
	}
	named, err := List(features.FS(), Selection{Edition: spec.Edition})
	if err != nil {
		t.Fatal(err)
	}
	newest, err := List(features.FS(), Selection{})
	if err != nil || len(named) != len(newest) {
		t.Errorf("%d and %d checks, %v", len(named), len(newest), err)
	}
}
