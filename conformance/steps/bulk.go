package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`([\d,]+) requests are sent one after another on one connection`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.inWindow(ctx, n, 64)
	})
	define(`([\d,]+) requests are opened at once on one connection`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.inWindow(ctx, n, n)
	})
	define(`([\d,]+) requests lie written and unfinished on one connection and are then finished in (order|reverse order|a mixed order)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.pile(ctx, n, a[1])
	})
	define(`(\d+) envelopes of unknown kinds are sent on each type of stream`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		c, err := s.connection(ctx)
		if err != nil {
			return err
		}
		const window = 16
		var sent []*exchange
		for i := range n {
			if _, err := s.sendOn(ctx, c, false, plain(fmt.Sprintf("later_%d", i), wire.NewID())); err != nil {
				return err
			}
			x, err := s.sendOn(ctx, c, true, plain(fmt.Sprintf("future_%d", i), wire.NewID()))
			if err != nil {
				return err
			}
			sent = append(sent, x)
			if i >= window {
				if _, err := s.something(ctx, sent[i-window]); err != nil {
					return err
				}
			}
		}
		for _, x := range sent {
			if _, err := s.something(ctx, x); err != nil {
				return err
			}
		}
		return nil
	})
	define(`(\d+) requests of ([\d,]+) bytes each are sent one after another on one connection`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		size, err := number(a[1])
		if err != nil {
			return err
		}
		c, err := s.connection(ctx)
		if err != nil {
			return err
		}
		for i := range n {
			x, err := s.sendOn(ctx, c, true, wire.Pad(wire.NewID(), "request", size))
			if err != nil {
				return err
			}
			if r, err := x.await(ctx); err != nil {
				return s.lose(x, fmt.Sprintf("request %d of %d is answered", i+1, n), "the stream carried %s after %s", r.describe(), s.Target.Ceiling)
			}
			s.moved()
		}
		return nil
	})
	define(`(\d+) requests are begun and given up on one connection`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.giveUp(ctx, n)
	})
	define(`up to (\d+) requests lie half written on one connection, a stream less than it grants`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.stallMany(ctx, n)
	})
	define(`all of them are answered, each on its own stream`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.allAnswered(ctx)
	})
	define(`each reply's ref is the id of the request on its own stream`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for _, x := range s.exchanges {
			if err := s.refersTo(ctx, x); err != nil {
				return err
			}
		}
		return nil
	})
	define(`their ids are all different, and none is a request's`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.idsDiffer(ctx)
	}).bars()
	define(`(\d+) connections are made one after another, and on each a request is written at once`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.connectionsInRow(ctx, n)
	})
	define(`(\d+) connections are open at the same time, and on each (\d+) requests are sent`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		each, err := number(a[1])
		if err != nil {
			return err
		}
		return s.connectionsAtOnce(ctx, n, each)
	})
	define(`([\d,]+) messages of 4 KiB each are sent on one connection`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		c, err := s.connection(ctx)
		if err != nil {
			return err
		}
		s.seen = len(c.Incoming())
		for range n {
			if _, err := s.sendOn(ctx, c, false, wire.Pad(wire.NewID(), "message", 4096)); err != nil {
				return err
			}
			s.moved()
		}
		return nil
	})
	define(`the messages among them are taken`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for _, x := range s.exchanges {
			env, _ := wire.Inspect(x.sent)
			code, stopped := x.stream.StopCode()
			// One that the target has no use for it may stop with code 0.
			if len(x.sent) == 4096 && (stopped && code != 0 || !stopped && x.writeErr != nil) {
				return fail(x, "every message is read to its end", "the %s %s was cut off (%v, code %d)", env.Kind, env.ID, x.writeErr, code)
			}
		}
		return s.survives(ctx)
	})
	define(`all of them are taken`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for i, x := range s.exchanges {
			code, stopped := x.stream.StopCode()
			switch {
			case stopped && code != 0:
				return fail(x, "every message is read to its end", "the target stopped message %d of %d with code %d", i+1, len(s.exchanges), code)
			case x.writeErr != nil && !stopped:
				return fail(x, "every message is read to its end", "message %d of %d was cut off: %v", i+1, len(s.exchanges), x.writeErr)
			}
		}
		return s.survives(ctx)
	})
	define(`a mixture of (\d+) valid and malformed envelopes is sent on one connection`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.mixture(ctx, n)
	})
}

