package transport

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"go.uber.org/goleak"

	"github.com/axonproto/axon/impl/internal/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ceiling ends a test that hangs; no passing test waits for it.
const ceiling = 20 * time.Second

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), ceiling)
	t.Cleanup(cancel)
	return ctx
}

func newIdentity(t testing.TB) *identity.Identity {
	t.Helper()
	id, err := identity.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// pins is a changeable set of pinned keys.
type pins struct {
	mu   sync.Mutex
	keys map[identity.AgentID]ed25519.PublicKey
}

func pinned(ids ...*identity.Identity) *pins {
	p := &pins{keys: map[identity.AgentID]ed25519.PublicKey{}}
	for _, id := range ids {
		p.keys[id.ID] = id.Public
	}
	return p
}

func (p *pins) Pinned(id identity.AgentID) (ed25519.PublicKey, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, ok := p.keys[id]
	return key, ok
}

// echo answers each body with itself, refuses "refuse", and shows what came on
// unidirectional streams.
type echo struct {
	hold chan struct{} // when set, "hold" waits for it
	held chan struct{}
	uni  chan string
}

func newEcho() *echo {
	return &echo{hold: make(chan struct{}), held: make(chan struct{}, 16), uni: make(chan string, 64)}
}

func (h *echo) Bidi(ctx context.Context, _ identity.AgentID, body, dst []byte) ([]byte, bool) {
	switch string(body) {
	case "refuse":
		return nil, false
	case "hold":
		h.held <- struct{}{}
		select {
		case <-h.hold:
		case <-ctx.Done():
			return nil, false
		}
	}
	return append(dst, body...), true
}

func (h *echo) Uni(_ identity.AgentID, body []byte) { h.uni <- string(body) }

func listen(t *testing.T, id *identity.Identity, p Pins, change func(*Options)) (*Endpoint, *echo) {
	t.Helper()
	h := newEcho()
	o := Options{Identity: id, Pins: p, Handler: h, Logger: slog.New(slog.DiscardHandler), Addr: "127.0.0.1:0"}
	if change != nil {
		change(&o)
	}
	e, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := e.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return e, h
}

// remote is a bare QUIC end that need not behave.
type remote struct {
	t  *testing.T
	tr *quic.Transport
}

func newRemote(t *testing.T) *remote {
	t.Helper()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	tr := &quic.Transport{Conn: udp}
	t.Cleanup(func() {
		_ = tr.Close()
		_ = udp.Close()
	})
	return &remote{t, tr}
}

func remoteTLS(t testing.TB, id *identity.Identity) *tls.Config {
	t.Helper()
	conf := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{ALPN}, MinVersion: tls.VersionTLS13}
	if id != nil {
		cert, err := id.Certificate(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		conf.Certificates = []tls.Certificate{cert}
	}
	return conf
}

func (r *remote) dial(ctx context.Context, e *Endpoint, conf *tls.Config) (*quic.Conn, error) {
	qc, err := r.tr.Dial(ctx, e.Addr(), conf, &quic.Config{MaxIdleTimeout: ceiling})
	if err == nil {
		r.t.Cleanup(func() { _ = qc.CloseWithError(0, "") })
	}
	return qc, err
}

func (r *remote) mustDial(ctx context.Context, e *Endpoint, id *identity.Identity) *quic.Conn {
	r.t.Helper()
	qc, err := r.dial(ctx, e, remoteTLS(r.t, id))
	if err != nil {
		r.t.Fatal(err)
	}
	return qc
}

// ask writes a body on a fresh stream and returns the answer.
func ask(ctx context.Context, qc *quic.Conn, body []byte) ([]byte, error) {
	s, err := qc.OpenStreamSync(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := s.Write(body); err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return io.ReadAll(s)
}

// alive checks that the connection still serves: the barrier after a bad stream.
func alive(t *testing.T, ctx context.Context, qc *quic.Conn) {
	t.Helper()
	got, err := ask(ctx, qc, []byte("still there?"))
	if err != nil || string(got) != "still there?" {
		t.Fatalf("after it: %q, %v", got, err)
	}
}

func wantReset(t *testing.T, err error, code quic.StreamErrorCode) {
	t.Helper()
	var reset *quic.StreamError
	if !errors.As(err, &reset) || !reset.Remote || reset.ErrorCode != code {
		t.Errorf("got %v, want a reset by the peer with code %d", err, code)
	}
}
