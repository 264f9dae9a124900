package probe

import (
	"context"
	"sync"
)

// signal wakes everybody who waits for a change of what a mutex guards.
type signal struct{ ch chan struct{} }

// broadcast wakes the waiters; the mutex must be held.
func (s *signal) broadcast() {
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}

// await returns nil as soon as ok holds, and ctx's error when that does not
// happen in time. ok is called with mu held.
func await(ctx context.Context, mu *sync.Mutex, s *signal, ok func() bool) error {
	for {
		mu.Lock()
		if ok() {
			mu.Unlock()
			return nil
		}
		if s.ch == nil {
			s.ch = make(chan struct{})
		}
		changed := s.ch
		mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
