package steps

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`a connection to the target`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		_, err := s.dial(ctx)
		return err
	})
	stimulus(`the probe sends a (request|message)`, func(_ *Scenario, a []string, _, id string) (bool, []byte, error) {
		return a[0] == "request", plain(a[0], id), nil
	})
	stimulus(`the probe sends a (request|message) with the payload (.+)`, func(s *Scenario, a []string, _, id string) (bool, []byte, error) {
		body, err := s.member(a[0], id, "payload", a[1])
		return a[0] == "request", body, err
	})
	stimulus(`the probe sends a (request|message) with "([^"]+)" set to (.+)`, func(s *Scenario, a []string, _, id string) (bool, []byte, error) {
		body, err := s.member(a[0], id, a[1], a[2])
		return a[0] == "request", body, err
	})
	stimulus(`the probe sends a (request|message) without "([^"]+)"`, func(_ *Scenario, a []string, _, id string) (bool, []byte, error) {
		return a[0] == "request", with(a[0], id, a[1], ""), nil
	})
	stimulus(`the probe sends an envelope of kind (.+) on a (bidirectional|unidirectional) stream`, func(s *Scenario, a []string, _, id string) (bool, []byte, error) {
		kind, err := s.expand(a[0], id)
		return a[1] == "bidirectional", with("request", id, "kind", string(kind)), err
	})
	stimulus(`the probe sends (.+) as the bytes of a (bidirectional|unidirectional) stream`, func(s *Scenario, a []string, _, id string) (bool, []byte, error) {
		body, err := s.expand(a[0], id)
		return a[1] == "bidirectional", body, err
	})
	stimulus(`the probe sends nothing but FIN on a (bidirectional|unidirectional) stream`, func(_ *Scenario, a []string, _, _ string) (bool, []byte, error) {
		return a[0] == "bidirectional", nil, nil
	})
	stimulus(`the probe sends on a (bidirectional|unidirectional) stream:`, func(s *Scenario, a []string, doc, id string) (bool, []byte, error) {
		body, err := s.expand(doc, id)
		return a[0] == "bidirectional", body, err
	})
	stimulus(`the probe sends a request of exactly ([\d,]+) bytes`, func(_ *Scenario, a []string, _, id string) (bool, []byte, error) {
		n, err := number(a[0])
		if err != nil {
			return false, nil, err
		}
		return true, wire.Pad(id, "request", n), nil
	})
	define(`the probe sends (.+) as the bytes of a (bidirectional|unidirectional) stream, in pieces of (\d+) bytes?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[2])
		if err != nil {
			return err
		}
		return s.putText(ctx, a[1] == "bidirectional", a[0], n, true)
	})
	define(`the probe writes (.+) as the bytes of a (bidirectional|unidirectional) stream and leaves it open`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.putText(ctx, a[1] == "bidirectional", a[0], 0, false)
	})
	define(`the probe sends a request in pieces of (\d+) bytes?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		x, err := s.open(ctx, true)
		if err != nil {
			return err
		}
		// With characters of two to four bytes, which the pieces cut through.
		x.note(wire.Outgoing{ID: wire.NewID(), Kind: "request", Payload: `{"text":"é科😀 in pieces"}`}.Bytes())
		if err := s.wrote(x, x.stream.WritePieces(ctx, x.sent, n)); err != nil || x.writeErr != nil {
			return err
		}
		return s.finish(x)
	})
	define(`the probe writes (a whole request|half a request|the first byte of a request) on a stream and leaves it open`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.stall(ctx, true, a[0])
	})
	define(`the probe writes a whole message on a stream and leaves it open`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.stall(ctx, false, "a whole request")
	})
	define(`the probe finishes that stream`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.finish(s.last)
	})
	define(`the target has had time to read it`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		// Packets of one connection arrive in order on a quiet path: when later
		// requests have been answered, the bytes before them are there, and have
		// been looked at even where each stream has a task of its own.
		if err := s.survives(ctx); err != nil {
			return err
		}
		return s.survives(ctx)
	})
	define(`the probe resets that stream`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		s.last.stream.Reset(0)
		return nil
	})
	define(`the probe closes the connection in the middle of that`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		s.last.due = false
		_ = s.conn.Close(7, "given up")
		s.conn, s.seen = nil, 0
		return nil
	})
	define(`the probe sends a request with the same id again on (the|another) connection`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		body := s.last.sent
		if a[0] == "another" {
			if _, err := s.dial(ctx); err != nil {
				return err
			}
		}
		_, err := s.send(ctx, true, body)
		return err
	})
	define(`([\d,]+) (message|error)s are sent, each on a stream of its own`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
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
			if _, err := s.sendOn(ctx, c, false, plain(a[1], wire.NewID())); err != nil {
				return err
			}
		}
		return nil
	})
}

// putText writes a text's bytes on a stream, in pieces unless their size is 0.
func (s *Scenario) putText(ctx context.Context, bidi bool, text string, pieces int, fin bool) error {
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	s.seen = len(c.Incoming())
	body, err := s.expand(text, wire.NewID())
	if err != nil {
		return err
	}
	_, err = s.Put(ctx, bidi, body, pieces, fin)
	return err
}

// member is an envelope of a kind with one member as a text has it.
func (s *Scenario) member(kind, id, name, value string) ([]byte, error) {
	raw, err := s.expand(value, id)
	if err == nil && len(raw) == 0 {
		err = fmt.Errorf("the member %q needs a JSON value", name)
	}
	return with(kind, id, name, string(raw)), err
}

// stall opens a stream, writes some of a request, and sends no FIN.
func (s *Scenario) stall(ctx context.Context, bidi bool, part string) error {
	c, err := s.connection(ctx)
	if err != nil {
		return err
	}
	s.seen = len(c.Incoming())
	x, err := s.openOn(ctx, c, bidi)
	if err != nil {
		return err
	}
	kind := "request"
	if !bidi {
		kind = "message"
	}
	x.note(plain(kind, wire.NewID()))
	body := x.sent
	switch part {
	case "half a request":
		body = body[:len(body)/2]
	case "the first byte of a request":
		body = body[:1]
	}
	return s.wrote(x, x.stream.Write(ctx, body))
}

// number reads a number as people write it, with commas.
func number(text string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil {
		return 0, fmt.Errorf("%q is no number", text)
	}
	return n, nil
}
