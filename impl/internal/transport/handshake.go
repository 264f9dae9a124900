package transport

import (
	"context"
	"errors"
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

var errTooManyHandshakes = errors.New("too many handshakes under way")

type attemptKey struct{}

// attempt is a handshake under way, counted once.
type attempt struct {
	e    *Endpoint
	once sync.Once
}

func (a *attempt) end() { a.once.Do(func() { a.e.handshakes.Add(-1) }) }

// beginHandshake is called for each dialer; ctx ends with its connection.
func (e *Endpoint) beginHandshake(ctx context.Context, _ *quic.ClientInfo) (context.Context, error) {
	if e.handshakes.Add(1) > maxHandshakes {
		e.handshakes.Add(-1)
		return nil, errTooManyHandshakes
	}
	a := &attempt{e: e}
	context.AfterFunc(ctx, a.end)
	return context.WithValue(ctx, attemptKey{}, a), nil
}
