package ipc

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/axonproto/axon/impl/internal/dispatch"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

// wire is a reply as the requester sees it.
type wire struct {
	Kind, Ref string
	Payload   struct {
		Code, Message string
		Retryable     bool
		N             int
	}
}

// request lets a peer ask; the reply comes on the channel.
func (f *fixture) request(ctx context.Context, from identity.AgentID, id uuid.UUID, payload string) <-chan wire {
	e := envelope.Envelope{ID: id, Kind: envelope.Request, Payload: []byte(payload)}
	body := e.Append(nil)
	answered := make(chan wire, 1)
	go func() {
		defer close(answered)
		reply, ok := f.router.Bidi(ctx, from, body, nil)
		if !ok {
			return
		}
		var w wire
		if err := json.Unmarshal(reply, &w); err != nil {
			f.t.Error(err)
		}
		answered <- w
	}()
	return answered
}

func (c *client) serve() {
	c.t.Helper()
	if got := c.ask(`{"cmd":"serve"}`); got != `{"ok":true,"serving":true}` {
		c.t.Fatal(got)
	}
}

func (c *client) wantOK(line string) {
	c.t.Helper()
	if got := c.ask(line); !strings.HasPrefix(got, `{"ok":true`) {
		c.t.Errorf("%s: %s", line, got)
	}
}

func TestHandler(t *testing.T) {
	f := newFixture(t, nil)
	c, other := f.client(), f.client()
	c.serve()
	c.serve()
	wantError(t, other.ask(`{"cmd":"serve"}`), codeHandlerBusy, "stop it first")

	id := uuid.New()
	text := id.String()
	payload := `{"domain": "x", "n":1e400}`
	answered := f.request(t.Context(), f.peer.ID, id, payload)
	if got, want := c.line(), f.fill(`{"event":"request","request_id":"`+text+`","from":"PEER","envelope":{"id":"`+text+`","kind":"request","from":"PEER","to":"SELF","payload":`+payload+`}}`); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	reply := `{"cmd":"reply","request_id":"` + text + `","kind":"response","payload":{"n":7}`
	wantError(t, other.ask(reply+`}`), codeNotHandler, "serve")
	wantError(t, c.ask(reply+`,"peer":"`+string(f.own.ID)+`"}`), codeRequestNotFound, "")
	wantError(t, c.ask(strings.Replace(reply, `{"n":7}`, `{"n":"`+strings.Repeat("x", envelope.MaxSize)+`"}`, 1)+`}`), codeMessageTooLarge, "smaller")
	if got := c.ask(strings.Replace(reply, text, strings.ToUpper(text), 1) + `,"req_id":"r"}`); got != `{"ok":true,"request_id":"`+text+`","req_id":"r"}` {
		t.Error(got)
	}
	wantError(t, c.ask(reply+`}`), codeRequestNotFound, "answered")
	wantError(t, c.ask(`{"cmd":"decline","request_id":"`+text+`"}`), codeRequestNotFound, "answered")
	if w := <-answered; w.Kind != "response" || w.Ref != text || w.Payload.N != 7 {
		t.Errorf("%+v", w)
	}

	id = uuid.New()
	answered = f.request(t.Context(), f.peer.ID, id, `{}`)
	c.line()
	c.wantOK(`{"cmd":"decline","request_id":"` + id.String() + `"}`)
	if w := <-answered; w.Kind != "error" || w.Payload.Code != "unhandled" || w.Payload.Message != "no application handler registered for request '"+id.String()+"'" {
		t.Errorf("%+v", w)
	}

	answered = f.request(t.Context(), f.peer.ID, uuid.New(), `{}`)
	c.line()
	_ = c.conn.Close()
	if w := <-answered; w.Payload.Code != "unhandled" {
		t.Errorf("after the handler left: %+v", w)
	}
	// The lease is free before the request is ended.
	other.serve()
}

func TestRequestsWithTheSameID(t *testing.T) {
	f := newFixture(t, nil)
	second := somebody(t)
	c := f.client()
	c.serve()
	id := uuid.New()
	one, two := f.request(t.Context(), f.peer.ID, id, `{}`), f.request(t.Context(), second.ID, id, `{}`)
	c.line()
	c.line()
	reply := func(n, peer string) string {
		return `{"cmd":"reply","request_id":"` + id.String() + `","kind":"error","payload":{"n":` + n + `}` + peer + `}`
	}
	wantError(t, c.ask(reply("0", "")), codeInvalid, "name the peer")
	c.wantOK(reply("2", `,"peer":"`+strings.ToUpper(string(second.ID))+`"`))
	c.wantOK(reply("1", ""))
	if a, b := <-one, <-two; a.Payload.N != 1 || b.Payload.N != 2 || a.Kind != "error" {
		t.Errorf("%+v %+v", a, b)
	}
}

func TestCancelledRequest(t *testing.T) {
	f := newFixture(t, nil)
	c, watcher := f.client(), f.client()
	c.serve()
	id := uuid.New()
	ctx, cancel := context.WithCancel(t.Context())
	answered := f.request(ctx, f.peer.ID, id, `{}`)
	c.line()
	cancel()
	if got, want := c.line(), f.fill(`{"event":"request_cancelled","request_id":"`+id.String()+`","from":"PEER"}`); got != want {
		t.Errorf("got %s", got)
	}
	if _, ok := <-answered; ok {
		t.Error("answered though given up")
	}
	wantError(t, c.ask(`{"cmd":"decline","request_id":"`+id.String()+`"}`), codeRequestNotFound, "given up")
	// The answer is the first line: nothing of it was shown to the other.
	if got := watcher.ask(`{"cmd":"status"}`); !strings.HasPrefix(got, `{"ok":true`) {
		t.Errorf("the other client was shown %s", got)
	}
}

func TestSilentAndOverloadedHandler(t *testing.T) {
	f := newFixture(t, func(_ *Options, d *dispatch.Options) { d.RequestTimeout = 50 * time.Millisecond; d.MaxPending = 2 })
	c := f.client()
	c.serve()
	first, second := f.request(t.Context(), f.peer.ID, uuid.New(), `{}`), f.request(t.Context(), f.peer.ID, uuid.New(), `{}`)
	late := parseLine(t, c.line())
	c.line()
	if w := <-f.request(t.Context(), f.peer.ID, uuid.New(), `{}`); w.Payload.Code != "overloaded" && w.Payload.Code != "timeout" || !w.Payload.Retryable {
		t.Errorf("%+v", w)
	}
	for _, answered := range []<-chan wire{first, second} {
		if w := <-answered; w.Kind != "error" || w.Payload.Code != "timeout" || !w.Payload.Retryable {
			t.Errorf("%+v", w)
		}
	}
	wantError(t, c.ask(`{"cmd":"reply","request_id":"`+late.Request+`","kind":"response","payload":{}}`), codeRequestNotFound, "ran out of time")
}

// TestHandlerThatDoesNotRead is let go when its queue overflows; all its
// requests get the default error.
func TestHandlerThatDoesNotRead(t *testing.T) {
	f := newFixture(t, func(_ *Options, d *dispatch.Options) { d.MaxPending = 1 << 20 })
	c := f.client()
	c.serve()
	payload := `{"a":"` + strings.Repeat("x", 1000) + `"}`
	var all []<-chan wire
	for range MaxQueue + ahead + batch + 4096 {
		all = append(all, f.request(t.Context(), f.peer.ID, uuid.New(), payload))
	}
	for _, answered := range all {
		if w := <-answered; w.Payload.Code != "unhandled" {
			t.Fatalf("%+v", w)
		}
	}
	f.client().serve()
}
