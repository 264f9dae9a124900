package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`client ([A-Z]) is shown the event "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.shownEvent(ctx, a[0], a[1])
	})
	define(`client ([A-Z]) is shown no(?: further)? event "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.shownNothing(ctx, a[0], a[1])
	})
	define(`a local client connects and never reads`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.connectDeaf(ctx, `{"cmd":"whoami"}`)
	})
	define(`the probe sends ([\d,]+) numbered messages of ([\d,]+) bytes, ([\d,]+) at a time, and client ([A-Z]) and client ([A-Z]) are shown each of them once`,
		func(ctx context.Context, s *Scenario, a []string, _ string) error {
			var n [3]int
			for i := range n {
				var err error
				if n[i], err = number(a[i]); err != nil {
					return err
				}
			}
			return s.flood(ctx, flood{total: n[0], size: n[1], batch: n[2], watchers: a[3:5]})
		})
	define(`the one that never reads is disconnected by the target, and missed nothing before that`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.concerning(s.deafDropped(ctx), "IPC-073")
	})
}

// shownEvent waits until a client is shown an event about what was sent last.
func (s *Scenario) shownEvent(ctx context.Context, name, event string) error {
	x := s.last
	if x == nil {
		return errors.New("nothing was sent before this step that an event could be about")
	}
	l, err := s.hear(ctx, name, "client "+name+" is shown the event "+strQuote(event)+" for "+x.id, 0, func(l control.Line) bool {
		return l.Member("event") == event && concerns(l, x.id)
	})
	if err != nil {
		return s.concerning(err, "IPC-039", "IPC-041", "IPC-053", "IPC-069", "IPC-074")
	}
	return s.eventProblem(l)
}

// concerns tells whether an event is about an envelope. Events of other checks,
// which go on at the same time, are none of a scenario's business.
func concerns(l control.Line, id string) bool {
	envelope, _ := l.Value.Get("envelope")
	own, _ := envelope.Get("id")
	return wire.SameUUID(own.String, id) || wire.SameUUID(l.Member("request_id"), id)
}

// eventProblem: an event is never to be taken for an answer.
func (s *Scenario) eventProblem(l control.Line) error {
	for _, name := range []string{"ok", "req_id"} {
		if _, n := l.Value.Get(name); n > 0 {
			return s.concerning(fail(nil, "an event without "+name, "it is %s", shorten(string(l.Raw))), "IPC-068")
		}
	}
	return nil
}

// shownNothing: up to the answer of further commands a client was shown no event of
// a name about anything that the scenario sent, but for those that steps have
// looked at.
func (s *Scenario) shownNothing(ctx context.Context, name, event string) error {
	c, err := s.barrier(ctx, name)
	if err != nil {
		return err
	}
	for i, l := range c.session.Lines() {
		if c.taken[i] || l.Member("event") != event {
			continue
		}
		for _, x := range s.exchanges {
			if x.id != "" && concerns(l, x.id) {
				return s.concerning(fail(x, "client "+name+" is shown no event "+strQuote(event), "it was shown %s", shorten(string(l.Raw))),
					"IPC-039", "IPC-041", "IPC-069", "IPC-075")
			}
		}
	}
	return nil
}

// connectDeaf connects a client that says one thing and never reads.
func (s *Scenario) connectDeaf(ctx context.Context, line string) error {
	api, err := s.localAPI()
	if err != nil {
		return err
	}
	if s.deaf, err = control.DialUnread(ctx, api.Socket()); err != nil {
		return s.lose(nil, "the local API takes another client", "%v", err)
	}
	if err := s.deaf.Write(ctx, []byte(line+"\n")); err != nil {
		return s.lose(nil, "the target reads what a client writes", "%v", err)
	}
	// Clients are taken in one after another: when a later one is served, so is it.
	_, err = s.command(ctx, `"cmd":"whoami"`)
	return err
}

// flood is a stream of messages, each with a number, sent batch by batch, so that a
// client that does read falls no more than a batch behind.
type flood struct {
	total, size, batch int
	watchers           []string
}

