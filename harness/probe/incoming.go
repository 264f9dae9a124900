package probe

import (
	"context"
	"fmt"

	"github.com/axonproto/axon/harness/trace"
)

// take begins to read a stream that the target opened, keeps it, and hands it
// to the handler.
func (c *Conn) take(s *Stream) {
	what := "unidirectional"
	if s.Bidi() {
		what = "bidirectional"
	}
	s.note(trace.Received, trace.Open, 0, what)
	if !c.start(s.read) {
		return
	}
	c.mu.Lock()
	c.opened++
	if len(c.incoming) < maxIncoming {
		c.incoming = append(c.incoming, s)
	}
	handle := c.handle
	s.handled = handle != nil
	c.changed.broadcast()
	c.mu.Unlock()
	if handle != nil {
		c.endpoint.start(func() { handle(s) })
	}
}

// Incoming returns the streams that the target has opened so far, in order, the
// first 4,096 of them. Each is read to its end in the background.
func (c *Conn) Incoming() []*Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*Stream(nil), c.incoming...)
}

// IncomingCount returns how many streams the target has opened, also those
// beyond what Incoming keeps.
func (c *Conn) IncomingCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

// AwaitIncoming waits until the target has opened n streams and returns all that
// there are. When the connection ends before, the error is a *StreamError with
// its Closing; when ctx does, ctx's error. The streams so far come with both.
func (c *Conn) AwaitIncoming(ctx context.Context, n int) ([]*Stream, error) {
	enough := false
	err := await(ctx, &c.mu, &c.changed, func() bool {
		enough = c.opened >= n
		return enough || c.over
	})
	streams := c.Incoming()
	switch {
	case err != nil:
		return streams, fmt.Errorf("the target opened %d of %d streams: %w", len(streams), n, err)
	case !enough:
		return streams, &StreamError{Closing: c.End(), Err: fmt.Errorf("the target opened %d of %d streams", len(streams), n)}
	}
	return streams, nil
}

// OnIncoming sets the handler of streams that the target opens. It is called in
// a goroutine of its own for each of them as soon as it is opened, also for
// those that no handler has been called for yet. A later call replaces the
// handler for new streams; nil takes it away. Endpoint.Close waits for handlers.
func (c *Conn) OnIncoming(handle func(*Stream)) {
	c.mu.Lock()
	c.handle = handle
	var missed []*Stream
	if handle != nil {
		for _, s := range c.incoming {
			if !s.handled {
				s.handled = true
				missed = append(missed, s)
			}
		}
	}
	c.mu.Unlock()
	for _, s := range missed {
		c.endpoint.start(func() { handle(s) })
	}
}
