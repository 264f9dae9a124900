package steps

import (
	"context"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// firstPause is how long a dialer that was turned away waits before it tries again;
// each further pause is twice as long.
const firstPause = 2 * time.Millisecond

// kept returns a connection that a target which keeps one a peer does keep. It may
// not have noticed yet that the one before is over, and then turns the next one
// away: a request shows it, and the dial is repeated.
//
// What is the very first thing on a connection is not asked for by it: see
// connectionsInRow.
func (s *Scenario) kept(ctx context.Context, e *probe.Endpoint, c *probe.Conn) (*probe.Conn, error) {
	for pause := firstPause; ; pause *= 2 {
		if !s.notKept(ctx, c) {
			return c, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return c, nil
		}
		var err error
		if c, err = e.Dial(ctx, s.Target.dialOptions()); err != nil {
			s.Lost = true
			return nil, &verdict.Blocked{Reason: "no connection to the target", Err: err}
		}
		s.conns = append(s.conns, c)
	}
}

// notKept: a plain request on a new connection is met by an application close.
func (s *Scenario) notKept(ctx context.Context, c *probe.Conn) bool {
	stream, err := c.OpenBidi(ctx)
	if err != nil {
		return closedByTarget(c)
	}
	x := &exchange{conn: c, stream: stream}
	x.note(plain("request", wire.NewID()))
	if err := stream.Send(ctx, x.sent); err != nil {
		return closedByTarget(c)
	}
	r, _ := x.await(ctx)
	if len(r.data) > 0 || !r.ended || r.ending.How != probe.ConnectionClosed {
		return false
	}
	<-c.Done()
	return closedByTarget(c)
}

func closedByTarget(c *probe.Conn) bool {
	end := c.End()
	return end != nil && end.Remote && end.Application
}
