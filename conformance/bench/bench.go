package bench

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/axonproto/axon/harness/credential"
)

// Load is a sort of exchange.
type Load string

// The loads.
const (
	Request   Load = "request"   // a request and whatever answers it, on a stream of their own
	Handler   Load = "handler"   // a request that a local program answers, through the daemon's socket
	Message   Load = "message"   // a message on a stream of its own
	Handshake Load = "handshake" // a connection, begun and closed
)

// Loads lists all.
func Loads() []Load { return []Load{Request, Handler, Message, Handshake} }

// Bounds of the options.
const (
	MaxInFlight = 10000
	MaxSize     = 65536
	minSize     = 128 // the least envelope with a payload of the wanted size
)

// Peer is where to find something that answers.
type Peer struct {
	Address string
	Key     ed25519.PublicKey // nil: any
}

// Options of a measurement.
type Options struct {
	Target   Peer
	Raw      Peer                // a bare peer, see ServeRaw
	Identity credential.Identity // whom the target admits
	Socket   string              // of the target's local API, for the load handler; empty: there is none
	PID      int                 // the target's process; 0: not known, so that its costs are not measured
	Loads    []Load
	InFlight []int // exchanges at a time
	Sizes    []int // of an envelope in bytes; handshakes have none
	Duration time.Duration
	Rounds   int // pairs of measurements, of which the median counts
	// Progress is called before each row. It may be nil.
	Progress func(done, total int, next string)
}

// Check looks at all but the peers.
func (o *Options) Check() error {
	if len(o.Loads) == 0 || len(o.InFlight) == 0 || len(o.Sizes) == 0 {
		return errors.New("nothing to measure: give at least one load, one number in flight and one size")
	}
	for _, n := range o.InFlight {
		if n < 1 || n > MaxInFlight {
			return fmt.Errorf("%d in flight: it takes a number from 1 to %d", n, MaxInFlight)
		}
	}
	for _, n := range o.Sizes {
		if n < minSize || n > MaxSize {
			return fmt.Errorf("a size of %d bytes: it takes a number from %d to %d, which is what an envelope may have", n, minSize, MaxSize)
		}
	}
	for _, l := range o.Loads {
		if !slices.Contains(Loads(), l) {
			return fmt.Errorf("there is no load %q: use request, handler, message or handshake", l)
		}
	}
	if o.Duration <= 0 || o.Rounds < 1 {
		return errors.New("the duration has to be above 0, and at least one round is needed")
	}
	if slices.Contains(o.Loads, Handler) && o.Socket == "" {
		return errors.New("the load handler needs the socket of the target's local API: name it with --ipc, or leave that load out")
	}
	return nil
}

// Figures are what was measured of one side.
type Figures struct {
	Exchanges int     `json:"exchanges"`
	Errors    int     `json:"errors"`
	Rate      float64 `json:"rate"` // exchanges a second
	// Latencies in milliseconds; 0 for messages, which nobody answers.
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
	P999 float64 `json:"p999_ms"`
	// CPU is the target's processor time in microseconds for an exchange; 0 when its
	// process is not known.
	CPU float64 `json:"cpu_us"`
}

// Row is one load at one concurrency and size.
type Row struct {
	Load     Load    `json:"load"`
	InFlight int     `json:"in_flight"`
	Size     int     `json:"size"`
	Target   Figures `json:"target"`
	Raw      Figures `json:"raw"`
	// RateRatio is the median of target to raw over the rounds, 0 when there is none.
	RateRatio float64 `json:"rate_ratio"`
	P50Ratio  float64 `json:"p50_ratio"`
	P99Ratio  float64 `json:"p99_ratio"`
}

// Memory of the target's process, in bytes.
type Memory struct {
	Resident  int64 `json:"resident"`
	Anonymous int64 `json:"anonymous"`
}

// Report is the outcome of Run.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Suite         string    `json:"suite"`
	Target        string    `json:"target"`
	AgentID       string    `json:"agent_id,omitempty"`
	Started       time.Time `json:"started"`
	DurationMS    float64   `json:"duration_ms"`
	Machine       string    `json:"machine"`
	Processors    int       `json:"processors"`
	RoundMS       float64   `json:"round_ms"`
	Rounds        int       `json:"rounds"`
	// Before and After the loads; absent when the process is not known.
	Before *Memory  `json:"before,omitempty"`
	After  *Memory  `json:"after,omitempty"`
	Rows   []Row    `json:"rows"`
	Notes  []string `json:"notes"`
}

// SchemaVersion of Report.
const SchemaVersion = 1

// Run measures. When ctx ends it returns what it has by then, with ctx's error. Other
// errors concern the options, or say that a side cannot be reached.
func Run(ctx context.Context, o Options) (Report, error) {
	if err := o.Check(); err != nil {
		return Report{}, err
	}
	r := Report{
		SchemaVersion: SchemaVersion, Target: o.Target.Address, Started: time.Now().UTC(),
		Machine: runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version(), Processors: runtime.NumCPU(),
		RoundMS: milliseconds(o.Duration), Rounds: o.Rounds, Rows: []Row{}, Notes: []string{},
	}
	if o.Target.Key != nil {
		r.AgentID = credential.AgentID(o.Target.Key)
	}
	defer func() { r.DurationMS = milliseconds(time.Since(r.Started)) }()
	r.Before = memoryOf(o.PID)
	rows := o.rows()
	for i, row := range rows {
		if o.Progress != nil {
			o.Progress(i, len(rows), fmt.Sprintf("%s, %d in flight, %d bytes", row.Load, row.InFlight, row.Size))
		}
		measured, err := o.measure(ctx, row)
		if err != nil {
			return r, err
		}
		if measured.Target.Errors > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s, %d in flight, %d bytes: %d of %d failed", row.Load, row.InFlight, row.Size, measured.Target.Errors, measured.Target.Errors+measured.Target.Exchanges))
		}
		r.Rows = append(r.Rows, measured)
	}
	r.After = memoryOf(o.PID)
	return r, nil
}

// rows are the combinations, in the order in which they are measured and shown.
func (o *Options) rows() []Row {
	var rows []Row
	for _, load := range o.Loads {
		sizes := o.Sizes
		if load == Handshake {
			sizes = []int{0}
		}
		for _, size := range sizes {
			for _, n := range o.InFlight {
				if load == Handshake && n > maxHandshakes {
					continue
				}
				rows = append(rows, Row{Load: load, InFlight: n, Size: size})
			}
		}
	}
	return rows
}

// measure plays one row: raw, target, raw, target, …
func (o *Options) measure(ctx context.Context, row Row) (Row, error) {
	if row.Load == Handler {
		h, err := handle(ctx, o.Socket)
		if err != nil {
			return row, err
		}
		defer h.close()
	}
	raw, target := newTally(), newTally()
	var rate, p50, p99 []float64
	for range o.Rounds {
		a, err := o.once(ctx, o.Raw, row, raw)
		if err != nil {
			return row, fmt.Errorf("the bare exchange: %w", err)
		}
		before := cpuOf(o.PID)
		b, err := o.once(ctx, o.Target, row, target)
		if err != nil {
			return row, err
		}
		target.cpu += cpuOf(o.PID) - before
		rate = append(rate, ratio(b.rate(), a.rate()))
		p50 = append(p50, ratio(b.quantile(50), a.quantile(50)))
		p99 = append(p99, ratio(b.quantile(99), a.quantile(99)))
	}
	row.Target, row.Raw = target.figures(), raw.figures()
	row.RateRatio, row.P50Ratio, row.P99Ratio = median(rate), median(p50), median(p99)
	return row, nil
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
