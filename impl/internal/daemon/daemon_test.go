package daemon

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"go.uber.org/goleak"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ceiling ends a test that hangs; no passing test waits for it.
const ceiling = 20 * time.Second

// started is a daemon in a throw-away state root that knows one peer.
type started struct {
	root string
	addr string
	log  *safeBuffer
	stop func() error // ends it and returns what Run returned
	peer *identity.Identity
}

func start(t *testing.T, root string) *started {
	t.Helper()
	peer, err := identity.Generate()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("peers:\n  - agent_id: %s\n    pubkey: %s\n", peer.ID, identity.EncodePublicKey(peer.Public))
	if err := os.WriteFile(filepath.Join(root, config.File), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	log := &safeBuffer{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	port := 0
	go func() {
		err := Run(ctx, Options{StateRoot: root, Port: &port, Listen: "127.0.0.1", Logger: slog.New(slog.NewJSONHandler(w, nil))})
		_ = w.Close()
		done <- err
	}()
	ready := make(chan string, 1)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for dec := json.NewDecoder(io.TeeReader(r, log)); ; {
			var record struct{ Msg, Address string }
			if dec.Decode(&record) != nil {
				return
			}
			if record.Msg == "ready" {
				ready <- record.Address
			}
		}
	}()
	s := &started{root: root, peer: peer, log: log}
	var result error
	ended := false
	s.stop = func() error {
		if !ended {
			cancel()
			result = <-done
			<-drained
			ended = true
		}
		return result
	}
	t.Cleanup(func() { _ = s.stop() })
	select {
	case s.addr = <-ready:
	case <-drained:
		t.Fatalf("the daemon did not start: %v", s.stop())
	case <-time.After(ceiling):
		t.Fatal("the daemon is not ready in time")
	}
	return s
}

// safeBuffer is a log that may be read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (s *started) dial(t *testing.T) (context.Context, *quic.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), ceiling)
	t.Cleanup(cancel)
	cert, err := s.peer.Certificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	tr := &quic.Transport{Conn: udp}
	t.Cleanup(func() { _ = tr.Close(); _ = udp.Close() })
	addr, err := net.ResolveUDPAddr("udp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	qc, err := tr.Dial(ctx, addr, &tls.Config{
		InsecureSkipVerify: true, NextProtos: []string{transport.ALPN}, Certificates: []tls.Certificate{cert},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = qc.CloseWithError(0, "") })
	return ctx, qc
}

func ask(ctx context.Context, qc *quic.Conn, body string) (string, error) {
	s, err := qc.OpenStreamSync(ctx)
	if err != nil {
		return "", err
	}
	if _, err := s.Write([]byte(body)); err != nil {
		return "", err
	}
	_ = s.Close()
	got, err := io.ReadAll(s)
	return string(got), err
}

const (
	id      = "0b7e6a52-3c1d-4f7a-9b1e-5a2f8c3d4e6f"
	nilID   = "00000000-0000-0000-0000-000000000000"
	rest    = `"kind":"request","payload":{}`
	request = `{"id":"` + id + `",` + rest + `}`
)

func defaultError(ref string) string {
	return `,"kind":"error","payload":{"code":"unhandled","message":"no application handler registered for request '` + ref + `'","retryable":false},"ref":"` + ref + `"}`
}

