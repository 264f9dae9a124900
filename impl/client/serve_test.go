package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// lease is a fake that hands out requests and collects what ends them.
type lease struct {
	*fake
	ends    chan map[string]any
	session chan *fakeSession
	refuse  func(cmd map[string]any) string // for reply and decline; "" admits
}

func startLease(t *testing.T) *lease {
	l := &lease{ends: make(chan map[string]any, 100), session: make(chan *fakeSession, 1)}
	l.fake = startFake(t, func(s *fakeSession, cmd map[string]any) []string {
		if cmd["cmd"] == "serve" {
			l.session <- s
			return []string{ok(cmd, `"serving":true`)}
		}
		if l.refuse != nil {
			if line := l.refuse(cmd); line != "" {
				return []string{line}
			}
		}
		l.ends <- cmd
		return []string{ok(cmd, fmt.Sprintf(`"request_id":%q`, cmd["request_id"]))}
	})
	return l
}

func request(from, id, payload string) string {
	return fmt.Sprintf(`{"event":"request","request_id":%q,"from":%q,"envelope":{"id":%q,"kind":"request","payload":%s,"from":%q,"to":%q}}`, id, from, id, payload, from, peerB)
}

func cancelled(from, id string) string {
	return fmt.Sprintf(`{"event":"request_cancelled","request_id":%q,"from":%q}`, id, from)
}

// serve runs Serve in the background.
func (l *lease) serve(t *testing.T, h Handler, o ServeOptions) (s *fakeSession, stop func() error) {
	t.Helper()
	ctx, c := l.dial(t)
	ctx, cancel := context.WithCancel(ctx)
	result := make(chan error, 1)
	go func() { result <- c.Serve(ctx, h, o) }()
	var once sync.Once
	var err error
	stop = func() error {
		once.Do(func() {
			cancel()
			err = <-result
		})
		return err
	}
	t.Cleanup(func() { _ = stop() })
	select {
	case s = <-l.session:
		return s, stop
	case err := <-result:
		t.Fatal(err)
		return nil, nil
	}
}

