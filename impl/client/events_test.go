package client

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func inbound(n int) string {
	return fmt.Sprintf(`{"event":"inbound","from":%q,"envelope":{"id":%q,"kind":"future","payload":{"n":%d},"from":%q,"to":%q}}`, peerA, uuidA, n, peerA, peerB)
}

func TestEvents(t *testing.T) {
	f := startFake(t, func(_ *fakeSession, cmd map[string]any) []string {
		return []string{
			inbound(1), `{"event":"later_kind_of_event","x":1}`,
			`{"event":"peer_candidate","agent_id":"` + peerB + `","public_key":"AAAA","addr":"h:1","source":"mdns"}`,
			ok(cmd, ""), inbound(2),
		}
	})
	ctx, c := f.dial(t)
	first, second := c.Events(), c.Events()
	if _, err := c.Status(ctx); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*EventStream{first, second} {
		e, err := s.Next(ctx)
		if err != nil || e.Name != "inbound" || e.From != peerA || e.Envelope.Kind != "future" || string(e.Envelope.Payload) != `{"n":1}` || string(e.Raw) != inbound(1) {
			t.Errorf("%+v, %v", e, err)
		}
		if e, err = s.Next(ctx); err != nil || e.Name != "later_kind_of_event" {
			t.Errorf("%+v, %v", e, err)
		}
		if e, err = s.Next(ctx); err != nil || e.AgentID != peerB || e.Source != "mdns" || e.Addr != "h:1" {
			t.Errorf("%+v, %v", e, err)
		}
		if e, err = s.Next(ctx); err != nil || string(e.Envelope.Payload) != `{"n":2}` {
			t.Errorf("%+v, %v", e, err)
		}
	}
	first.Close()
	if _, err := first.Next(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("closed stream: %v", err)
	}
	if c.Err() != nil {
		t.Errorf("the client ended with its stream: %v", c.Err())
	}
}

func TestALaggingStreamEndsAndNothingElse(t *testing.T) {
	const room = 100
	f := startFake(t, func(_ *fakeSession, cmd map[string]any) []string {
		var lines []string
		for n := range room + 1 {
			lines = append(lines, inbound(n))
		}
		return append(lines, ok(cmd, ""))
	})
	ctx, cancel := context.WithTimeout(context.Background(), ceiling)
	defer cancel()
	buffer := 0
	for n := range room {
		buffer += len(inbound(n))
	}
	c, err := Dial(ctx, Options{Socket: f.path, EventBuffer: buffer})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := c.Events()
	if _, err := c.Status(ctx); err != nil {
		t.Fatal(err)
	}
	for n := range room {
		e, err := s.Next(ctx)
		if want := fmt.Sprintf(`{"n":%d}`, n); err != nil || string(e.Envelope.Payload) != want {
			t.Fatalf("event %d: %s, %v", n, e.Envelope.Payload, err)
		}
	}
	if _, err := s.Next(ctx); !errors.Is(err, ErrLagging) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Status(ctx); err != nil {
		t.Errorf("the client ended too: %v", err)
	}
}
