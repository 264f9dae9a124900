package steps

import (
	"context"
	"fmt"
	"strings"

	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`the probe sends nothing while other connections are served`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		quiet := s.conn
		if !s.Target.Single {
			other, err := s.dial(ctx)
			if err != nil {
				return err
			}
			for range barriers {
				if _, err := s.good(ctx, other); err != nil {
					return err
				}
			}
			s.conn = quiet
		}
		return nil
	})
	define(`the target has opened no stream on it`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		s.seen = 0
		s.last = &exchange{conn: s.conn}
		if err := s.survives(ctx); err != nil {
			return err
		}
		for _, in := range s.conn.Incoming() {
			got := &exchange{conn: s.conn, stream: in}
			return fail(got, "a new connection on which nothing is sent stays silent", "the target opened stream %d with %s", in.ID(), got.read().describe())
		}
		return nil
	}).bars()
	define(`the probe gives up waiting for its reply`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		s.last.stream.StopReading(0)
		s.last.due = false
		return nil
	})
	define(`the probe refuses that stream's answer and finishes the stream`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		s.last.stream.StopReading(0)
		s.last.due = false
		return s.finish(s.last)
	})
	define(`it is accepted whole or not at all`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		x := s.last
		if err := s.survives(ctx); err != nil {
			return err
		}
		s.linger(ctx, x)
		if r := x.read(); r.taken() {
			return s.refersTo(ctx, x)
		}
		return nil
	})
	define(`the connection serves on, or a new one does`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.settle(ctx)
	})
	define(`the connection serves on, or a new one takes its place`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		if err := s.settle(ctx); err != nil || s.conn.End() == nil {
			return err
		}
		_, err := s.dial(ctx) // becomes the scenario's connection
		return err
	})
	define(`(the|every) reply's default error holds in this respect`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		batch := s.exchanges
		if a[0] == "the" {
			batch = batch[len(batch)-1:]
		}
		for _, x := range batch {
			s.last = x
			if err := s.defaultErrorIn(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	define(`requests with payloads of every sort are sent in a mixed order on one connection`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, err := s.connection(ctx)
		if err != nil {
			return err
		}
		for i := range 4 * len(payloadSorts) {
			id := wire.NewID()
			payload, err := s.expand(payloadSorts[i*5%len(payloadSorts)], id)
			if err != nil {
				return err
			}
			if _, err := s.sendOn(ctx, c, true, with("request", id, "payload", string(payload))); err != nil {
				return err
			}
		}
		return nil
	})
	define(`every one of them is accepted`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for _, x := range s.exchanges {
			s.last = x
			if err := s.accepted(ctx); err != nil {
				return err
			}
			if err := s.refersTo(ctx, x); err != nil {
				return err
			}
		}
		return nil
	})
}

// payloadSorts are objects of each sort that an application may send.
var payloadSorts = []string{
	`{}`, `{"text":"` + strings.Repeat("x", 60<<10) + `"}`, `{"n":[1e400,-0,9007199254740993]}`,
	strings.Repeat(`{"a":`, 100) + `{}` + strings.Repeat(`}`, 100), `{"a":1,"a":2}`, `{"text":"\ud800"}`,
	`{"domain":7}`, `{"text":"😀"}`, `{"":{"":{"":null}}}`,
}

// defaultErrorIn holds the last reply against each sentence on the default error
// that the scenario is tagged with, and narrows a failure to the sentence.
func (s *Scenario) defaultErrorIn(ctx context.Context) error {
	x := s.last
	r, err := s.something(ctx, x)
	if err != nil {
		// What did not come cannot be wrong in other respects.
		return about(err, "AXON-DEFERR-001")
	}
	var broken []error
	for _, id := range s.IDs {
		var err error
		switch id {
		case "AXON-DEFERR-001":
			if r.envelope.Kind != "error" {
				err = fail(x, "an error", "the stream carried %s", r.describe())
			}
		case "AXON-DEFERR-002":
			err = s.refersTo(ctx, x)
		case "AXON-DEFERR-003":
			err = judgeMember(x, r, "code", `"unhandled"`)
		case "AXON-DEFERR-004":
			err = judgeText(x, r)
		case "AXON-DEFERR-005":
			err = judgeMember(x, r, "retryable", "false")
		case "AXON-DEFERR-006":
			if r.envelope.ID == "" || wire.SameUUID(r.envelope.ID, x.id) {
				err = fail(x, "a new id", "the reply's id is %q", r.envelope.ID)
			}
		default:
			err = fmt.Errorf("%s is no sentence on the default error", id)
		}
		if err != nil {
			broken = append(broken, about(err, id))
		}
	}
	return together(broken)
}
