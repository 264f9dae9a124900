package soak

import (
	"context"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	faults = append(faults, fault{"no descriptors", func(ctx context.Context, t *testing.T, w *world, r *rand.Rand) {
		n := w.any(r)
		var was unix.Rlimit
		if err := unix.Prlimit(n.pid(), unix.RLIMIT_NOFILE, nil, &was); err != nil {
			t.Error(err)
			return
		}
		now := was
		now.Cur = uint64(n.descriptors())
		if err := unix.Prlimit(n.pid(), unix.RLIMIT_NOFILE, &now, nil); err != nil {
			t.Error(err)
			return
		}
		pause(ctx, w.spell(r))
		if err := unix.Prlimit(n.pid(), unix.RLIMIT_NOFILE, &was, nil); err != nil {
			t.Error(err)
		}
	}})
}
