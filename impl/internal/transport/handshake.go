package transport

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"

	"github.com/quic-go/quic-go"
)

// Handshakes under way cost memory before anybody has proved anything. Above
// retryAbove a dialer must first show that it receives at its address; above
// maxHandshakes it is refused. A stalled one times out by itself and holds up
// no other.
const (
	retryAbove    = 64
	maxHandshakes = 1024
)

var (
	errTooManyHandshakes = errors.New("too many handshakes under way")
	errTooManyFailed     = errors.New("too many failed handshakes from this address")
)

type attemptKey struct{}

// attempt is a handshake under way, counted once.
type attempt struct {
	e    *Endpoint
	from netip.Prefix
	once sync.Once
}

func (a *attempt) end() { a.once.Do(func() { a.e.handshakes.Add(-1) }) }

// succeed ends an attempt whose dialer is a peer.
func (a *attempt) succeed() {
	a.end()
	a.e.sources.succeeded(a.from)
}

// mustProveAddress tells whether a dialer first has to show that it receives at its
// address.
func (e *Endpoint) mustProveAddress(addr net.Addr) bool {
	return e.handshakes.Load() >= retryAbove || e.sources.suspect(sourceOf(addr))
}

// beginHandshake is called for each dialer; ctx ends with its connection.
func (e *Endpoint) beginHandshake(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
	a := &attempt{e: e, from: sourceOf(info.RemoteAddr)}
	if !e.sources.begin(a.from) {
		e.rare.Note(slog.LevelWarn, "refused handshakes", slog.String("from", a.from.String()), slog.String("reason", errTooManyFailed.Error()))
		return nil, errTooManyFailed
	}
	if e.handshakes.Add(1) > maxHandshakes {
		e.handshakes.Add(-1)
		return nil, errTooManyHandshakes
	}
	context.AfterFunc(ctx, a.end)
	return context.WithValue(ctx, attemptKey{}, a), nil
}
