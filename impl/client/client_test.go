package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestDialErrors(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), ceiling)
	defer cancel()
	if _, err := Dial(ctx, Options{StateRoot: dir}); !errors.Is(err, ErrNoDaemon) || !strings.Contains(err.Error(), "axon daemon") {
		t.Errorf("no socket: %v", err)
	}
	stale := filepath.Join(dir, SocketFile)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	if _, err := Dial(ctx, Options{StateRoot: dir}); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("stale socket: %v", err)
	}
	deep := filepath.Join(dir, strings.Repeat("d", 120))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, SocketFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(ctx, Options{StateRoot: deep}); err == nil || !strings.Contains(err.Error(), "shorter path") {
		t.Errorf("long path: %v", err)
	}
	t.Setenv("AXON_ROOT", dir)
	if _, err := Dial(ctx, Options{}); !errors.Is(err, ErrNoDaemon) || !strings.Contains(err.Error(), dir) {
		t.Errorf("from the environment: %v", err)
	}
}

func TestAnswersFindTheirCalls(t *testing.T) {
	// The fake answers a whole batch in reverse order.
	const batch = 50
	var mu sync.Mutex
	var held []string
	f := startFake(t, func(_ *fakeSession, cmd map[string]any) []string {
		mu.Lock()
		defer mu.Unlock()
		payload, _ := json.Marshal(cmd["payload"])
		held = append(held, ok(cmd, fmt.Sprintf(`"msg_id":%q,"response":{"id":%q,"kind":"response","payload":%s,"ref":%q,"from":%q}`, uuidA, uuidB, payload, uuidA, peerA)))
		if len(held) < batch {
			return nil
		}
		for i, j := 0, len(held)-1; i < j; i, j = i+1, j-1 {
			held[i], held[j] = held[j], held[i]
		}
		return held
	})
	ctx, c := f.dial(t)
	var wg sync.WaitGroup
	for i := range batch {
		wg.Go(func() {
			want := fmt.Sprintf(`{"n":%d}`, i)
			got, err := c.Request(ctx, peerA, json.RawMessage(want), SendOptions{})
			if err != nil || string(got.Payload) != want || got.Kind != KindResponse || got.Ref != uuidA || got.From != peerA {
				t.Errorf("%d: %+v, %v", i, got, err)
			}
		})
	}
	wg.Wait()
}

