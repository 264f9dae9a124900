package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/axonproto/axon/impl/client"
)

// Two daemons run, alice's and bob's, that know each other. The examples talk to
// them as programs of theirs.

func Example() {
	ctx, alice, bob := stage()

	// Bob's program answers requests.
	answering, err := client.Dial(ctx, client.Options{StateRoot: bob.root})
	if err != nil {
		log.Fatal(err)
	}
	ready, stop := make(chan struct{}), make(chan struct{})
	serving, end := context.WithCancel(ctx)
	go func() {
		defer close(stop)
		err := answering.Serve(serving, func(_ context.Context, r client.Request) (json.RawMessage, error) {
			var question struct{ Message string }
			if err := json.Unmarshal(r.Envelope.Payload, &question); err != nil {
				return nil, client.ErrDecline
			}
			return json.Marshal(map[string]string{"answer": "You said: " + question.Message})
		}, client.ServeOptions{Ready: func() { close(ready) }})
		if err != nil {
			log.Fatal(err)
		}
	}()
	<-ready

	// Alice's program asks.
	asking, err := client.Dial(ctx, client.Options{StateRoot: alice.root})
	if err != nil {
		log.Fatal(err)
	}
	defer asking.Close()
	reply, err := asking.Request(ctx, bob.id, json.RawMessage(`{"message":"Hello"}`), client.SendOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Kind, string(reply.Payload))

	end()
	<-stop
	// Output: response {"answer":"You said: Hello"}
}

func ExampleClient_Request_errors() {
	ctx, alice, bob := stage()
	c, err := client.Dial(ctx, client.Options{StateRoot: alice.root})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	// Nobody answers for bob.
	_, err = c.Request(ctx, bob.id, json.RawMessage(`{"message":"Hello"}`), client.SendOptions{Timeout: 10 * time.Second})
	var remote *client.RemoteError
	if errors.As(err, &remote) {
		fmt.Println("bob's daemon:", remote.Code, remote.Retryable)
	}
	// Nobody has this Agent ID.
	_, err = c.Request(ctx, "ed25519.00000000000000000000000000000000", json.RawMessage(`{}`), client.SendOptions{})
	if errors.Is(err, client.ErrPeerNotFound) {
		fmt.Println("alice's daemon does not know the peer")
	}
	// Output:
	// bob's daemon: unhandled false
	// alice's daemon does not know the peer
}

func ExampleClient_Events() {
	ctx, alice, bob := stage()
	watching, err := client.Dial(ctx, client.Options{StateRoot: bob.root})
	if err != nil {
		log.Fatal(err)
	}
	defer watching.Close()
	events := watching.Events()
	defer events.Close()

	sending, err := client.Dial(ctx, client.Options{StateRoot: alice.root})
	if err != nil {
		log.Fatal(err)
	}
	defer sending.Close()
	if _, err := sending.Send(ctx, bob.id, json.RawMessage(`{"state":"done"}`), client.SendOptions{}); err != nil {
		log.Fatal(err)
	}

	e, err := events.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Envelope.Kind, e.From == alice.id, string(e.Envelope.Payload))
	// Output: message true {"state":"done"}
}

func ExampleClient_Peers() {
	ctx, alice, bob := stage()
	c, err := client.Dial(ctx, client.Options{StateRoot: alice.root})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	list, err := c.Peers(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range list.Peers {
		fmt.Println(p.AgentID == bob.id, p.Source, p.Trust)
	}
	// Output: true static trusted
}
