package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// Watch holds connections that stay open for a whole run. On one of them nothing is
// ever sent; on the others, early in the run, things that must draw no answer. An
// answer that comes late is seen at the end.
type Watch struct {
	scenario *Scenario
	silent   *probe.Conn
	stirred  []stirred
	once     sync.Once
}

// stirred is a connection with what was sent on it.
type stirred struct {
	conn *probe.Conn
	// about is the sentence that forbids an answer; AXON-STREAM-005 does in any case.
	about string
	kinds []string
	sent  []*exchange
}

// room is how many connections a check may have open beside those that are watched.
const room = 6

// NewWatch opens the connections, and tries whether the target keeps others beside
// them. An error means only that it does not, and that nothing can be watched.
func NewWatch(ctx context.Context, t *Target) (*Watch, error) {
	s := New(t, nil)
	w := &Watch{scenario: s, stirred: []stirred{
		{about: "AXON-KIND-005", kinds: []string{"message"}},
		{about: "AXON-KIND-008", kinds: []string{"error"}},
		{about: "AXON-STREAM-005", kinds: []string{"request", "response", "later"}},
	}}
	var err error
	w.silent, err = s.dial(ctx)
	for i := range w.stirred {
		if err == nil {
			w.stirred[i].conn, err = s.dial(ctx)
		}
	}
	if err == nil {
		err = w.hasRoom(ctx, t)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return w, nil
}

func (w *Watch) hasRoom(ctx context.Context, t *Target) error {
	others := New(t, nil)
	defer others.Close()
	for range room {
		if _, err := others.dial(ctx); err != nil {
			return err
		}
	}
	for range 2 { // one that is closed has been by then
		_, _ = others.good(ctx, others.conn)
	}
	for _, c := range slices.Concat(w.scenario.conns, others.conns) {
		if c.End() != nil {
			return errors.New(describeClosing(c.End()))
		}
	}
	return nil
}

// Stir sends, once, on unidirectional streams what must draw no answer. It is done
// when the checks of these kinds are over: a target that dies of one shall do it
// there.
func (w *Watch) Stir(ctx context.Context) {
	if w == nil {
		return
	}
	w.once.Do(func() {
		for i := range w.stirred {
			on := &w.stirred[i]
			for _, kind := range on.kinds {
				// What it cannot send draws no answer either; that the connection
				// lives is asked at the end.
				if x, err := w.scenario.sendOn(ctx, on.conn, false, plain(kind, wire.NewID())); err == nil {
					on.sent = append(on.sent, x)
				}
			}
		}
	})
}

// chatty tells whether the target has opened a stream where nothing was sent.
func (w *Watch) chatty() bool { return w != nil && len(w.silent.Incoming()) > 0 }

// Close looks at what came and closes the connections.
func (w *Watch) Close() { w.scenario.Close() }

func init() {
	define(`a connection on which nothing was sent in this run stayed silent`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		w := s.Target.Watch
		if w == nil {
			return &verdict.Inapplicable{Reason: "the target keeps too few connections a peer for one to be watched beside the others"}
		}
		return w.quiet(ctx, s, stirred{conn: w.silent}, "a new connection on which nothing is sent stays silent")
	}).bars()
	define(`what was sent on unidirectional streams early in the run drew no answer until now`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		w := s.Target.Watch
		if w == nil {
			return &verdict.Inapplicable{Reason: "the target keeps too few connections a peer for one to be watched beside the others"}
		}
		w.Stir(ctx)
		for _, on := range w.stirred {
			if slices.Contains(s.IDs, on.about) || slices.Contains(s.IDs, "AXON-STREAM-005") {
				if err := w.quiet(ctx, s, on, "nothing answers what is sent on a unidirectional stream"); err != nil {
					return err
				}
			}
		}
		return nil
	}).bars()
}

// quiet: the target has opened no stream on a watched connection. With a handler
// a message is the application's own affair, unless it refers to what was sent.
func (w *Watch) quiet(ctx context.Context, s *Scenario, on stirred, expected string) error {
	c := on.conn
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
		r := s.arrived(ctx, got)
		own := s.Target.HasHandler && (r.envelope.Kind == "message" || r.values == 0 && !r.ended) || on.sent != nil && r.values > 0 && w.chatty()
		if own && !r.names(on.sent) {
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