func TestRequest(t *testing.T) {
	var seen map[string]any
	var line string
	reply := `"response":{"id":"` + uuidB + `","kind":"response","payload":{"a":1e400,"b":"\ud800","a":12345678901234567890},"ref":"` + uuidA + `"}`
	f := startFake(t, func(_ *fakeSession, cmd map[string]any) []string {
		seen = cmd
		return []string{ok(cmd, reply)}
	})
	ctx, cancel := context.WithTimeout(context.Background(), ceiling)
	defer cancel()
	c, err := Dial(ctx, Options{Socket: f.path, Trace: func(d Direction, l []byte) {
		if d == Sent {
			line = string(l)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Request(ctx, peerA, json.RawMessage("{ \"x\" :\n 1e400, \"y\": \"<&>\\ud800\" }"), SendOptions{Ref: uuidB, Timeout: 1500 * time.Millisecond})
	if err != nil || string(got.Payload) != `{"a":1e400,"b":"\ud800","a":12345678901234567890}` {
		t.Errorf("payload %s, %v", got.Payload, err)
	}
	if seen["cmd"] != "send" || seen["to"] != peerA || seen["kind"] != "request" || seen["ref"] != uuidB || seen["timeout_secs"] != json.Number("2") {
		t.Errorf("command %v", seen)
	}
	if !strings.Contains(line, `"payload":{"x":1e400,"y":"<&>\ud800"}`) {
		t.Errorf("line %s", line)
	}

	reply = `"response":{"id":"` + uuidB + `","kind":"error","payload":{"code":"unhandled","message":"nobody is there","retryable":"no"},"ref":null}`
	got, err = c.Request(ctx, peerA, json.RawMessage(`{}`), SendOptions{})
	var remote *RemoteError
	if !errors.As(err, &remote) || remote.Code != "unhandled" || remote.Message != "nobody is there" || remote.Retryable || got.Kind != KindError {
		t.Errorf("remote error: %+v, %v", got, err)
	}
	if s := seen["timeout_secs"]; s != json.Number("20") {
		t.Errorf("time-out taken from the context: %v", s)
	}
	reply = `"msg_id":"` + uuidA + `"`
	if _, err = c.Request(ctx, peerA, json.RawMessage(`{}`), SendOptions{}); err == nil {
		t.Error("an answer without a response: no error")
	}
	if id, err := c.Send(ctx, peerA, json.RawMessage(`{}`), SendOptions{}); err != nil || id != uuidA || seen["kind"] != "message" || seen["timeout_secs"] != nil {
		t.Errorf("send: %q, %v, %v", id, err, seen)
	}
	seen = nil
	for _, bad := range []string{"", "[]", "null", `"x"`, "{", `{"a":1}x`, "{\"a\":\"\xff\"}"} {
		if _, err := c.Request(ctx, peerA, json.RawMessage(bad), SendOptions{}); !errors.Is(err, ErrBadPayload) {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := c.Send(ctx, peerA, json.RawMessage(bad), SendOptions{}); !errors.Is(err, ErrBadPayload) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	large := json.RawMessage(`{"a":"` + strings.Repeat("x", maxCommand) + `"}`)
	if _, err := c.Send(ctx, peerA, large, SendOptions{}); !errors.Is(err, ErrMessageTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := c.Request(ctx, peerA, json.RawMessage(`{}`), SendOptions{Timeout: 2 * time.Hour}); err == nil {
		t.Error("two hours: no error")
	}
	if seen != nil {
		t.Errorf("the daemon was sent %v", seen)
	}
}

func TestRefusalsAreTyped(t *testing.T) {
	f := startFake(t, func(_ *fakeSession, cmd map[string]any) []string {
		return []string{refuse(cmd, cmd["agent_id"].(string), "do this next")}
	})
	ctx, c := f.dial(t)
	for code, want := range map[Code]error{
		CodePeerNotFound: ErrPeerNotFound, CodeInvalidCommand: ErrInvalidCommand, CodeTimeout: ErrTimeout, CodeInternalError: ErrInternal, CodePeerConflict: ErrPeerConflict,
	} {
		err := c.RemovePeer(ctx, string(code))
		var typed *Error
		if !errors.Is(err, want) || !errors.As(err, &typed) || typed.Code != code || !strings.Contains(err.Error(), "do this next") {
			t.Errorf("%s: %v", code, err)
		}
		if errors.Is(err, ErrSelfSend) {
			t.Errorf("%s is also self_send", code)
		}
	}
}

func TestPeersAndStatus(t *testing.T) {
	f := startFake(t, func(_ *fakeSession, cmd map[string]any) []string {
		switch cmd["cmd"] {
		case "peers":
			return []string{ok(cmd, `"peers":[{"agent_id":"`+peerA+`","public_key":"AAAA","addr":"h:1","status":"connected","source":"static","trust":"trusted","rtt_ms":1.5},{"agent_id":"`+peerB+`"}],"omitted":7`)}
		case "status":
			return []string{ok(cmd, `"uptime_secs":90,"peers_connected":1,"messages_sent":2,"messages_received":3`)}
		}
		return []string{ok(cmd, `"agent_id":"`+peerB+`"`)}
	})
	ctx, c := f.dial(t)
	all, err := c.Peers(ctx)
	list := all.Peers
	if all.Omitted != 7 {
		t.Errorf("omitted %d", all.Omitted)
	}
	if err != nil || len(list) != 2 || list[0].RTT == nil || *list[0].RTT != 1.5 || list[1].RTT != nil || list[0].Status != "connected" {
		t.Errorf("%+v, %v", list, err)
	}
	s, err := c.Status(ctx)
	if err != nil || s.Uptime() != 90*time.Second || s.PeersConnected != 1 || s.MessagesSent != 2 || s.MessagesReceived != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	if id, err := c.AddPeer(ctx, NewPeer{Token: "axon://x@h:1"}); err != nil || id != peerB {
		t.Errorf("%s, %v", id, err)
	}
	self, err := c.WhoAmI(ctx)
	if err != nil || self.AgentID == "" || self.Version != "1" || self.Uptime() != 3*time.Second {
		t.Errorf("%+v, %v", self, err)
	}
}

func TestTheEndReachesEveryone(t *testing.T) {
	f := startFake(t, func(s *fakeSession, cmd map[string]any) []string {
		if cmd["cmd"] == "peers" {
			s.say(`{"ok":false,"error":"overloaded","message":"too many clients"}`)
			_ = s.conn.Close()
		}
		return nil
	})
	ctx, c := f.dial(t)
	events := c.Events()
	waiting := make(chan error)
	go func() {
		_, err := c.Status(ctx)
		waiting <- err
	}()
	go func() {
		_, err := events.Next(ctx)
		waiting <- err
	}()
	_, err := c.Peers(ctx)
	for range 2 {
		if e := <-waiting; !errors.Is(e, ErrClosed) {
			t.Errorf("got %v", e)
		}
	}
	<-c.Done()
	if !errors.Is(err, ErrClosed) || !errors.Is(err, ErrOverloaded) || !errors.Is(c.Err(), ErrOverloaded) {
		t.Errorf("call %v, client %v", err, c.Err())
	}
	if _, err := c.Status(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := c.Events().Next(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("afterwards: %v", err)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	asked := make(chan struct{})
	f := startFake(t, func(_ *fakeSession, cmd map[string]any) []string {
		if cmd["cmd"] == "status" {
			close(asked)
			return nil
		}
		return []string{ok(cmd, `"peers":[]`)}
	})
	ctx, c := f.dial(t)
	short, cancel := context.WithCancel(ctx)
	go func() {
		<-asked
		cancel()
	}()
	if _, err := c.Status(short); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Peers(ctx); err != nil {
		t.Errorf("the client is of no use afterwards: %v", err)
	}
}

func TestGarbageFromTheDaemonEndsTheClient(t *testing.T) {
	f := startFake(t, func(*fakeSession, map[string]any) []string { return []string{"hello"} })
	ctx, c := f.dial(t)
	if _, err := c.Status(ctx); !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "not JSON") {
		t.Errorf("got %v", err)
	}
}
