package transport

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
)

// BenchmarkBesideStrangers asks over one connection while strangers begin 500
// handshakes a second, and reports what the slowest hundredth of the exchanges then
// takes, beside a quiet time and beside strangers who knock elsewhere.
func BenchmarkBesideStrangers(b *testing.B) {
	one, two, stranger := newIdentity(b), newIdentity(b), newIdentity(b)
	open := func(o Options) *Endpoint {
		o.Pins, o.Handler, o.Logger, o.Addr = pinned(one, two), newEcho(), slog.New(slog.DiscardHandler), "127.0.0.1:0"
		e, err := Listen(o)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = e.Shutdown(b.Context()) })
		return e
	}
	dialer, listener := open(Options{Identity: one}), open(Options{Identity: two})
	if _, err := dialer.Dial(b.Context(), two.ID, listener.Addr().String()); err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 200)
	slowest := func(n int) time.Duration {
		took := make([]time.Duration, n)
		for i := range took {
			start := time.Now()
			if _, err := dialer.Exchange(b.Context(), two.ID, body); err != nil {
				b.Fatal(err)
			}
			took[i] = time.Since(start)
		}
		slices.Sort(took)
		return took[n-1-n/100]
	}
	// What the strangers cost by themselves, who here share the processors: they knock
	// where nobody answers.
	nobody, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = nobody.Close() })
	const exchanges, rate = 5000, 500
	beside := func(addr net.Addr) time.Duration {
		stop := strangers(b, addr, remoteTLS(b, stranger), rate)
		defer stop()
		time.Sleep(time.Second) // until the share of the address is used up
		return slowest(exchanges)
	}
	var quiet, elsewhere, here []float64
	for b.Loop() {
		quiet = append(quiet, slowest(exchanges).Seconds())
		elsewhere = append(elsewhere, beside(nobody.LocalAddr()).Seconds())
		here = append(here, beside(listener.Addr()).Seconds())
	}
	median := func(all []float64) float64 { slices.Sort(all); return all[len(all)/2] }
	b.ReportMetric(median(here)/median(quiet), "p99/quiet")
	b.ReportMetric(median(here)/median(elsewhere), "p99/elsewhere")
}

// strangers dial at a rate, each for a tenth of a second at most, until they are stopped.
func strangers(b *testing.B, addr net.Addr, conf *tls.Config, rate int) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	tr := &quic.Transport{Conn: udp}
	var work sync.WaitGroup
	work.Go(func() {
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for ctx.Err() == nil {
			<-tick.C
			work.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
				if qc, err := tr.Dial(ctx, addr, conf, nil); err == nil {
					select {
					case <-qc.Context().Done():
					case <-ctx.Done():
						_ = qc.CloseWithError(0, "")
					}
				}
			})
		}
	})
	return func() {
		cancel()
		work.Wait()
		_ = tr.Close()
		_ = udp.Close()
	}
}
