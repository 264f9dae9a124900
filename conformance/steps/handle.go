package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`an application handler is registered in the target`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.registerHandler(ctx)
	})
	define(`the handler is given that request`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.handlerGiven(ctx)
	})
	define(`the handler answers by an? (response|error) with the payload (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		payload, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		return s.handlerAnswers(ctx, a[0], payload)
	})
	define(`the handler gives the same payload back`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		env, _ := wire.Inspect(s.handed.Envelope)
		return s.handlerAnswers(ctx, "response", env.Payload.Raw)
	})
	define(`the handler declines it`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		o, err := s.handler.Decline(ctx, s.handed)
		return s.handlerTold(o, err)
	})
	define(`the handler goes away`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		err := s.handler.Close()
		s.handler = nil
		if fault := notTheTarget(err); fault != nil {
			return fault
		}
		return err
	})
	define(`the reply is an? (response|error) with the payload (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		payload, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		return s.replyIs(ctx, s.last, a[0], payload)
	})
	define(`the reply is a response that carries what was sent`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		env, _ := wire.Inspect(s.last.sent)
		return s.replyIs(ctx, s.last, "response", env.Payload.Raw)
	})
	define(`the handler holds it back`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		s.held, s.heldExchange = s.handed, s.last
		return nil
	})
	define(`the handler answers the one that it held back by a response with the payload (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		s.handed, s.last = s.held, s.heldExchange
		return s.handlerAnswers(ctx, "response", []byte(a[0]))
	})
	define(`the handler answers each of (\d+) requests by a response, the last one first`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.handlerReverses(ctx, n)
	})
	define(`each reply carries the payload of its own request`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for _, x := range s.exchanges {
			env, _ := wire.Inspect(x.sent)
			if err := s.replyIs(ctx, x, "response", env.Payload.Raw); err != nil {
				return err
			}
		}
		return nil
	})
	define(`(\d+) requests with payloads of their own are sent on (\d+) connections`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		conns, err := number(a[1])
		if err != nil {
			return err
		}
		return s.numbered(ctx, n, conns)
	})
	define(`whether the payload came through byte for byte is noted`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		sent, _ := wire.Inspect(s.last.sent)
		handed, _ := wire.Inspect(s.handed.Envelope)
		r, err := s.answer(ctx, s.last)
		if err != nil {
			return err
		}
		same := func(v wire.Value) string {
			if string(v.Raw) == string(sent.Payload.Raw) {
				return "byte for byte"
			}
			return "as other bytes"
		}
		s.Observed = fmt.Sprintf("the handler was given the payload %s, and the requester got it back %s", same(handed.Payload), same(r.envelope.Payload))
		return nil
	})
	define(`the probe resets its side and gives up waiting`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		s.last.stream.StopReading(0)
		s.last.due = false
		return nil
	})
	define(`a local client of the target is watching`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		o, err := s.Target.Control.Observe(ctx)
		if err != nil {
			return blockedOr(err, "no local client could be attached")
		}
		s.observer = o
		return nil
	})
	define(`the local client is shown it, from the probe, with its kind and payload unchanged`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		e, env, err := s.shown(ctx, s.last)
		if err != nil {
			return err
		}
		sent, _ := wire.Inspect(s.last.sent)
		if env.Kind != sent.Kind {
			return fail(s.last, fmt.Sprintf("the local client is shown the kind %q", shorten(sent.Kind)), "it was shown %q", shorten(env.Kind))
		}
		if !strings.EqualFold(e.From, s.Target.Identity.AgentID()) {
			return fail(s.last, "the local client is told that it is from "+s.Target.Identity.AgentID(), "it was told from %q", e.From)
		}
		return samePayload(s.last, "the payload", env.Payload, sent.Payload.Raw)
	})
	define(`the local client is shown it`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		_, _, err := s.shown(ctx, s.last)
		return err
	})
	define(`the local client is shown its original kind`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		_, env, err := s.shown(ctx, s.last)
		if err != nil {
			return err
		}
		if sent, _ := wire.Inspect(s.last.sent); env.Kind != sent.Kind {
			return fail(s.last, fmt.Sprintf("the local client is shown the kind %q", shorten(sent.Kind)), "it was shown %q", shorten(env.Kind))
		}
		return nil
	})
	define(`the local client is told from and to of the connection, not of the wire`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.identityFromConnection(ctx)
	}).bars()
	define(`the local client is not shown it`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.notShown(ctx)
	}).bars()
}

// leasePause is how long to wait before asking again for a lease whose last holder
// has just gone away.
const leasePause = 2 * time.Millisecond

// registerHandler takes the handler lease. The target learns in its own time that
// the one before has gone.
func (s *Scenario) registerHandler(ctx context.Context) error {
	for {
		h, err := s.Target.Control.Handle(ctx)
		if err == nil {
			s.handler, s.handled = h, true
			return nil
		}
		if !errors.Is(err, control.ErrHandlerBusy) {
			return blockedOr(err, "no handler could be registered")
		}
		select {
		case <-ctx.Done():
			return &verdict.Blocked{Reason: "no handler could be registered", Err: err}
		case <-time.After(leasePause):
		}
	}
}

// ExpectHandler says that a handler will be registered, so that an answer may be
// an application's own.
func (s *Scenario) ExpectHandler() { s.handled = true }

// Release gives the handler lease back, so that requests are answered by default
// again.
func (s *Scenario) Release() {
	if s.handler != nil {
		_ = s.handler.Close()
		s.handler = nil
	}
	s.closeLocals() // one of them may hold it
}

// handlerGiven waits until the handler is given the last request, unchanged.
func (s *Scenario) handlerGiven(ctx context.Context) error {
	x := s.last
	r, err := s.handler.Next(ctx)
	if err != nil {
		if fault := notTheTarget(err); fault != nil {
			return fault
		}
		return s.lose(x, "the handler is given the request", "it was given nothing within %s (%v)", s.Target.Ceiling, err)
	}
	s.handed = r
	got, _ := wire.Inspect(r.Envelope)
	sent, _ := wire.Inspect(x.sent)
	if !wire.SameUUID(got.ID, x.id) {
		return fail(x, "the handler is given the request "+x.id, "it was given %q", got.ID)
	}
	if !strings.EqualFold(r.From, x.from(s)) {
		return fail(x, "the handler is told that the request is from "+x.from(s), "it was told %q", r.From)
	}
	return samePayload(x, "the payload", got.Payload, sent.Payload.Raw)
}

// from is the Agent ID of the probe that sent on an exchange.
func (x *exchange) from(s *Scenario) string {
	if x.sender != "" {
		return x.sender
	}
	return s.Target.Identity.AgentID()
}

func (s *Scenario) handlerAnswers(ctx context.Context, kind string, payload []byte) error {
	o, err := s.handler.Reply(ctx, s.handed, kind, payload)
	return s.handlerTold(o, err)
}

func (s *Scenario) handlerTold(o control.Outcome, err error) error {
	if err != nil {
		if fault := notTheTarget(err); fault != nil {
			return fault
		}
		return s.lose(s.last, "the target takes its handler's answer", "%v", err)
	}
	if !o.OK {
		return fail(s.last, "the target takes its handler's answer", "it said %s: %s", o.Code, o.Message)
	}
	return nil
}

// replyIs: an exchange's reply has a kind and, as a JSON value, a payload.
func (s *Scenario) replyIs(ctx context.Context, x *exchange, kind string, payload []byte) error {
	r, err := s.answer(ctx, x)
	if err != nil {
		return err
	}
	if r.envelope.Kind != kind {
		return fail(x, "the handler's "+kind, "the stream carried %s", r.describe())
	}
	if err := s.refersTo(ctx, x); err != nil {
		return err
	}
	return samePayload(x, "the handler's payload", r.envelope.Payload, payload)
}

// numbered sends n requests, each with a number of its own, over several
// connections in turn.
func (s *Scenario) numbered(ctx context.Context, n, conns int) error {
	for i := range conns {
		if s.Target.Single && i > 0 {
			break
		}
		if _, err := s.dial(ctx); err != nil {
			return err
		}
	}
	for i := range n {
		id := wire.NewID()
		c := s.conns[i%len(s.conns)]
		if _, err := s.sendOn(ctx, c, true, with("request", id, "payload", fmt.Sprintf(`{"number":%d}`, i))); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scenario) handlerReverses(ctx context.Context, n int) error {
	var all []control.Request
	for i := range n {
		r, err := s.handler.Next(ctx)
		if err != nil {
			if fault := notTheTarget(err); fault != nil {
				return fault
			}
			return s.lose(s.last, fmt.Sprintf("the handler is given %d requests", n), "it was given %d within %s", i, s.Target.Ceiling)
		}
		all = append(all, r)
	}
	for i := range all {
		s.handed = all[len(all)-1-i]
		env, _ := wire.Inspect(s.handed.Envelope)
		if err := s.handlerAnswers(ctx, "response", env.Payload.Raw); err != nil {
			return err
		}
	}
	return nil
}

// shown waits until the local client is shown what an exchange sent.
func (s *Scenario) shown(ctx context.Context, x *exchange) (control.Event, wire.Envelope, error) {
	// Events may come in another order than the streams were sent in.
	for _, e := range s.observer.Seen() {
		if env, _ := wire.Inspect(e.Envelope); e.Name == "inbound" && wire.SameUUID(env.ID, x.id) {
			return e, env, nil
		}
	}
	for {
		e, err := s.observer.Next(ctx)
		if err != nil {
			if fault := notTheTarget(err); fault != nil {
				return e, wire.Envelope{}, fault
			}
			return e, wire.Envelope{}, s.lose(x, "the local client is shown what came", "it was not shown it within %s (%v)", s.Target.Ceiling, err)
		}
		if env, _ := wire.Inspect(e.Envelope); e.Name == "inbound" && wire.SameUUID(env.ID, x.id) {
			return e, env, nil
		}
	}
}

// identityFromConnection: the event's from and to are those of the authenticated
// connection, and so are the envelope's, where it has them or has to have them.
func (s *Scenario) identityFromConnection(ctx context.Context) error {
	x := s.last
	e, env, err := s.shown(ctx, x)
	if err != nil {
		return err
	}
	me := s.Target.Identity.AgentID()
	if !strings.EqualFold(e.From, me) {
		return fail(x, "from is "+me, "the event's from is %q", e.From)
	}
	if !e.InEnvelope && !strings.EqualFold(e.To, s.Target.AgentID) {
		return fail(x, "to is "+s.Target.AgentID, "the event's to is %q", e.To)
	}
	for _, m := range []struct{ name, want string }{{"from", me}, {"to", s.Target.AgentID}} {
		v, n := env.Whole.Get(m.name)
		if n == 0 && !e.InEnvelope {
			continue
		}
		if n != 1 || !strings.EqualFold(v.String, m.want) {
			return fail(x, "the envelope shown has "+m.name+" "+m.want, "it has %d, with the value %s", n, shorten(string(v.Raw)))
		}
	}
	return nil
}

// notShown ends in barriers: messages sent after it on the same connection are
// shown, it is not.
func (s *Scenario) notShown(ctx context.Context) error {
	x := s.last
	if err := s.settle(ctx); err != nil {
		return err
	}
	for range barriers {
		c := s.conn
		if c.End() != nil {
			var err error
			if c, err = s.dial(ctx); err != nil {
				return err
			}
		}
		good, err := s.sendOn(ctx, c, false, plain("message", wire.NewID()))
		if err != nil {
			return err
		}
		if _, _, err := s.shown(ctx, good); err != nil {
			return err
		}
	}
	s.last = x
	// Other scenarios may be under way, or what they sent may be shown late.
	for _, e := range s.observer.Seen() {
		env, _ := wire.Inspect(e.Envelope)
		fromUs := e.Name == "inbound" && strings.EqualFold(e.From, s.Target.Identity.AgentID())
		if fromUs && (wire.SameUUID(env.ID, x.id) || !s.Target.Record.isOurs(env.ID)) {
			return fail(x, "it is not accepted, so no local client is shown it", "a local client was shown %s", shorten(string(e.Raw)))
		}
	}
	if err := s.observer.Trouble(); err != nil {
		return blockedOr(err, "what the local client was shown may not be all")
	}
	return nil
}
