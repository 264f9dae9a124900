package bench

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// tally collects what one side did. Its latencies are in microseconds, up to a minute,
// with three digits. A histogram takes some 150 kB, so several workers share one.
type tally struct {
	mu        sync.Mutex
	latencies *hdrhistogram.Histogram
	exchanges int
	errors    int
	first     error // the first that failed
	took      time.Duration
	cpu       time.Duration
}

func newTally() *tally {
	return &tally{latencies: hdrhistogram.New(1, time.Minute.Microseconds(), 3)}
}

// add takes over what another has.
func (t *tally) add(o *tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latencies.Merge(o.latencies)
	t.exchanges += o.exchanges
	t.errors += o.errors
	t.took += o.took
	t.cpu += o.cpu
	if t.first == nil {
		t.first = o.first
	}
}

// record notes one exchange; a latency of 0 is none.
func (t *tally) record(latency time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exchanges++
	if latency > 0 {
		_ = t.latencies.RecordValue(max(min(latency, time.Minute).Microseconds(), 1)) // in range by that
	}
}

// fail notes one that failed.
func (t *tally) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errors++
	if t.first == nil {
		t.first = err
	}
}

func (t *tally) rate() float64 {
	if t.took <= 0 {
		return 0
	}
	return float64(t.exchanges) / t.took.Seconds()
}

func (t *tally) quantile(percent float64) float64 {
	if t.latencies.TotalCount() == 0 {
		return 0
	}
	return float64(t.latencies.ValueAtQuantile(percent)) / 1000
}

func (t *tally) figures() Figures {
	f := Figures{
		Exchanges: t.exchanges, Errors: t.errors, Rate: t.rate(),
		P50: t.quantile(50), P99: t.quantile(99), P999: t.quantile(99.9),
	}
	if t.cpu > 0 && t.exchanges > 0 {
		f.CPU = float64(t.cpu.Microseconds()) / float64(t.exchanges)
	}
	return f
}