// TestOddInputs holds the rows of the table of odd inputs that need no handler;
// sizes and deadlines are tested with the transport.
func TestOddInputs(t *testing.T) {
	s := start(t, t.TempDir())
	ctx, qc := s.dial(t)
	member := func(kind, more string) string {
		return `{"id":"` + id + `","kind":` + kind + `,"payload":{}` + more + `}`
	}
	answered := map[string]string{
		"request":             request,
		"indented":            "{\n  \"id\": \"" + id + "\",\n  \"kind\": \"request\",\n  \"payload\": {}\n}\n",
		"upper case id":       strings.Replace(request, id, strings.ToUpper(id), 1),
		"unknown kind":        member(`"future"`, ""),
		"empty kind":          member(`""`, ""),
		"lone surrogate kind": member(`"\ud800"`, ""),
		"long kind":           member(`"`+strings.Repeat("k", 1000)+`"`, ""),
		"ref null":            member(`"request"`, `,"ref":null`),
		"ref nil UUID":        member(`"request"`, `,"ref":"`+nilID+`"`),
		"from and to":         member(`"request"`, `,"from":{"a":[]},"to":7,"v":1,"ts":"x"`),
		"odd extra member":    member(`"request"`, `,"\udc00":{"a":1,"a":"\ud800"}`),
		"odd payload":         `{"id":"` + id + `","kind":"request","payload":{"a":1,"a":1e400,"\ud800":"\udfff"}}`,
	}
	for name, body := range answered {
		t.Run(name, func(t *testing.T) {
			got, err := ask(ctx, qc, body)
			if err != nil || !strings.HasSuffix(got, defaultError(id)) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	invalid := map[string]struct{ body, ref string }{
		"message":          {member(`"message"`, ""), id},
		"error":            {member(`"error"`, ""), id},
		"response":         {member(`"response"`, `,"ref":"`+id+`"`), id},
		"nil id":           {strings.Replace(request, id, nilID, 1), nilID},
		"payload an array": {`{"id":"` + id + `","kind":"request","payload":[]}`, id},
		"ref no UUID":      {member(`"request"`, `,"ref":"x"`), id},
	}
	for name, c := range invalid {
		t.Run(name, func(t *testing.T) {
			got, err := ask(ctx, qc, c.body)
			if err != nil || !strings.Contains(got, `"kind":"error","payload":{"code":"invalid_envelope","message":"`) || !strings.HasSuffix(got, `"retryable":false},"ref":"`+c.ref+`"}`) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	malformed := map[string]string{
		"empty": "", "not JSON": "hello", "half": request[:30], "two values": request + request, "array": "[" + request + "]",
		"BOM": "\ufeff" + request, "NUL": request + "\x00", "invalid UTF-8": member(`"request"`, `,"x":"`+"\xff"+`"`),
		"id no UUID": strings.Replace(request, id, "seven", 1), "no payload": `{"id":"` + id + `","kind":"request"}`,
		"kind an object": member(`{"request":null}`, ""), "kind twice": member(`"request"`, `,"kind":"request"`),
		"id in braces": strings.Replace(request, id, "{"+id+"}", 1),
	}
	for name, body := range malformed {
		t.Run(name, func(t *testing.T) {
			got, err := ask(ctx, qc, body)
			var reset *quic.StreamError
			if !errors.As(err, &reset) || reset.ErrorCode != 1 || got != "" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	t.Run("nothing on uni is answered", func(t *testing.T) {
		for _, body := range []string{request, member(`"message"`, ""), member(`"response"`, ""), member(`"future"`, ""), "junk", ""} {
			u, err := qc.OpenUniStreamSync(ctx)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = u.Write([]byte(body))
			_ = u.Close()
		}
		if got, err := ask(ctx, qc, request); err != nil || !strings.HasSuffix(got, defaultError(id)) {
			t.Errorf("afterwards: %s, %v", got, err)
		}
		none, cancel := context.WithCancel(ctx)
		cancel()
		if st, err := qc.AcceptStream(none); err == nil {
			t.Errorf("the daemon opened stream %d", st.StreamID())
		}
		if st, err := qc.AcceptUniStream(none); err == nil {
			t.Errorf("the daemon opened stream %d", st.StreamID())
		}
	})
}

func TestStopTellsPeers(t *testing.T) {
	s := start(t, t.TempDir())
	ctx, qc := s.dial(t)
	if _, err := ask(ctx, qc, request); err != nil {
		t.Fatal(err)
	}
	if err := s.stop(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	<-qc.Context().Done()
	var app *quic.ApplicationError
	if !errors.As(context.Cause(qc.Context()), &app) || !app.Remote || app.ErrorCode != 0 || app.ErrorMessage == "" {
		t.Errorf("closed with %v", context.Cause(qc.Context()))
	}
}

func TestRestartKeepsIdentityDespiteDamage(t *testing.T) {
	root := t.TempDir()
	if err := start(t, root).stop(); err != nil {
		t.Fatal(err)
	}
	before, err := identity.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, peers.File), 0o700); err != nil {
		t.Fatal(err)
	}
	s := start(t, root)
	ctx, qc := s.dial(t)
	if _, err := ask(ctx, qc, request); err != nil {
		t.Error(err)
	}
	key, err := identity.LeafKey(qc.ConnectionState().TLS.PeerCertificates)
	if err != nil || identity.DeriveAgentID(key) != before.ID {
		t.Errorf("identity after the restart: %v, %v", key, err)
	}
}

func TestRunRefuses(t *testing.T) {
	logger := slog.New(slog.DiscardHandler)
	port := 0
	run := func(o Options) error {
		o.Port, o.Listen = &port, "127.0.0.1"
		return Run(t.Context(), o)
	}
	if err := run(Options{Logger: logger}); err == nil {
		t.Error("no state root: no error")
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, config.File), []byte("prot: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(Options{StateRoot: root, Logger: logger}); !errors.Is(err, config.ErrInvalid) {
		t.Errorf("bad configuration: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, identity.KeyFile)); err == nil {
		t.Error("made a key though the start failed before")
	}
	root = t.TempDir()
	if err := os.WriteFile(filepath.Join(root, identity.KeyFile), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(Options{StateRoot: root, Logger: logger}); !errors.Is(err, identity.ErrBadKeyFile) {
		t.Errorf("bad key: %v", err)
	}
	if err := run(Options{StateRoot: filepath.Join(root, identity.KeyFile), Logger: logger}); err == nil {
		t.Error("a file as state root: no error")
	}
}
