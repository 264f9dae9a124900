package steps

import (
	"context"
	"fmt"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`the peer answers the request that it holds by a response with the payload (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.answerHeld(ctx, a[0])
	})
	define(`the peer writes (.+) back`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		body, err := s.expand(a[0], wire.NewID())
		if err != nil {
			return err
		}
		s.written, _ = wire.Inspect(body)
		return s.peerWrites(ctx, body)
	})
	define(`the peer finishes the stream without a reply`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.peerWrites(ctx, nil)
	})
	define(`the peer resets the stream`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		s.received().stream.Reset(1)
		return nil
	})
	define(`the target gives that stream up`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		x := s.received()
		const expected = "the target gives the stream up: it resets it, or asks the peer to stop sending"
		if end, ended := x.stream.Ended(); ended && end.How == probe.WasReset {
			return nil
		}
		_, stopped, err := x.stream.AwaitStop(ctx)
		if err != nil {
			return s.concerning(s.lose(x, expected, "the stream is open after %s", s.Target.Ceiling), "IPC-032", "IPC-033")
		}
		if !stopped {
			return s.concerning(fail(x, expected, "the stream carried %s", x.read().describe()), "IPC-032", "IPC-033")
		}
		return nil
	})
	define(`what it received has the payload (\{.*)`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		want, err := s.expand(a[0], "")
		if err != nil {
			return err
		}
		x := s.received()
		return samePayload(x, "the client's payload", x.read().envelope.Payload, want)
	})
	define(`what it received has the ref "([^"]+)"`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		x := s.received()
		if ref := x.read().envelope.Ref; ref == nil || !wire.SameUUID(*ref, a[0]) {
			return fail(x, "a ref of "+a[0], "the envelope is %s", shorten(string(x.read().data)))
		}
		return nil
	})
	define(`what it received has ([\d,]+) bytes`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		want, err := number(a[0])
		if err != nil {
			return err
		}
		x := s.received()
		if got := len(x.read().data); got != want {
			return fail(x, fmt.Sprintf("an envelope of %d bytes", want), "it has %d", got)
		}
		return nil
	})
	define(`client ([A-Z]) asks for a message whose envelope has ([\d,]+) bytes`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[1])
		if err != nil {
			return err
		}
		return s.sayOfSize(ctx, a[0], n)
	})
	define(`the line's "([^"]+)" holds the payload that the peer wrote`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		got, _ := memberOf(s.line, a[0]+".payload")
		return samePayload(s.received(), "the reply's payload", got, s.written.Payload.Raw)
	})
	define(`the peer has received nothing more`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		return s.peerReceivedNothing()
	})
	define(`the peer answers what waits for an answer`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		if !s.received().stream.Bidi() {
			return nil
		}
		return s.answerHeld(ctx, `{}`)
	})
	define(`client ([A-Z]) has (\d+) requests under way to the peer, each with a req_id`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[1])
		if err != nil {
			return err
		}
		c, err := s.client(ctx, a[0])
		if err != nil {
			return err
		}
		c.mark, s.speaker = len(c.session.Lines()), c
		for i := range n {
			line := fmt.Appendf(nil, `{"cmd":"send","to":%s,"kind":"request","payload":{"number":%d},"req_id":"request %d"}`+"\n",
				wire.Quote(s.peer().identity.AgentID()), i, i)
			if err := s.write(ctx, a[0], line); err != nil {
				return err
			}
		}
		return nil
	})
	define(`the peer receives (\d+) requests and holds them`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		for range n {
			if err := s.peerReceives(ctx, "request", true); err != nil {
				return err
			}
		}
		return nil
	})
	define(`the peer answers them all, the last one first`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		all := s.peer().received
		for i := range all {
			x := all[len(all)-1-i]
			env := x.read().envelope
			o := wire.Outgoing{ID: wire.NewID(), Kind: "response", Payload: string(env.Payload.Raw), Ref: &env.ID}
			if err := x.stream.Send(ctx, o.Bytes()); err != nil {
				return s.lose(x, "the target takes the reply to its request", "%v", err)
			}
		}
		return nil
	})
	define(`client ([A-Z]) is given each reply under its own req_id`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		for i := range s.peer().received {
			if err := s.positive(ctx, a[0], fmt.Sprintf("request %d", i)); err != nil {
				return err
			}
			if err := s.lineHas("response.payload", fmt.Appendf(nil, `{"number":%d}`, i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// answerHeld answers the first request that the peer received.
func (s *Scenario) answerHeld(ctx context.Context, payload string) error {
	for _, x := range s.peer().received {
		if env := x.read().envelope; env.Kind == "request" {
			s.answered = []byte(payload)
			o := wire.Outgoing{ID: wire.NewID(), Kind: "response", Payload: payload, Ref: &env.ID}
			if err := x.stream.Send(ctx, o.Bytes()); err != nil {
				return s.lose(x, "the target takes the reply to its request", "%v", err)
			}
			return nil
		}
	}
	return &verdict.Blocked{Reason: "the peer holds no request"}
}

// sayOfSize has a client ask for a message whose envelope, written without white
// space, has a number of bytes.
func (s *Scenario) sayOfSize(ctx context.Context, name string, size int) error {
	around := len(wire.Outgoing{ID: wire.NewID(), Kind: "message", Payload: `{"t":""}`}.Bytes())
	return s.say(ctx, name, fmt.Appendf(nil, `{"cmd":"send","to":%s,"kind":"message","payload":{"t":%s}}`,
		wire.Quote(s.peer().identity.AgentID()), wire.Quote(strings.Repeat("x", size-around))))
}
