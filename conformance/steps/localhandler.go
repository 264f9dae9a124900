package steps

import (
	"context"
	"fmt"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

// maxFlood bounds the messages that are sent to make a queue overflow: several
// times as many as one holds.
const maxFlood = 8192

// waitingConns bounds the connections over which many requests are held open.
const waitingConns = 32

func init() {
	define(`client ([A-Z]) takes the lease`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.takeLease(ctx, a[0])
	})
	define(`([\d,]+) requests of the probe wait for client ([A-Z])`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.pileUp(ctx, n, a[1])
	})
	define(`none of those that wait is touched`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		for _, x := range s.waiting {
			if r := x.read(); r.ended || len(r.data) > 0 {
				return fail(x, "a request that waits is left alone", "its stream carried %s", r.describe())
			}
		}
		return nil
	})
	define(`client ([A-Z]) answers one of those that wait, and its requester gets the answer`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		x := s.waiting[len(s.waiting)/2]
		if err := s.say(ctx, a[0], fmt.Appendf(nil, `{"cmd":"reply","request_id":%s,"kind":"response","payload":{"still":"here"}}`, wire.Quote(x.id))); err != nil {
			return err
		}
		if err := s.positive(ctx, a[0], ""); err != nil {
			return err
		}
		return s.replyIs(ctx, x, "response", []byte(`{"still":"here"}`))
	})
	define(`client ([A-Z]) answers them all, the last one first, each by its number`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		for i := len(s.waiting) - 1; i >= 0; i-- {
			line := fmt.Appendf(nil, `{"cmd":"reply","request_id":%s,"kind":"response","payload":{"number":%d}}`, wire.Quote(s.waiting[i].id), i)
			if err := s.say(ctx, a[0], line); err != nil {
				return err
			}
			if err := s.positive(ctx, a[0], ""); err != nil {
				return err
			}
		}
		return nil
	})
	define(`each requester gets its own number`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for i, x := range s.waiting {
			if err := s.replyIs(ctx, x, "response", fmt.Appendf(nil, `{"number":%d}`, i)); err != nil {
				return err
			}
		}
		return nil
	})
	define(`the probe sends (\d+) requests while client ([A-Z]) takes the lease`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.leaseAmidRequests(ctx, n, a[1])
	})
	define(`client ([A-Z]) got the answer to serve before its first event "request"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		c, err := s.barrier(ctx, a[0])
		if err != nil {
			return err
		}
		for _, l := range c.session.Lines()[c.mark:] {
			if isAnswer(l) {
				return nil
			}
			if isRequest(l) {
				return fail(nil, "the answer to serve, and then requests", "a request came first: %s", shorten(string(l.Raw)))
			}
		}
		return nil
	})
	define(`the error's retryable is the boolean true`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.payloadMember(ctx, "retryable", "true")
	})
	define(`the probe and the peer each send a request with the same id`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.sameIDs(ctx)
	})
	define(`client ([A-Z]) is shown both requests, each from its sender`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.shownBoth(ctx, a[0])
	})
	define(`the (probe|peer) gets the response (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		x := s.exchanges[len(s.exchanges)-2]
		if a[0] == "peer" {
			x = s.exchanges[len(s.exchanges)-1]
		}
		return s.replyIs(ctx, x, "response", []byte(a[1]))
	})
	define(`neither of the two is answered yet`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		for _, x := range s.exchanges[len(s.exchanges)-2:] {
			if r := x.read(); r.ended || len(r.data) > 0 {
				return fail(x, "both requests still wait", "the stream carried %s", r.describe())
			}
		}
		return nil
	})
	define(`a local client takes the lease and reads no more`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.deafHolder(ctx)
	})
	define(`(\d+) requests of the probe wait for it`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		for range n {
			if _, err := s.send(ctx, true, plain("request", wire.NewID())); err != nil {
				return err
			}
		}
		s.waiting = append(s.waiting, s.exchanges...)
		return nil
	})
	define(`messages are sent until the target lets go of it`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.untilDropped(ctx)
	})
	define(`each of those that waited gets the default error`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for _, x := range s.waiting {
			s.last = x
			if err := s.defaultError(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeLease has a client become the handler. The target learns in its own time that
// the holder before has gone.
func (s *Scenario) takeLease(ctx context.Context, name string) error {
	s.handled = true
	for {
		if err := s.say(ctx, name, []byte(`{"cmd":"serve"}`)); err != nil {
			return err
		}
		l, err := s.heardAnswer(ctx, name, "")
		if err != nil {
			return err
		}
		if !isRefusal(l) {
			return nil
		}
		if l.Member("error") != "handler_busy" || !pause(ctx) {
			return fail(nil, "client "+name+" is given the handler lease", "it got %s", shorten(string(l.Raw)))
		}
	}
}

// leaseAmidRequests has a client ask for the lease while requests come in. One that
// is told that the holder before has not gone yet asks again.
func (s *Scenario) leaseAmidRequests(ctx context.Context, n int, name string) error {
	s.handled = true
	burst := func() error {
		for range n / 2 {
			if _, err := s.send(ctx, true, plain("request", wire.NewID())); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		if err := burst(); err != nil {
			return err
		}
		if err := s.say(ctx, name, []byte(`{"cmd":"serve"}`)); err != nil {
			return err
		}
		if err := burst(); err != nil {
			return err
		}
		l, err := s.heardAnswer(ctx, name, "")
		if err != nil {
			return err
		}
		if !isRefusal(l) {
			return nil
		}
		if l.Member("error") != "handler_busy" || !pause(ctx) {
			return fail(nil, "client "+name+" is given the handler lease", "it got %s", shorten(string(l.Raw)))
		}
	}
}

// pileUp has n requests wait for the handler, over as many connections as it takes,
// and then dials one more for what comes next.
func (s *Scenario) pileUp(ctx context.Context, n int, name string) error {
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	for conns := 1; len(s.waiting) < n; {
		stream, ok, err := c.TryOpenBidi()
		if err != nil {
			return s.lose(&exchange{conn: c}, "the target takes a new stream", "%v", err)
		}
		if !ok {
			if conns++; conns > waitingConns || s.Target.Single {
				return &verdict.Blocked{Reason: fmt.Sprintf("the target grants so few streams that no more than %d requests can wait", len(s.waiting))}
			}
			if c, err = s.dial(ctx); err != nil {
				return err
			}
			continue
		}
		x := &exchange{conn: c, stream: stream}
		x.note(plain("request", wire.NewID()))
		s.exchanges, s.waiting, s.last = append(s.exchanges, x), append(s.waiting, x), x
		if err := s.wrote(x, x.stream.Send(ctx, x.sent)); err != nil {
			return err
		}
		s.moved()
	}
	l, err := s.client(ctx, name)
	if err != nil {
		return err
	}
	for i, from := 0, 0; i < n; i++ {
		_, at, err := l.session.Find(ctx, from, isRequest)
		if err != nil {
			return s.lose(s.last, fmt.Sprintf("client %s is shown %d requests", name, n), "it was shown %d within %s (%v)", i, s.Target.Ceiling, err)
		}
		from = at + 1
		s.moved()
	}
	if s.Target.Single {
		return nil
	}
	_, err = s.dial(ctx)
	return err
}

func isRequest(l control.Line) bool { return l.Member("event") == "request" }

// sameIDs sends the same bytes from the probe and from the peer.
func (s *Scenario) sameIDs(ctx context.Context) error {
	body := plain("request", wire.NewID())
	if _, err := s.send(ctx, true, body); err != nil {
		return err
	}
	c, err := s.peerDials(ctx)
	if err != nil {
		return err
	}
	x, err := s.sendOn(ctx, c, true, body)
	if err != nil {
		return err
	}
	x.sender = s.peer().identity.AgentID()
	return nil
}

// shownBoth: there is an event for each of the last two requests, told apart by
// their senders.
func (s *Scenario) shownBoth(ctx context.Context, name string) error {
	for _, x := range s.exchanges[len(s.exchanges)-2:] {
		from := x.from(s)
		l, err := s.hear(ctx, name, "client "+name+" is shown the request of "+from, 0, func(l control.Line) bool {
			return isRequest(l) && concerns(l, x.id) && l.Member("from") == from
		})
		if err != nil {
			return err
		}
		if err := s.eventProblem(l); err != nil {
			return err
		}
	}
	return nil
}

// deafHolder has a client take the lease that reads the answer to that and no more.
func (s *Scenario) deafHolder(ctx context.Context) error {
	api, err := s.localAPI()
	if err != nil {
		return err
	}
	s.handled = true
	if s.deaf, err = control.DialUnread(ctx, api.Socket()); err != nil {
		return s.lose(nil, "the local API takes another client", "%v", err)
	}
	for {
		if err := s.deaf.Write(ctx, []byte(`{"cmd":"serve"}`+"\n")); err != nil {
			return s.lose(nil, "the target reads what a client writes", "%v", err)
		}
		l, err := s.deaf.ReadLine(ctx)
		for err == nil && !isAnswer(l) {
			l, err = s.deaf.ReadLine(ctx)
		}
		if err != nil {
			return s.lose(nil, "serve is answered", "%v", err)
		}
		if !isRefusal(l) {
			return nil
		}
		if l.Member("error") != "handler_busy" || !pause(ctx) {
			return fail(nil, "a local client is given the handler lease", "it got %s", shorten(string(l.Raw)))
		}
	}
}

// untilDropped sends messages, which the holder of the lease does not read either,
// until the first of the requests that wait for it has ended.
func (s *Scenario) untilDropped(ctx context.Context) error {
	f := flood{size: 2048}
	first := s.waiting[0]
	for n := range maxFlood {
		if first.read().ended {
			return nil
		}
		if _, err := s.send(ctx, false, f.body(n)); err != nil {
			return err
		}
		s.moved()
	}
	if _, err := first.awaitEnd(ctx); err != nil {
		return s.lose(first, "a lease holder whose queue overflows is let go, and its requests are ended",
			"after %d messages that it did not read, a request still waited %s later", maxFlood, s.Target.Ceiling)
	}
	return nil
}