// inWindow sends n requests with at most window of them unanswered.
func (s *Scenario) inWindow(ctx context.Context, n, window int) error {
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	for i := range n {
		if i >= window {
			x := s.exchanges[i-window]
			if r, err := s.over(ctx, x); err != nil {
				return s.lose(x, fmt.Sprintf("request %d of %d is answered and its stream finished", i-window+1, n), "the stream carried %s after %s", r.describe(), s.Target.Ceiling)
			}
			s.moved()
		}
		x, err := s.sendOn(ctx, c, true, plain("request", wire.NewID()))
		if err != nil {
			return err
		}
		if x.writeErr != nil {
			return s.lose(x, fmt.Sprintf("request %d of %d is taken", i+1, n), "it was cut off: %v", x.writeErr)
		}
	}
	return nil
}

// pile has n requests lie there, whole but for their FIN, and then finishes them.
// A target that grants credit for fewer streams gets as many as it grants.
func (s *Scenario) pile(ctx context.Context, n int, order string) error {
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	var batch []*exchange
	piled := 0
	finish := func() error {
		if err := s.heard(ctx, c, batch); err != nil {
			return err
		}
		for i := range batch {
			j := i
			switch order {
			case "reverse order":
				j = len(batch) - 1 - i
			case "a mixed order":
				// A step that shares no factor with any batch visits each once.
				j = (i*7919 + 3) % len(batch)
			}
			if batch[j].fin {
				continue
			}
			if err := s.finish(batch[j]); err != nil {
				return err
			}
		}
		for _, x := range batch {
			if _, err := s.something(ctx, x); err != nil {
				return err
			}
		}
		batch = batch[:0]
		return nil
	}
	for piled < n {
		x, err := s.tryOpen(ctx, c, len(batch) > 0)
		if err != nil {
			return err
		}
		if x == nil {
			if err := finish(); err != nil {
				return err
			}
			continue
		}
		x.note(plain("request", wire.NewID()))
		if err := s.wrote(x, x.stream.Write(ctx, x.sent)); err != nil {
			return err
		}
		batch = append(batch, x)
		piled++
	}
	return finish()
}

// stallMany leaves up to n requests half written. When the target grants fewer
// streams, the last one is made whole, so that its credit comes back.
func (s *Scenario) stallMany(ctx context.Context, n int) error {
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	var stalled []*exchange
	for len(stalled) < n {
		x, err := s.tryOpen(ctx, c, len(stalled) > 0)
		if err != nil {
			return err
		}
		if x == nil {
			last := stalled[len(stalled)-1]
			if err := s.wrote(last, last.stream.Write(ctx, last.sent[len(last.sent)/2:])); err != nil {
				return err
			}
			if err := s.finish(last); err != nil {
				return err
			}
			_, err := s.something(ctx, last)
			return err
		}
		x.note(plain("request", wire.NewID()))
		if err := s.wrote(x, x.stream.Write(ctx, x.sent[:len(x.sent)/2])); err != nil {
			return err
		}
		stalled = append(stalled, x)
	}
	return s.survives(ctx)
}

// giveUp begins n requests and takes each back: by a reset in the middle, by a reset
// without a byte, or by not wanting the reply to a whole one.
func (s *Scenario) giveUp(ctx context.Context, n int) error {
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	for i := range n {
		x, err := s.openOn(ctx, c, true)
		if err != nil {
			return err
		}
		body := plain("request", wire.NewID())
		switch i % 3 {
		case 0:
			if err := s.wrote(x, x.stream.Write(ctx, body[:len(body)/2])); err != nil {
				return err
			}
			x.stream.Reset(0)
		case 1:
			x.stream.Reset(0)
		case 2:
			if err := s.wrote(x, x.stream.Send(ctx, body)); err != nil {
				return err
			}
			x.stream.StopReading(0)
		}
		// Its end is the scenario's doing, so it is none of its exchanges.
		s.exchanges = s.exchanges[:len(s.exchanges)-1]
		if i%20 == 19 {
			if _, err := s.good(ctx, c); err != nil {
				return err
			}
			s.moved()
		}
	}
	return nil
}