// body is the message with a number.
func (f flood) body(number int) []byte {
	head := fmt.Sprintf(`{"number":%d,"fill":"`, number)
	return wire.Outgoing{ID: wire.NewID(), Kind: "message", Payload: head + strings.Repeat("x", max(0, f.size-len(head)-90)) + `"}`}.Bytes()
}

// numberOf is the number of the message that an event shows, -1 when it is none of
// the probe's.
func numberOf(l control.Line, from string) int {
	n, count := memberOf(l, "envelope.payload.number")
	if l.Member("event") != "inbound" || !strings.EqualFold(l.Member("from"), from) || count != 1 {
		return -1
	}
	number, err := number(n.Number)
	if err != nil {
		return -1
	}
	return number
}

func (s *Scenario) flood(ctx context.Context, f flood) error {
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	s.flooded = f
	seen := make([]map[int]bool, len(f.watchers))
	next := make([]int, len(f.watchers)) // the first line not yet looked at
	for sent := 0; sent < f.total; {
		for range min(f.batch, f.total-sent) {
			if _, err := s.sendOn(ctx, c, false, f.body(sent)); err != nil {
				return err
			}
			sent++
			s.moved()
		}
		for i, name := range f.watchers {
			if seen[i] == nil {
				seen[i] = map[int]bool{}
			}
			if next[i], err = s.watchFlood(ctx, name, next[i], seen[i], sent); err != nil {
				return err
			}
		}
	}
	return nil
}

// watchFlood waits until a client has been shown as many of the messages as were
// sent.
func (s *Scenario) watchFlood(ctx context.Context, name string, from int, seen map[int]bool, want int) (int, error) {
	c, err := s.client(ctx, name)
	if err != nil {
		return from, err
	}
	what := fmt.Sprintf("client %s is shown each of the messages", name)
	for len(seen) < want {
		l, i, err := c.session.Find(ctx, from, func(l control.Line) bool { return numberOf(l, s.Target.Identity.AgentID()) >= 0 })
		if err != nil && ctx.Err() == nil {
			return from, s.lose(s.last, what, "the target closed its connection when it had been shown %d of %d, though it reads all the time", len(seen), want)
		} else if err != nil {
			return from, s.lose(s.last, what, "it was shown %d of %d within %s", len(seen), want, s.Target.Ceiling)
		}
		n := numberOf(l, s.Target.Identity.AgentID())
		if seen[n] {
			return from, fail(s.last, what+" once", "it was shown number %d twice", n)
		}
		seen[n] = true
		from = i + 1
		s.moved()
	}
	return from, nil
}

// deafDropped: the client that did not read now reads what had been written to it,
// and then the end. Up to the batch that ended it, it was shown everything.
func (s *Scenario) deafDropped(ctx context.Context) error {
	s.deaf.Read()
	if err := s.deaf.AwaitEnd(ctx); err != nil {
		return s.lose(s.last, "a client whose queue overflowed is disconnected", "its connection is open after %s; it was then sent %d lines", s.Target.Ceiling, len(s.deaf.Lines()))
	}
	seen, last := map[int]bool{}, -1
	for _, l := range s.deaf.Lines() {
		if n := numberOf(l, s.Target.Identity.AgentID()); n >= 0 {
			seen[n] = true
			last = max(last, n)
		}
	}
	// Messages of one batch may overtake each other.
	for n := range last - last%s.flooded.batch {
		if !seen[n] {
			return fail(s.last, "a client is shown everything until it is disconnected", "it was shown number %d, and not number %d, which came long before", last, n)
		}
	}
	return nil
}

// outsider is a program of another user that talks to the local API.
func (s *Scenario) outsider(ctx context.Context, line []byte) error {
	api, err := s.localAPI()
	if err != nil {
		return err
	}
	session, err := control.DialAsOther(ctx, api.Socket())
	switch {
	case errors.Is(err, control.ErrUnsupported):
		return &verdict.Inapplicable{Reason: err.Error()}
	case err != nil && ctx.Err() != nil:
		return s.lose(nil, "a program of another user is turned away", "%v", err)
	case err != nil:
		return nil // it did not even get that far
	}
	s.crowd = append(s.crowd, session)
	_ = session.Write(ctx, append(line, '\n')) // it may be closed already
	return nil
}
