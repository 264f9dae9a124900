package transport

import (
	"context"
	"sync"
)

// maxUnsent is how many large replies of a connection may wait to be read by the peer
// before no further request of it is handed to the handler: a peer that asks and does not
// read would have us hold a reply for each of its streams. What is with the handler by
// then still comes. (A request with a large body has its slot all the while.)
const maxUnsent = 64

// backlog counts the large replies that are being written on a connection.
type backlog struct {
	mu    sync.Mutex // guards both
	n     int
	fewer chan struct{} // closed when n falls below maxUnsent; nil: nobody waits
}

func (b *backlog) add() {
	b.mu.Lock()
	b.n++
	b.mu.Unlock()
}

func (b *backlog) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n--
	if b.n < maxUnsent && b.fewer != nil {
		close(b.fewer)
		b.fewer = nil
	}
}

// wait returns once there are fewer than maxUnsent; the error is ctx's.
func (b *backlog) wait(ctx context.Context) error {
	for {
		b.mu.Lock()
		if b.n < maxUnsent {
			b.mu.Unlock()
			return nil
		}
		if b.fewer == nil {
			b.fewer = make(chan struct{})
		}
		fewer := b.fewer
		b.mu.Unlock()
		select {
		case <-fewer:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
