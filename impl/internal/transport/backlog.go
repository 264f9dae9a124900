package transport

import (
	"context"
	"sync"
)

// maxUnsent is how many large replies of a connection may wait to be read by the peer
// before no further large body of it is read and no further request handed to the
// handler: a peer that asks and does not read would have us hold a reply for each of its
// streams. What has been read by then, and what is with the handler, still comes.
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

// wait returns once there are fewer than maxUnsent, and whether it had to wait; the error
// is ctx's.
func (b *backlog) wait(ctx context.Context) (waited bool, err error) {
	for {
		b.mu.Lock()
		if b.n < maxUnsent {
			b.mu.Unlock()
			return waited, nil
		}
		if b.fewer == nil {
			b.fewer = make(chan struct{})
		}
		fewer := b.fewer
		b.mu.Unlock()
		waited = true
		select {
		case <-fewer:
		case <-ctx.Done():
			return true, context.Cause(ctx)
		}
	}
}
