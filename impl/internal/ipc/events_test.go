package ipc

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
)

func (f *fixture) uni(e envelope.Envelope) { f.router.Uni(f.peer.ID, e.Append(nil)) }

func (f *fixture) attached(n int) []*client {
	var all []*client
	for range n {
		c := f.client()
		c.ask(`{"cmd":"status"}`) // it is taken in by now
		all = append(all, c)
	}
	return all
}

func TestInboundGoesToEveryClient(t *testing.T) {
	f := newFixture(t, nil)
	all := f.attached(3)
	// 300 bytes, the 256th in the middle of a character.
	cut := envelope.New(envelope.Message, []byte(`{"a":"`+strings.Repeat("x", 248)+"é"+strings.Repeat("y", 42)+`"}`))
	if len(cut.Payload) != 300 || cut.Payload[255] != 0xa9 {
		t.Fatalf("%d bytes, %x", len(cut.Payload), cut.Payload[255])
	}
	odd := envelope.Envelope{ID: uuid.New(), Kind: "fu\uFFFDture", RawKind: []byte(`"fu\ud800ture"`), Payload: []byte(`{ }`), Ref: uuid.New(), HasRef: true}
	whole := envelope.New(envelope.Error, nil)
	frame := len(whole.Append(nil))
	whole.Payload = []byte(`{"a":"` + strings.Repeat("z", envelope.MaxSize-frame-len(`{"a":""}`)) + `"}`)
	for _, e := range []envelope.Envelope{cut, odd, whole} {
		f.uni(e)
	}
	f.uni(envelope.New(envelope.Request, []byte(`{}`))) // shown to nobody
	f.uni(envelope.New(envelope.Response, []byte(`{}`)))
	f.server.Candidate(peers.Peer{ID: f.peer.ID, PublicKey: f.peer.Public, Addr: "192.0.2.1:7"})
	for _, c := range all {
		for _, e := range []envelope.Envelope{cut, odd, whole} {
			want := f.fill(`{"event":"inbound","from":"PEER","envelope":`) + string(appendEnvelope(nil, &e, f.peer.ID, f.own.ID)) + `}`
			if got := c.line(); got != want {
				t.Errorf("\n got %.300s\nwant %.300s", got, want)
			}
		}
		if got, want := c.line(), f.fill(`{"event":"peer_candidate","agent_id":"PEER","public_key":"KEY","addr":"192.0.2.1:7","source":"mdns"}`); got != want {
			t.Errorf("got %s", got)
		}
	}
	if got := all[0].ask(`{"cmd":"status"}`); !strings.Contains(got, `"messages_received":5`) {
		t.Errorf("%s", got)
	}
}

// TestEventIsOneLine: an envelope may be sent indented, and a client reads lines.
func TestEventIsOneLine(t *testing.T) {
	f := newFixture(t, nil)
	c := f.attached(1)[0]
	f.uni(envelope.New(envelope.Message, []byte("{\r\n\t\"a\": [1,\n 2]\n}")))
	if got := c.line(); !strings.Contains(got, "\"payload\":{  \t\"a\": [1,  2] }") {
		t.Errorf("got %q", got)
	}
}

// TestBurst sends 5,000 messages while one client never reads: that one is
// dropped, the others get all, each once and in order.
func TestBurst(t *testing.T) {
	f := newFixture(t, nil)
	all := f.attached(4)
	deaf, readers := all[0], all[1:]
	const burst = 5000
	pad := strings.Repeat("x", 200)
	var wg sync.WaitGroup
	var turns []chan struct{} // the pace of the slowest reader
	for _, c := range readers {
		turn := make(chan struct{}, 512)
		turns = append(turns, turn)
		wg.Go(func() {
			defer close(turn)
			for n := range burst {
				if got := c.line(); !strings.Contains(got, fmt.Sprintf(`"payload":{"n":%d,`, n)) {
					t.Errorf("at %d: %s", n, got)
					return
				}
				turn <- struct{}{}
			}
		})
	}
	for n := range burst {
		if n >= 512 {
			for _, turn := range turns {
				<-turn
			}
		}
		f.uni(envelope.New(envelope.Message, fmt.Appendf(nil, `{"n":%d,"pad":%q}`, n, pad)))
	}
	wg.Wait()
	seen := 0
	for {
		line, err := deaf.r.ReadString('\n')
		if err != nil {
			break
		}
		// What it got before the end is whole and without gaps.
		if !strings.Contains(line, fmt.Sprintf(`"payload":{"n":%d,`, seen)) {
			t.Fatalf("at %d: %q", seen, line)
		}
		seen++
	}
	if seen == burst {
		t.Errorf("the client that does not read got %d", seen)
	}
	readers[0].wantOK(`{"cmd":"status"}`)
	f.uni(envelope.New(envelope.Message, []byte(`{"last":1}`)))
	for _, c := range readers {
		if got := c.line(); !strings.Contains(got, `{"last":1}`) {
			t.Errorf("delivery does not go on: %s", got)
		}
	}
}

