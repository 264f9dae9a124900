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
	define(`the probe sends a (request|message)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.sendEnvelope(ctx, a[0], plain(a[0], wire.NewID()))
	})
	define(`the probe sends a (request|message) with the payload (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.sendMember(ctx, a[0], "payload", a[1])
	})
	define(`the probe sends a (request|message) with "([^"]+)" set to (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.sendMember(ctx, a[0], a[1], a[2])
	})
	define(`the probe sends a (request|message) without "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.sendEnvelope(ctx, a[0], with(a[0], wire.NewID(), a[1], ""))
	})
	define(`the probe sends an envelope of kind (.+) on a (bidirectional|unidirectional) stream`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		id := wire.NewID()
		kind, err := s.expand(a[0], id)
		if err != nil {
			return err
		}
		_, err = s.send(ctx, a[1] == "bidirectional", with("request", id, "kind", string(kind)))
		return err
	})
	define(`the probe sends (.+) as the bytes of a (bidirectional|unidirectional) stream`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.sendBytes(ctx, a[1], a[0])
	})
	define(`the probe sends nothing but FIN on a (bidirectional|unidirectional) stream`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.sendBytes(ctx, a[0], "")
	})
	define(`the probe sends on a (bidirectional|unidirectional) stream:`, func(ctx context.Context, s *Scenario, a []string, doc string) error {
		return s.sendBytes(ctx, a[0], doc)
	})
	define(`the probe sends a request of exactly ([\d,]+) bytes`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		_, err = s.send(ctx, true, wire.Pad(wire.NewID(), "request", n))
		return err
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

// sendEnvelope sends a request on a bidirectional stream, all else on a
// unidirectional one.
func (s *Scenario) sendEnvelope(ctx context.Context, kind string, body []byte) error {
	_, err := s.send(ctx, kind == "request", body)
	return err
}

func (s *Scenario) sendMember(ctx context.Context, kind, name, value string) error {
	id := wire.NewID()
	raw, err := s.expand(value, id)
	if err != nil {
		return err
	}
	if len(raw) == 0 {
		return fmt.Errorf("the member %q needs a JSON value", name)
	}
	return s.sendEnvelope(ctx, kind, with(kind, id, name, string(raw)))
}

func (s *Scenario) sendBytes(ctx context.Context, direction, text string) error {
	body, err := s.expand(text, wire.NewID())
	if err != nil {
		return err
	}
	_, err = s.send(ctx, direction == "bidirectional", body)
	return err
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
