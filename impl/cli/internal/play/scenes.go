package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/envelope"
)

const (
	question = `{"domain":"family.calendar","question":"What is on the calendar this week?"}`
	answer   = `{"events":["Tuesday 18:00: parents' evening"]}`
	notice   = `{"domain":"meta.status","state":"The calendar has changed"}`
	offer    = `{"amount":3}`
	newKind  = "proposal"
)

// wire is the form in which an envelope travels between daemons: without from
// and to, which each end knows from the connection.
func wire(e client.Envelope) []byte {
	e.From, e.To = "", ""
	return encode(e)
}

func (p *play) answered(ctx context.Context) error {
	p.text("Bob's program has registered as the handler (`axon serve`). Alice's asks (`axon request`) and waits; the answer comes back on the stream of the request, with the request's id as its ref. Alice and bob are told by their daemons who the other is: from and to never come from the network.")
	var taken tape
	program, err := client.Dial(ctx, client.Options{StateRoot: p.bob.root, Trace: taken.record})
	if err != nil {
		return err
	}
	defer func() { _ = program.Close() }()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	ready := make(chan struct{})
	var request client.Request
	ended := make(chan error, 1)
	go func() {
		ended <- program.Serve(serving, func(_ context.Context, r client.Request) (json.RawMessage, error) {
			request = r
			return json.RawMessage(answer), nil
		}, client.ServeOptions{Ready: func() { close(ready) }})
	}()
	select {
	case <-ready:
	case err := <-ended:
		return err
	}
	reply, err := p.asks.Request(ctx, string(p.bob.id.ID), json.RawMessage(question), client.SendOptions{})
	stop()
	if serveErr := <-ended; err == nil {
		err = serveErr
	}
	switch {
	case err != nil:
		return err
	case reply.Kind != client.KindResponse || string(reply.Payload) != answer || reply.Ref != request.Envelope.ID:
		return fmt.Errorf("something else came back than bob's answer: %s", wire(reply))
	}
	p.carried("alice's program", "alice's daemon", overSocket, p.asked.find(client.Sent, "cmd", "send"))
	p.carried("alice's daemon", "bob's daemon", overBidi, wire(request.Envelope))
	p.carried("bob's daemon", "bob's program", overSocket, taken.find(client.Received, "event", "request"))
	p.carried("bob's program", "bob's daemon", overSocket, taken.find(client.Sent, "cmd", "reply"))
	p.carried("bob's daemon", "alice's daemon", overSame, wire(reply))
	p.carried("alice's daemon", "alice's program", overSocket, p.asked.find(client.Received, "response", ""))
	return nil
}

func (p *play) unhandled(ctx context.Context) error {
	p.text("Bob's program has ended. Every request is answered all the same: the daemon sends the default error, and `axon request` ends with exit code 2.")
	reply, err := p.asks.Request(ctx, string(p.bob.id.ID), json.RawMessage(question), client.SendOptions{})
	var remote *client.RemoteError
	if !errors.As(err, &remote) || remote.Code != "unhandled" {
		return fmt.Errorf("something else came back than the default error: %s, %w", wire(reply), err)
	}
	p.carried("alice's program", "alice's daemon", overSocket, p.asked.find(client.Sent, "cmd", "send"))
	p.carried("alice's daemon", "bob's daemon", overBidi, wire(client.Envelope{ID: reply.Ref, Kind: client.KindRequest, Payload: json.RawMessage(question)}))
	p.carried("bob's daemon", "alice's daemon", overSame, wire(reply))
	p.carried("alice's daemon", "alice's program", overSocket, p.asked.find(client.Received, "response", ""))
	return nil
}

func (p *play) message(ctx context.Context) error {
	p.text("A message (`axon notify`) has a stream of its own, in one direction, and no answer. Every program that is connected to bob's daemon is shown it (`axon listen`).")
	var seen tape
	watcher, err := client.Dial(ctx, client.Options{StateRoot: p.bob.root, Trace: seen.record})
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Close() }()
	events := watcher.Events()
	id, err := p.asks.Send(ctx, string(p.bob.id.ID), json.RawMessage(notice), client.SendOptions{})
	if err != nil {
		return err
	}
	e, err := events.Next(ctx)
	if err != nil {
		return err
	}
	if e.Envelope.ID != id || string(e.Envelope.Payload) != notice {
		return fmt.Errorf("something else arrived than the message: %s", e.Raw)
	}
	p.carried("alice's program", "alice's daemon", overSocket, p.asked.find(client.Sent, "kind", "message"))
	p.carried("alice's daemon", "bob's daemon", overUni, wire(e.Envelope))
	p.carried("bob's daemon", "bob's program", overSocket, e.Raw)
	p.carried("alice's daemon", "alice's program", overSocket, p.asked.find(client.Received, "msg_id", ""))
	return nil
}

func (p *play) unknownKind(ctx context.Context) error {
	p.text("Carol speaks a later edition of the protocol, which has the kind %q. On a bidirectional stream she is told that nobody handles it; on a unidirectional one it is passed on as it came, and bob's programs decide.", newKind)
	watcher, err := client.Dial(ctx, client.Options{StateRoot: p.bob.root})
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Close() }()
	events := watcher.Events()
	bob := p.bob.id.ID
	if _, err := p.carol.Dial(ctx, bob, p.bob.addr); err != nil {
		return err
	}
	later := func() []byte {
		e := envelope.New(newKind, []byte(offer))
		return e.Append(nil)
	}
	first, second := later(), later()
	reply, err := p.carol.Exchange(ctx, bob, first)
	if err != nil {
		return err
	}
	var told client.Envelope
	if err := json.Unmarshal(reply, &told); err != nil || told.Kind != client.KindError {
		return fmt.Errorf("something else came back than the default error: %s", reply)
	}
	if err := p.carol.Send(ctx, bob, second); err != nil {
		return err
	}
	e, err := events.Next(ctx)
	if err != nil {
		return err
	}
	if e.Envelope.Kind != newKind {
		return fmt.Errorf("something else arrived than the envelope of an unknown kind: %s", e.Raw)
	}
	p.carried("carol", "bob's daemon", overBidi, first)
	p.carried("bob's daemon", "carol", overSame, reply)
	p.carried("carol", "bob's daemon", overUni, second)
	p.carried("bob's daemon", "bob's program", overSocket, e.Raw)
	return nil
}
