package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/daemon"
	"github.com/axonproto/axon/impl/internal/identity"
)

// agent is a daemon for the examples and tests.
type agent struct{ root, id string }

var running struct {
	once       sync.Once
	dir        string
	ctx        context.Context
	stop       func()
	alice, bob agent
	err        error
}

// stage starts two daemons, once for all examples.
func stage() (context.Context, agent, agent) {
	running.once.Do(func() { running.err = start() })
	if running.err != nil {
		panic(running.err)
	}
	return running.ctx, running.alice, running.bob
}

func start() error {
	dir, err := os.MkdirTemp("", "axon-")
	if err != nil {
		return err
	}
	running.dir = dir
	ctx, cancel := context.WithCancel(context.Background())
	var daemons sync.WaitGroup
	running.stop = func() {
		cancel()
		daemons.Wait()
		os.RemoveAll(dir)
	}
	var bounded context.CancelFunc
	running.ctx, bounded = context.WithTimeout(ctx, 2*time.Minute)
	context.AfterFunc(ctx, bounded)
	running.alice, running.bob = agent{root: filepath.Join(dir, "alice")}, agent{root: filepath.Join(dir, "bob")}
	ids := map[string]*identity.Identity{}
	for _, a := range []*agent{&running.alice, &running.bob} {
		if err := os.Mkdir(a.root, 0o700); err != nil {
			return err
		}
		id, err := identity.Load(a.root)
		if err != nil {
			return err
		}
		a.id, ids[a.root] = string(id.ID), id
	}
	run := func(a, other agent, addr string) (string, error) {
		text := fmt.Sprintf("discovery: {enabled: false}\npeers:\n  - {agent_id: %s, pubkey: %q", other.id, identity.EncodePublicKey(ids[other.root].Public))
		if addr != "" {
			text += fmt.Sprintf(", addr: %q", addr)
		}
		if err := os.WriteFile(filepath.Join(a.root, "config.yaml"), []byte(text+"}\n"), 0o600); err != nil {
			return "", err
		}
		r, w := io.Pipe()
		ready, ended := make(chan string, 1), make(chan error, 1)
		port := 0
		daemons.Go(func() {
			err := daemon.Run(ctx, daemon.Options{StateRoot: a.root, Port: &port, Listen: "127.0.0.1", Logger: slog.New(slog.NewJSONHandler(w, nil))})
			_ = w.Close()
			ended <- err
		})
		daemons.Go(func() {
			for dec := json.NewDecoder(r); ; {
				var record struct{ Msg, Address string }
				if dec.Decode(&record) != nil {
					return
				}
				if record.Msg == "ready" {
					ready <- record.Address
				}
			}
		})
		select {
		case addr := <-ready:
			return addr, nil
		case err := <-ended:
			return "", fmt.Errorf("the daemon ended at its start: %w", err)
		}
	}
	addr, err := run(running.bob, running.alice, "")
	if err != nil {
		return err
	}
	_, err = run(running.alice, running.bob, addr)
	return err
}

// stopStage is called after all tests.
func stopStage() {
	if running.stop != nil {
		running.stop()
	}
}

// TestServeAgain shows that the lease is free once Serve has returned.
func TestServeAgain(t *testing.T) {
	ctx, _, bob := stage()
	for range 50 {
		c, err := client.Dial(ctx, client.Options{StateRoot: bob.root})
		if err != nil {
			t.Fatal(err)
		}
		serving, end := context.WithCancel(ctx)
		err = c.Serve(serving, func(context.Context, client.Request) (json.RawMessage, error) { return nil, client.ErrDecline },
			client.ServeOptions{Ready: end})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestBurst shows that a stream that is read late has all events, each once.
func TestBurst(t *testing.T) {
	const messages, senders = 2000, 20
	ctx, alice, bob := stage()
	watching, err := client.Dial(ctx, client.Options{StateRoot: bob.root})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Close()
	events := watching.Events()
	sending, err := client.Dial(ctx, client.Options{StateRoot: alice.root})
	if err != nil {
		t.Fatal(err)
	}
	defer sending.Close()
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for n := s; n < messages; n += senders {
				if _, err := sending.Send(ctx, bob.id, json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), client.SendOptions{}); err != nil {
					t.Errorf("%d: %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	seen := map[int]bool{}
	for range messages {
		e, err := events.Next(ctx)
		if err != nil {
			t.Fatalf("after %d events: %v", len(seen), err)
		}
		var payload struct{ N int }
		if err := json.Unmarshal(e.Envelope.Payload, &payload); err != nil || seen[payload.N] {
			t.Fatalf("%s: %v", e.Raw, err)
		}
		seen[payload.N] = true
	}
}

// TestMany holds the client against the real daemon: many requests at once, each
// gets its own answer, and large payloads pass.
func TestMany(t *testing.T) {
	ctx, alice, bob := stage()
	dial := func(a agent) *client.Client {
		c, err := client.Dial(ctx, client.Options{StateRoot: a.root})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	answering, asking := dial(bob), dial(alice)
	defer asking.Close()
	serving, end := context.WithCancel(ctx)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- answering.Serve(serving, func(_ context.Context, r client.Request) (json.RawMessage, error) {
			if r.From != alice.id || r.Envelope.From != alice.id || r.Envelope.To != bob.id || r.ID != r.Envelope.ID {
				t.Errorf("request %+v", r)
			}
			return r.Envelope.Payload, nil
		}, client.ServeOptions{Ready: func() { close(ready) }})
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			payload := fmt.Sprintf(`{"n":%d,"huge":1e400,"text":"\ud800 %s"}`, i, strings.Repeat("x", i*1500))
			reply, err := asking.Request(ctx, bob.id, json.RawMessage(payload), client.SendOptions{})
			if err != nil || string(reply.Payload) != payload {
				t.Errorf("%d: %.100s, %v", i, reply.Payload, err)
			}
		})
	}
	wg.Wait()
	end()
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
