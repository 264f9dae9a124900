package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// call is one time that the target was asked to send.
type call struct {
	what control.Send
	done chan struct{}
	sent control.Sent
	err  error
}

// callTimeout bounds a request that the target makes, as the target itself is told.
const callTimeout = 10 * time.Second

func init() {
	define(`a peer that the target knows`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		_, err := s.enrolled(ctx, probe.ListenOptions{})
		return err
	})
	define(`a peer that the target knows, behind whose address another key listens`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		cert, err := strangerCertificate()
		if err != nil {
			return err
		}
		_, err = s.enrolled(ctx, probe.ListenOptions{Certificate: cert})
		return err
	})
	define(`a peer that the target knows, which names authorities that do not match`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		pool, err := otherAuthorities()
		if err != nil {
			return err
		}
		_, err = s.enrolled(ctx, probe.ListenOptions{ClientCAs: pool})
		return err
	})
	define(`the target is asked to send it a (request|message)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.ask(ctx, control.Send{Kind: a[0], Payload: []byte(`{"from_caller":true}`)})
	})
	define(`the target is asked to send it a (request|message) with the payload (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		payload, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		return s.ask(ctx, control.Send{Kind: a[0], Payload: payload})
	})
	define(`the target is asked to send it a request and to wait (\d+) seconds?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.ask(ctx, control.Send{Kind: "request", Payload: []byte(`{}`), Timeout: time.Duration(n) * time.Second})
	})
	define(`the target is asked to send it (\d+) messages and (\d+) requests`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.askMany(ctx, a[0], a[1])
	})
	define(`the peer receives a (request|message) on a (bidirectional|unidirectional) stream`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.peerReceives(ctx, a[0], a[1] == "bidirectional")
	})
	define(`the peer receives each of them on a stream of its own`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.eachOnItsOwn(ctx)
	})
	define(`what it received is a well-formed envelope`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		x := s.received()
		if r := x.read(); len(r.problems) > 0 {
			return fail(x, "a well-formed envelope", "%s: %s", r.problems[0].Code, r.problems[0].Detail)
		}
		return nil
	})
	define(`what it received has no ref member`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		x := s.received()
		if r := x.read(); r.envelope.Ref != nil || r.envelope.RefNull {
			return fail(x, "no ref member, since there is nothing to refer to", "the envelope has one")
		}
		return nil
	})
	define(`what it received was ended by FIN and by nothing else`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.cleanEnd(ctx, s.received())
	})
	define(`what it received has the payload that the caller gave`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		x, c := s.received(), s.lastCall()
		return samePayload(x, "the caller's payload", x.read().envelope.Payload, c.what.Payload)
	})
	define(`the peer answers by an? (response|error) with the payload (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		payload, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		x := s.received()
		id := x.read().envelope.ID
		return s.peerAnswers(ctx, wire.Outgoing{ID: wire.NewID(), Kind: a[0], Payload: string(payload), Ref: &id})
	})
	define(`the peer lets (\d+) seconds pass`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		// The sentence itself is about time: the caller must still be waiting.
		select {
		case <-time.After(time.Duration(n) * time.Second):
			return nil
		case <-s.lastCall().done:
			if err := notTheTarget(s.lastCall().err); err != nil {
				return err
			}
			return fail(s.received(), "the caller waits for its reply", "it was told after less than %d s: %s", n, s.lastCall().describe())
		case <-ctx.Done():
			return blocked("the time for this check was over before %d seconds had passed: give it more with --timeout", n)
		}
	})
	define(`the peer answers by a response whose ref is (absent|null|another id)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		o := wire.Outgoing{ID: wire.NewID(), Kind: "response", Payload: `{"for":"somebody else"}`}
		body := o.Bytes()
		switch a[0] {
		case "null":
			body = with("response", o.ID, "ref", "null")
		case "another id":
			other := wire.NewID()
			o.Ref = &other
			body = o.Bytes()
		}
		return s.peerWrites(ctx, body)
	})
	define(`the caller is given (?:that|the) (response|error), its payload unchanged`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.callerGiven(ctx, a[0])
	})
	define(`the caller is told of a failure and is given no answer`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, err := s.outcome(ctx)
		if err != nil {
			return err
		}
		if c.sent.OK || len(c.sent.Response) > 0 {
			return fail(s.receivedOrNil(), "the caller is told of a failure and is given no answer", "it was given %s", shorten(string(c.sent.Raw)))
		}
		return nil
	})
	define(`the peer has received nothing`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.peerReceivedNothing()
	})
	define(`the target has dialled the peer`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		// Without a dial it has not met the peer's key, and nothing is shown.
		if len(s.peer().listener.Attempts()) == 0 {
			return fail(nil, "the target dials the peer before it gives up", "no dial came; the caller was told: %s", s.lastCall().describe())
		}
		return nil
	})
	define(`the target's dial named the peer's Agent ID as the server`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		p := s.peer()
		for _, a := range p.listener.Attempts() {
			if !strings.EqualFold(a.ServerName, p.identity.AgentID()) {
				return fail(nil, "an SNI of "+p.identity.AgentID(), "the SNI was %q", a.ServerName)
			}
		}
		return nil
	})
	define(`the target's dial showed the target's own certificate`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		for _, c := range s.peer().connections() {
			x := &exchange{conn: c}
			if c.PeerCertificate() == nil {
				return fail(x, "the target's own certificate", "it showed none")
			}
			if key := c.PeerKey(); s.Target.Key != nil && !s.Target.Key.Equal(key) {
				return fail(x, "the target's own certificate", "it showed one of another key")
			}
		}
		return nil
	})
}

// peer is the scenario's latest peer.
func (s *Scenario) peer() *peer { return s.peers[len(s.peers)-1] }

// received is what the peer received last.
func (s *Scenario) received() *exchange {
	p := s.peer()
	return p.received[len(p.received)-1]
}

func (s *Scenario) receivedOrNil() *exchange {
	if p := s.peer(); len(p.received) > 0 {
		return s.received()
	}
	return nil
}

func (s *Scenario) lastCall() *call { return s.calls[len(s.calls)-1] }

// ask has the target send to the peer, and does not wait for the outcome.
func (s *Scenario) ask(ctx context.Context, what control.Send) error {
	what.To = s.peer().identity.AgentID()
	if what.Kind == "request" && what.Timeout == 0 {
		what.Timeout = callTimeout
	}
	c := &call{what: what, done: make(chan struct{})}
	s.calls = append(s.calls, c)
	s.asking.Go(func() {
		defer close(c.done)
		c.sent, c.err = s.Target.Control.Send(ctx, what)
	})
	return nil
}

func (s *Scenario) askMany(ctx context.Context, messages, requests string) error {
	m, err := number(messages)
	if err != nil {
		return err
	}
	r, err := number(requests)
	if err != nil {
		return err
	}
	for i := range m + r {
		kind := "message"
		if i%2 == 1 && r > 0 || m == 0 {
			kind, r = "request", r-1
		} else {
			m--
		}
		if err := s.ask(ctx, control.Send{Kind: kind, Payload: []byte(fmt.Sprintf(`{"number":%d}`, i))}); err != nil {
			return err
		}
	}
	return nil
}

// outcome waits for what the last caller was told.
func (s *Scenario) outcome(ctx context.Context) (*call, error) {
	c := s.lastCall()
	<-c.done // the call ends with ctx at the latest, and then knows whether a driver hangs
	if c.err != nil {
		if err := notTheTarget(c.err); err != nil {
			return c, err
		}
		if errors.Is(c.err, context.DeadlineExceeded) {
			return c, s.lose(s.receivedOrNil(), "the caller is told of the outcome", "it was told nothing within %s", s.Target.Ceiling)
		}
		return c, &verdict.Blocked{Reason: "the target could not be asked to send", Err: c.err}
	}
	return c, nil
}

func (c *call) describe() string {
	select {
	case <-c.done:
	default:
		return "nothing yet"
	}
	if c.err != nil {
		return c.err.Error()
	}
	return shorten(string(c.sent.Raw))
}

// peerReceives waits for the target's next stream and holds its type and kind
// against what was asked for.
func (s *Scenario) peerReceives(ctx context.Context, kind string, bidi bool) error {
	what := "the target sends the " + kind + " that it was asked for"
	x, r, err := s.awaitFromTarget(ctx, what)
	if err != nil {
		return err
	}
	if r.envelope.Kind != kind {
		return fail(x, what, "the stream carried %s", r.describe())
	}
	if x.stream.Bidi() != bidi {
		direction := map[bool]string{true: "bidirectional", false: "unidirectional"}
		return fail(x, "a "+kind+" opens a "+direction[bidi]+" stream", "it came on a %s one", direction[x.stream.Bidi()])
	}
	return nil
}

// awaitFromTarget is the peer's next stream; that the caller is told of a failure
// first is worth knowing.
func (s *Scenario) awaitFromTarget(ctx context.Context, what string) (*exchange, reply, error) {
	p := s.peer()
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	if len(s.calls) > 0 {
		c := s.lastCall()
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			select {
			case <-c.done:
				if c.err != nil || !c.sent.OK {
					cancel()
				}
			case <-stop:
			}
		}()
	}
	told := s.watchSpeaker(waiting, cancel)
	x, r, err := p.next(waiting, s, what)
	if err != nil && x == nil && ctx.Err() == nil && len(s.calls) == 0 {
		cancel()
		s.Lost = false
		return nil, r, fail(nil, what, "the local client was told: %s", shorten(string((<-told).Raw)))
	}
	if err != nil && x == nil && ctx.Err() == nil {
		c := s.lastCall()
		if err := notTheTarget(c.err); err != nil {
			return nil, r, err
		}
		s.Lost = false
		return nil, r, fail(nil, what, "the caller was told: %s", c.describe())
	}
	return x, r, err
}

// eachOnItsOwn: as many streams as there were calls, each with one envelope, each
// with a payload of its own.
func (s *Scenario) eachOnItsOwn(ctx context.Context) error {
	seen := map[string]bool{}
	for i := range s.calls {
		x, r, err := s.peer().next(ctx, s, fmt.Sprintf("the target opens a stream for each of the %d things that it sends (this is number %d)", len(s.calls), i+1))
		if err != nil {
			return err
		}
		if r.values != 1 {
			return fail(x, "one envelope on a stream", "the stream carried %d JSON values", r.values)
		}
		place := fmt.Sprint(x.conn.Number(), "/", x.stream.ID())
		if seen[place] {
			return fail(x, "a fresh stream for each", "stream %d was used twice", x.stream.ID())
		}
		seen[place] = true
		if x.stream.Bidi() {
			id := r.envelope.ID
			if err := s.peerWrites(ctx, wire.Outgoing{ID: wire.NewID(), Kind: "response", Ref: &id}.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// peerAnswers writes a reply on the stream of the last request received.
func (s *Scenario) peerAnswers(ctx context.Context, o wire.Outgoing) error {
	s.answered = []byte(o.Payload)
	return s.peerWrites(ctx, o.Bytes())
}

func (s *Scenario) peerWrites(ctx context.Context, body []byte) error {
	x := s.received()
	if !x.stream.Bidi() {
		return fail(x, "a request on a bidirectional stream", "there is no way back on stream %d", x.stream.ID())
	}
	if err := x.stream.Send(ctx, body); err != nil {
		return s.lose(x, "the target takes the reply to its request", "%v", err)
	}
	return nil
}

// callerGiven: the caller got the reply's kind and payload as they were.
func (s *Scenario) callerGiven(ctx context.Context, kind string) error {
	c, err := s.outcome(ctx)
	if err != nil {
		return err
	}
	x := s.received()
	if len(c.sent.Response) == 0 {
		return fail(x, "the caller is given the "+kind, "it was told: %s", shorten(string(c.sent.Raw)))
	}
	got, _ := wire.Inspect(c.sent.Response)
	if got.Kind != kind {
		return fail(x, "the caller is given the "+kind, "it was given %s", shorten(string(c.sent.Response)))
	}
	return samePayload(x, "the reply's payload", got.Payload, s.answered)
}

// samePayload compares JSON values.
func samePayload(x *exchange, whose string, got wire.Value, want []byte) error {
	expected, err := wire.Parse(want)
	if err != nil {
		return fmt.Errorf("the payload of this check is no JSON: %w", err)
	}
	if !wire.Equal(got, expected) {
		return fail(x, whose+" unchanged: "+shorten(string(want)), "it became %s", shorten(string(got.Raw)))
	}
	return nil
}

// peerReceivedNothing is asked once the caller knows the outcome.
func (s *Scenario) peerReceivedNothing() error {
	select {
	case x := <-s.peer().incoming:
		return fail(x, "the target sends nothing", "it opened stream %d with %s", x.stream.ID(), x.read().describe())
	default:
		return nil
	}
}