// TestSlowCommandDelaysNobody holds AXON-IPC-019 to -021.
func TestSlowCommandDelaysNobody(t *testing.T) {
	f := newFixture(t, nil)
	release := make(chan struct{})
	f.world.onAsk(func(ctx context.Context, body []byte) ([]byte, error) {
		select {
		case <-release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return reflect(nil)(ctx, body)
	})
	c, other := f.client(), f.client()
	slow := f.fill(`{"cmd":"send","to":"PEER","kind":"request","payload":{"slow":1}`)
	c.send(slow + `,"req_id":"slow"}`)
	c.send(slow + `}`)
	c.send(`{"cmd":"whoami"}`) // after the one before it
	for range 3 {
		if p := parseLine(t, c.ask(`{"cmd":"status","req_id":"q"}`)); p.ReqID == nil || *p.ReqID != "q" {
			t.Errorf("%+v", p)
		}
		other.wantOK(`{"cmd":"status"}`)
	}
	close(release)
	var got []string
	for range 3 {
		switch p := parseLine(t, c.line()); {
		case p.ReqID != nil:
		case p.MsgID != "":
			got = append(got, "send")
		default:
			got = append(got, "whoami")
		}
	}
	if strings.Join(got, " ") != "send whoami" {
		t.Errorf("without req_id: %v", got)
	}
}

func TestTooManyCommands(t *testing.T) {
	f := newFixture(t, nil)
	release := make(chan struct{})
	f.world.onAsk(func(ctx context.Context, body []byte) ([]byte, error) {
		<-release
		return reflect(nil)(ctx, body)
	})
	c := f.client()
	line := f.fill(`{"cmd":"send","to":"PEER","kind":"request","payload":{},"req_id":"x"}`)
	for range maxRunning {
		c.send(line)
	}
	wantError(t, c.ask(line), codeOverloaded, "wait for some")
	close(release)
	for range maxRunning {
		if p := parseLine(t, c.line()); !*p.OK {
			t.Errorf("%+v", p)
		}
	}
}

// TestClientThatLeaves gives its requests up, and finishes its messages.
func TestClientThatLeaves(t *testing.T) {
	f := newFixture(t, nil)
	asked, gaveUp := make(chan struct{}, 1), make(chan struct{})
	f.world.onAsk(func(ctx context.Context, _ []byte) ([]byte, error) {
		asked <- struct{}{}
		<-ctx.Done()
		close(gaveUp)
		return nil, ctx.Err()
	})
	c := f.client()
	c.send(f.fill(`{"cmd":"send","to":"PEER","kind":"request","payload":{}}`))
	<-asked
	_ = c.conn.Close()
	<-gaveUp

	f.world.delivered = make(chan struct{}, 1)
	began := make(chan struct{})
	release := make(chan struct{})
	f.world.onConnect(func(ctx context.Context, _ identity.AgentID) error {
		close(began)
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	c = f.client()
	c.send(f.fill(`{"cmd":"send","to":"PEER","kind":"message","payload":{}}`))
	<-began
	_ = c.conn.Close()
	close(release)
	<-f.world.delivered
}

// TestHalfClosedClient still gets its answer: `nc` closes its sending side.
func TestHalfClosedClient(t *testing.T) {
	f := newFixture(t, nil)
	asked, release := make(chan struct{}), make(chan struct{})
	f.world.onAsk(func(ctx context.Context, body []byte) ([]byte, error) {
		close(asked)
		select {
		case <-release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return reflect(nil)(ctx, body)
	})
	c := f.client()
	c.send(f.fill(`{"cmd":"send","to":"PEER","kind":"request","payload":{}}`))
	_ = c.conn.CloseWrite()
	<-asked
	close(release)
	if p := parseLine(t, c.line()); !*p.OK {
		t.Errorf("%+v", p)
	}
	c.ended()
}

func TestCloseLetsClientsRead(t *testing.T) {
	f := newFixture(t, nil)
	c := f.attached(1)[0]
	for n := range 100 {
		f.uni(envelope.New(envelope.Message, fmt.Appendf(nil, `{"n":%d}`, n)))
	}
	f.server.Close()
	for n := range 100 {
		if got := c.line(); !strings.Contains(got, fmt.Sprintf(`{"n":%d}`, n)) {
			t.Errorf("%s", got)
		}
	}
	c.ended()
}
