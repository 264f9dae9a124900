package transport

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/axonproto/axon/impl/internal/identity"
)

// BenchmarkExchange asks over one connection, one after the other and from many
// goroutines.
func BenchmarkExchange(b *testing.B) {
	one, err := identity.Generate()
	if err != nil {
		b.Fatal(err)
	}
	two, err := identity.Generate()
	if err != nil {
		b.Fatal(err)
	}
	open := func(id *identity.Identity) *Endpoint {
		e, err := Listen(Options{Identity: id, Pins: pinned(one, two), Handler: newEcho(), Logger: slog.New(slog.DiscardHandler), Addr: "127.0.0.1:0"})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = e.Shutdown(b.Context()) })
		return e
	}
	dialer, listener := open(one), open(two)
	if _, err := dialer.Dial(b.Context(), two.ID, listener.Addr().String()); err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{200, 8 << 10, 60 << 10} {
		body := bytes.Repeat([]byte("x"), size)
		exchange := func() {
			if _, err := dialer.Exchange(b.Context(), two.ID, body); err != nil {
				b.Error(err)
			}
		}
		b.Run(fmt.Sprintf("%d/alone", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				exchange()
			}
		})
		b.Run(fmt.Sprintf("%d/together", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					exchange()
				}
			})
		})
	}
}