// heard returns when the target has read what lies in a batch, so that all of it
// is in its hands at the same time: a later request is answered, or, when no credit
// is left for one, the last of the batch.
func (s *Scenario) heard(ctx context.Context, c *probe.Conn, batch []*exchange) error {
	if len(batch) == 0 {
		return nil
	}
	last, err := s.tryOpen(ctx, c, true)
	if err != nil {
		return err
	}
	if last == nil {
		last = batch[len(batch)-1]
	} else {
		last.note(plain("request", wire.NewID()))
		if err := s.wrote(last, last.stream.Write(ctx, last.sent)); err != nil {
			return err
		}
	}
	if err := s.finish(last); err != nil {
		return err
	}
	_, err = s.something(ctx, last)
	return err
}

// tryOpen opens a stream; with others in hand it gives up at once, nil, when the
// target grants no credit for one more.
func (s *Scenario) tryOpen(ctx context.Context, c *probe.Conn, inHand bool) (*exchange, error) {
	if !inHand {
		return s.openOn(ctx, c, true)
	}
	stream, ok, err := c.TryOpenBidi()
	if err != nil {
		x := &exchange{conn: c}
		return nil, s.lose(x, "the target takes a new stream", "%v", err)
	}
	if !ok {
		return nil, nil
	}
	x := &exchange{conn: c, stream: stream}
	s.exchanges = append(s.exchanges, x)
	s.last = x
	return x, nil
}

func (s *Scenario) allAnswered(ctx context.Context) error {
	if len(s.exchanges) == 0 {
		return fmt.Errorf("no request was sent before this step")
	}
	for i, x := range s.exchanges {
		r, err := x.await(ctx)
		which := fmt.Sprintf("request %d of %d is answered on its own stream", i+1, len(s.exchanges))
		if err != nil {
			return s.lose(x, which, "the stream carried %s after %s", r.describe(), s.Target.Ceiling)
		}
		if !r.answered() && !(s.asUsual(r) && s.Target.Usual.value) {
			if s.asUsual(r) && !s.isAbout(aboutAnswers) {
				return s.unanswering(r)
			}
			s.Lost = r.ended && r.ending.How == probe.ConnectionClosed
			return fail(x, which, "the stream carried %s", r.describe())
		}
		if r, err = s.over(ctx, x); err != nil {
			return s.lose(x, fmt.Sprintf("the stream of request %d of %d is finished", i+1, len(s.exchanges)), "it carried %s after %s", r.describe(), s.Target.Ceiling)
		}
		if !s.endedWell(r) {
			return fail(x, which, "the stream carried %s", r.describe())
		}
		s.moved()
	}
	return nil
}

func (s *Scenario) idsDiffer(ctx context.Context) error {
	seen := map[string]int{}
	for i, x := range s.exchanges {
		seen[strings.ToLower(x.id)] = -i - 1
	}
	for i, x := range s.exchanges {
		r, err := s.something(ctx, x)
		if err != nil {
			return err
		}
		id := strings.ToLower(r.envelope.ID)
		if id == "" {
			continue // for AXON-ENV-002 and AXON-ENV-003 to judge
		}
		if j, again := seen[id]; again && j < 0 {
			return fail(x, "a reply with an id of its own", "the reply's id %s is that of request %d", id, -j)
		} else if again {
			return fail(x, "a reply with an id of its own", "replies %d and %d both have the id %s", j+1, i+1, id)
		}
		seen[id] = i
	}
	return nil
}