func TestServeEndsEachRequestAsItsHandlerSays(t *testing.T) {
	l := startLease(t)
	done := make(chan Served, 10)
	s, stop := l.serve(t, func(_ context.Context, r Request) (json.RawMessage, error) {
		var p struct{ Do string }
		_ = json.Unmarshal(r.Envelope.Payload, &p)
		switch p.Do {
		case "answer":
			return json.RawMessage(`{"from":"` + r.From + `"}`), nil
		case "decline":
			return nil, fmt.Errorf("not mine: %w", ErrDecline)
		case "own error":
			return nil, &ReplyError{Code: "busy", Message: "come again", Retryable: true}
		case "own payload":
			return nil, &ReplyError{Payload: json.RawMessage(`{"any":"thing"}`)}
		case "array":
			return json.RawMessage(`[]`), nil
		}
		return nil, errors.New("disk on fire")
	}, ServeOptions{Done: func(s Served) { done <- s }})
	for _, c := range []struct {
		do, cmd, kind, payload string
		outcome                Outcome
	}{
		{"answer", "reply", "response", `{"from":"` + peerA + `"}`, OutcomeResponse},
		{"decline", "decline", "", "", OutcomeDeclined},
		{"own error", "reply", "error", `{"code":"busy","message":"come again","retryable":true}`, OutcomeError},
		{"own payload", "reply", "error", `{"any":"thing"}`, OutcomeError},
		{"array", "reply", "error", `{"code":"handler_failed","message":"the handler gave no JSON object as its answer; tell the agent's owner","retryable":false}`, OutcomeError},
		{"fail", "reply", "error", `{"code":"handler_failed","message":"disk on fire","retryable":false}`, OutcomeError},
	} {
		s.say(request(peerA, uuidA, `{"Do":"`+c.do+`"}`))
		end := <-l.ends
		kind, _ := end["kind"].(string)
		payload := ""
		if end["payload"] != nil {
			text, _ := json.Marshal(end["payload"])
			payload = string(text)
		}
		if end["cmd"] != c.cmd || kind != c.kind || payload != c.payload || end["request_id"] != uuidA || end["peer"] != peerA {
			t.Errorf("%s: %v", c.do, end)
		}
		if d := <-done; d.Outcome != c.outcome || d.Request.ID != uuidA || (d.Err == nil) != (c.outcome == OutcomeResponse) {
			t.Errorf("%s: %+v", c.do, d)
		}
	}
	if err := stop(); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestServeConcurrencyAndCancellation(t *testing.T) {
	l := startLease(t)
	started := make(chan Request)
	release := make(chan struct{})
	done := make(chan Served, 10)
	s, _ := l.serve(t, func(ctx context.Context, r Request) (json.RawMessage, error) {
		started <- r
		select {
		case <-release:
			return json.RawMessage(`{}`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, ServeOptions{Concurrency: 2, Done: func(s Served) { done <- s }})

	// The same id from two peers, and two more that have to wait.
	s.say(request(peerA, uuidA, `{}`), request(peerB, uuidA, `{}`), request(peerA, uuidB, `{}`), request(peerB, uuidB, `{}`))
	first, second := <-started, <-started
	if first.ID != uuidA || second.ID != uuidA || first.From == second.From {
		t.Fatalf("started %v and %v", first, second)
	}
	s.say(cancelled(peerA, uuidB), cancelled(peerA, uuidA))
	if d := <-done; d.Outcome != OutcomeCancelled || d.Request.From != peerA || d.Request.ID != uuidA {
		t.Errorf("cancelled: %+v", d)
	}
	// There is room for one; the other was cancelled while it waited.
	if r := <-started; r.From != peerB || r.ID != uuidB {
		t.Errorf("started %v", r)
	}
	close(release)
	for range 2 {
		if end := <-l.ends; end["cmd"] != "reply" || end["peer"] != peerB {
			t.Errorf("ended %v", end)
		}
	}
}

func TestServeTellsOfAnswersThatDidNotArrive(t *testing.T) {
	l := startLease(t)
	l.refuse = func(cmd map[string]any) string {
		switch {
		case cmd["request_id"] == uuidB:
			return refuse(cmd, "request_not_found", "too late")
		case cmd["kind"] == "response":
			return refuse(cmd, "message_too_large", "too large")
		}
		return ""
	}
	done := make(chan Served, 2)
	s, _ := l.serve(t, func(context.Context, Request) (json.RawMessage, error) { return json.RawMessage(`{}`), nil },
		ServeOptions{Concurrency: 1, Done: func(s Served) { done <- s }})
	s.say(request(peerA, uuidB, `{}`), request(peerA, uuidA, `{}`))
	if d := <-done; d.Outcome != OutcomeLost || !errors.Is(d.Err, ErrRequestNotFound) {
		t.Errorf("late: %+v", d)
	}
	if d := <-done; d.Outcome != OutcomeError || !errors.Is(d.Err, ErrMessageTooLarge) {
		t.Errorf("large: %+v", d)
	}
	if end := <-l.ends; end["kind"] != "error" || end["payload"].(map[string]any)["code"] != "response_too_large" {
		t.Errorf("told the peer %v", end)
	}
}

func TestServeRefusedAndLost(t *testing.T) {
	f := startFake(t, func(_ *fakeSession, cmd map[string]any) []string {
		return []string{refuse(cmd, "handler_busy", "stop the other one")}
	})
	ctx, c := f.dial(t)
	h := func(context.Context, Request) (json.RawMessage, error) { return nil, ErrDecline }
	if err := c.Serve(ctx, h, ServeOptions{}); !errors.Is(err, ErrHandlerBusy) {
		t.Errorf("busy: %v", err)
	}
	if err := c.Serve(ctx, nil, ServeOptions{}); err == nil {
		t.Error("no handler: no error")
	}
	if _, err := c.WhoAmI(ctx); err != nil {
		t.Errorf("the client ended though the lease was refused: %v", err)
	}

	l := startLease(t)
	ctx, c = l.dial(t)
	result := make(chan error, 1)
	running := make(chan struct{})
	go func() {
		result <- c.Serve(ctx, func(ctx context.Context, _ Request) (json.RawMessage, error) {
			close(running)
			<-ctx.Done()
			return nil, ctx.Err()
		}, ServeOptions{})
	}()
	s := <-l.session
	s.say(request(peerA, uuidA, `{}`))
	<-running
	_ = s.conn.Close()
	if err := <-result; !errors.Is(err, ErrClosed) || !strings.HasPrefix(err.Error(), "serve: ") {
		t.Errorf("lost: %v", err)
	}
}
