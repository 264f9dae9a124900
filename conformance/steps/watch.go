package steps

import (
	"context"
	"fmt"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// Watch holds two connections that stay open for a whole run. On the one nothing
// is ever sent; on the other, at the start, one of each thing that must draw no
// answer. An answer that comes late, however late, is seen at the end.
type Watch struct {
	scenario *Scenario
	silent   *probe.Conn
	stirred  *probe.Conn
	sent     []*exchange
}

// unanswerable is what the watch sends: nothing on a unidirectional stream may be
// answered.
var unanswerable = []struct{ what, kind string }{
	{"a message", "message"}, {"an unsolicited error", "error"}, {"a request on a unidirectional stream", "request"},
	{"a response on a unidirectional stream", "response"}, {"an unknown kind", "later"},
}

// NewWatch opens the connections. An error means only that the target does not
// keep them, and that nothing can be watched.
func NewWatch(ctx context.Context, t *Target) (*Watch, error) {
	s := New(t, nil)
	w := &Watch{scenario: s}
	var err error
	if w.silent, err = s.dial(ctx); err == nil {
		w.stirred, err = s.dial(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	for _, u := range unanswerable {
		x, err := s.sendOn(ctx, w.stirred, false, plain(u.kind, wire.NewID()))
		if err != nil {
			s.Close()
			return nil, err
		}
		w.sent = append(w.sent, x)
	}
	return w, nil
}

// chatty tells whether the target has opened a stream where nothing was sent.
func (w *Watch) chatty() bool { return w != nil && len(w.silent.Incoming()) > 0 }

// Close looks at what came and closes the connections.
func (w *Watch) Close() { w.scenario.Close() }

func init() {
	define(`a connection on which nothing was sent in this run stayed silent`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		w := s.Target.Watch
		if w == nil {
			return &verdict.Inapplicable{Reason: "the target keeps one connection a peer, so none can be watched beside the others"}
		}
		return w.quiet(ctx, s, w.silent, "a new connection on which nothing is sent stays silent")
	})
	define(`what was sent on unidirectional streams when the run began drew no answer until now`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		w := s.Target.Watch
		if w == nil {
			return &verdict.Inapplicable{Reason: "the target keeps one connection a peer, so none can be watched beside the others"}
		}
		return w.quiet(ctx, s, w.stirred, "nothing answers what is sent on a unidirectional stream")
	})
}

// quiet: the target has opened no stream on a watched connection. With a handler
// a message is the application's own affair, unless it refers to what was sent.
func (w *Watch) quiet(ctx context.Context, s *Scenario, c *probe.Conn, expected string) error {
	if c.End() == nil {
		x, err := w.scenario.sendOn(ctx, c, true, plain("request", wire.NewID()))
		if err == nil {
			_, err = x.await(ctx)
		}
		if err != nil && c.End() == nil {
			s.Lost = true
			return blocked("the watched connection no longer answers: %v", err)
		}
	}
	for _, in := range c.Incoming() {
		got := &exchange{conn: c, stream: in}
		r := got.read()
		own := s.Target.HasHandler && r.envelope.Kind == "message" || c == w.stirred && w.chatty()
		if own && r.values > 0 && !r.names(w.sent) {
			continue
		}
		s.Evidence, s.evidenceLog = w.scenario.log.Of(c.Number(), in.ID()), w.scenario.qlog
		return fail(got, expected, "the target opened stream %d with %s", in.ID(), r.describe())
	}
	if end := c.End(); end != nil {
		s.Observed = fmt.Sprintf("watched until the connection ended: %s", describeClosing(end))
	}
	return nil
}
