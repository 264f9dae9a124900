package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/axonproto/axon/harness/credential"
)

// maxFailed is the number of rows in a row that may fail before no more are tried.
const maxFailed = 3

// Run measures. When ctx ends it returns what it has by then, with ctx's error. Other
// errors concern the options, or say that a side cannot be reached, or that rows could
// not be measured; what was is returned all the same.
func Run(ctx context.Context, o Options) (r Report, err error) {
	if err := o.Check(); err != nil {
		return Report{}, err
	}
	if most := slices.Max(o.Connections); most > len(o.Identities) {
		return Report{}, fmt.Errorf("%d connections need as many identities, and there are %d", most, len(o.Identities))
	}
	r = Report{
		SchemaVersion: SchemaVersion, Target: o.Target.Address, Started: time.Now().UTC(),
		Machine: runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version(), Processors: runtime.NumCPU(),
		RoundMS: milliseconds(o.Duration), Rounds: o.Rounds, Rows: []Row{}, Notes: []string{},
	}
	if o.Target.Key != nil {
		r.AgentID = credential.AgentID(o.Target.Key)
	}
	defer func() { r.DurationMS = milliseconds(time.Since(r.Started)) }()
	m := measurement{Options: o}
	for _, id := range o.Identities[:slices.Max(o.Connections)] {
		c, err := id.Certificate(credential.CertOptions{})
		if err != nil {
			return r, err
		}
		m.certificates = append(m.certificates, c)
	}
	r.Before = MemoryOf(o.Target.PID)
	switch {
	case o.Target.PID == 0:
		r.Notes = append(r.Notes, "the target's processor time and memory are not known: name its process with --pid (on Linux)")
	case r.Before == nil:
		r.Notes = append(r.Notes, fmt.Sprintf("the target's processor time and memory are not known: process %d cannot be read in /proc, which only Linux has", o.Target.PID))
	}
	rows, notes := o.rows()
	r.Notes = append(r.Notes, notes...)
	if len(rows) == 0 {
		return r, fmt.Errorf("nothing is left to measure: handshakes go to %d at a time, and envelopes in flight to %d MB; choose less", maxHandshakes, maxHeld>>20)
	}
	err = m.all(ctx, rows, &r)
	r.After = MemoryOf(o.Target.PID)
	r.Complete = err == nil
	return r, err
}

// measurement is a run in progress.
type measurement struct {
	Options
	certificates []tls.Certificate
}

// all measures the rows into r. A row that fails is noted, and those behind it are
// still measured unless it looks as if none could be.
func (m *measurement) all(ctx context.Context, rows []Row, r *Report) error {
	var failures []error
	inARow := 0
	for i, row := range rows {
		if m.Progress != nil {
			m.Progress(i, len(rows), row.String())
		}
		measured, err := m.row(ctx, row)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			failures = append(failures, fmt.Errorf("%s: %w", row, err))
			r.Notes = append(r.Notes, fmt.Sprintf("%s: not measured: %v", row, err))
			if inARow++; inARow < maxFailed && !errors.Is(err, ErrUnreachable) {
				continue
			}
		default:
			inARow = 0
			if n := measured.Target.Errors; n > 0 {
				r.Notes = append(r.Notes, fmt.Sprintf("%s: %d of %d failed", row, n, n+measured.Target.Exchanges))
			}
			r.Rows = append(r.Rows, measured)
			continue
		}
		break
	}
	switch len(failures) {
	case 0:
		return nil
	case 1:
		return failures[0]
	}
	return fmt.Errorf("%d rows were not measured, the first of them %w", len(failures), failures[0])
}

// row plays one row: raw, target, raw, target, …
func (m *measurement) row(ctx context.Context, row Row) (Row, error) {
	bare, err := m.open(ctx, m.Raw, row)
	if err != nil {
		return row, fmt.Errorf("the bare exchange: %w", err)
	}
	defer bare.close()
	// The local program is there before the first request, which it may get.
	local, err := m.attach(ctx, row)
	if err != nil {
		return row, err
	}
	defer local.close()
	target, err := m.open(ctx, m.Target, row)
	if err != nil {
		return row, err
	}
	defer target.close()
	target.local = local
	raw, own := newTally(), newTally()
	var rate, p50, p99 []float64
	for range m.Rounds {
		a, err := bare.play(ctx, row, m.Duration)
		if err != nil {
			return row, fmt.Errorf("the bare exchange: %w", err)
		}
		b, err := target.play(ctx, row, m.Duration)
		if err != nil {
			return row, err
		}
		raw.add(a)
		own.add(b)
		rate = append(rate, ratio(b.rate(), a.rate()))
		p50 = append(p50, ratio(b.quantile(50), a.quantile(50)))
		p99 = append(p99, ratio(b.quantile(99), a.quantile(99)))
	}
	row.Memory = MemoryOf(m.Target.PID)
	row.Target, row.Raw = own.figures(), raw.figures()
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
