package daemon

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// trimEach is how often the daemon looks whether a load is over.
	trimEach = 20 * time.Second
	// quietBytes are allocated at most in that time when nothing goes on, and
	// trimmedBytes at least since memory was last given back for that to be of use.
	quietBytes   = 1 << 20
	trimmedBytes = 16 << 20
)

// trimmer tells when a load is over by what was allocated, in bytes since the start.
type trimmer struct{ last, given uint64 }

// due takes the allocations by now and tells whether memory is to be given back.
func (t *trimmer) due(allocated uint64) bool {
	quiet := allocated-t.last < quietBytes
	t.last = allocated
	if !quiet || allocated-t.given < trimmedBytes {
		return false
	}
	t.given = allocated
	return true
}

// trim gives memory back to the system once a load is over: Go itself keeps it for minutes,
// in case the next one comes.
func trim(ctx context.Context) {
	tick := time.NewTicker(trimEach)
	defer tick.Stop()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	var t trimmer
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(sample)
		if t.due(sample[0].Value.Uint64()) {
			// Twice, since what stands in pools survives the first collection.
			debug.FreeOSMemory()
			debug.FreeOSMemory()
		}
	}
}