// connectionsInRow makes n connections, one at a time, and has the first thing on
// each be a request.
func (s *Scenario) connectionsInRow(ctx context.Context, n int) error {
	s.unasked = true
	pause := firstPause
	for i := 0; i < n; i++ {
		c, err := s.dial(ctx)
		if err != nil {
			if i == 0 {
				return err
			}
			return s.lose(nil, fmt.Sprintf("connection %d of %d is made and served", i+1, n), "%v", err)
		}
		x, err := s.sendOn(ctx, c, true, plain("request", wire.NewID()))
		if err != nil {
			return err
		}
		if r, err := s.answer(ctx, x); err != nil {
			if s.Target.Single && len(r.data) == 0 && closedByTarget(c) && ctx.Err() == nil {
				// It had not noticed yet that the connection before is over.
				s.Lost, s.exchanges = false, s.exchanges[:len(s.exchanges)-1]
				time.Sleep(pause)
				pause *= 2
				i--
				continue
			}
			return err
		}
		pause = firstPause
		// The connection must not be closed over a reply that is still coming.
		if r, err := s.over(ctx, x); err != nil {
			return s.lose(x, "the stream ends after its reply", "it carried %s after %s", r.describe(), s.Target.Ceiling)
		}
		_ = c.Close(0, "done")
	}
	return nil
}

// connectionsAtOnce has n connections open together, or as many of them as the target
// keeps, and sends on each.
func (s *Scenario) connectionsAtOnce(ctx context.Context, n, each int) error {
	if s.Target.Single {
		n = 1
	}
	var open []*probe.Conn
	for range n {
		c, err := s.dial(ctx)
		if err != nil && len(open) < 2 {
			return err
		}
		if err != nil {
			s.Lost = false
			break
		}
		open = append(open, c)
	}
	// The newest first: once it is served, the target has let go of those that it does
	// not keep beside it.
	var kept []*probe.Conn
	for _, c := range slices.Backward(open) {
		before := len(s.exchanges)
		_, err := s.good(ctx, c)
		switch {
		case err == nil:
			kept = append(kept, c)
		case closedByTarget(c):
			s.exchanges, s.Lost = s.exchanges[:before], false
		default:
			return err
		}
	}
	if len(kept) == 0 {
		return s.lose(s.last, "the target keeps one connection of several", "it closed all %d", len(open))
	}
	for range each {
		for _, c := range kept {
			if _, err := s.sendOn(ctx, c, true, plain("request", wire.NewID())); err != nil {
				return err
			}
		}
	}
	return nil
}

// malformedSamples are bytes that are no envelope; «…» as in feature files.
var malformedSamples = []string{
	``, `{`, `{"id":"«id»","kind":"request"`, `[]`, `null`, `{"id":null,"kind":"request","payload":{}}`,
	`{"id":"«id»","payload":{}}`, `{"id":"«id»","kind":"request","payload":[]}`, `«hex ff fe 00»`, `«request»«request»`,
}

// mixture alternates malformed envelopes, of which nothing is asked, with good
// requests, each of which must be answered correctly.
func (s *Scenario) mixture(ctx context.Context, n int) error {
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	for i := range n {
		bad, err := s.expand(malformedSamples[i%len(malformedSamples)], wire.NewID())
		if err != nil {
			return err
		}
		if _, err := s.sendOn(ctx, c, i%3 != 0, bad); err != nil {
			if c, err = s.insteadOf(ctx, c, err); err != nil {
				return err
			}
		}
		x, err := s.good(ctx, c)
		if err != nil {
			if c, err = s.insteadOf(ctx, c, err); err == nil {
				x, err = s.good(ctx, c)
			}
			if err != nil {
				return err
			}
		}
		if err := s.refersTo(ctx, x); err != nil {
			return err
		}
		s.moved()
	}
	return nil
}

// insteadOf dials anew where the target has closed a connection, as it may after
// something malformed. Otherwise it gives the reason why it was asked.
func (s *Scenario) insteadOf(ctx context.Context, c *probe.Conn, reason error) (*probe.Conn, error) {
	if end := c.End(); end == nil || !end.Remote || end.IdleTimeout {
		return c, reason
	}
	s.Lost = false
	another, err := s.dial(ctx)
	if err != nil {
		return c, s.lose(s.last, "the target lives on", "it takes no new connection: %v", err)
	}
	return another, nil
}

// blocked is a precondition that broke.
func blocked(reason string, args ...any) error {
	return &verdict.Blocked{Reason: fmt.Sprintf(reason, args...)}
}
