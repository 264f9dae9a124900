package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/ipc"
)

// local is a program at the socket of a daemon.
type local struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func attach(t *testing.T, root string) *local {
	t.Helper()
	conn, err := net.Dial("unix", filepath.Join(root, ipc.SocketFile))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(ceiling))
	t.Cleanup(func() { _ = conn.Close() })
	l := &local{t, conn, bufio.NewReaderSize(conn, 2*ipc.MaxLine)}
	l.ask(`{"cmd":"whoami"}`) // taken in by now
	return l
}

func (l *local) send(line string) {
	l.t.Helper()
	if _, err := io.WriteString(l.conn, line+"\n"); err != nil {
		l.t.Fatal(err)
	}
}

func (l *local) line() string {
	l.t.Helper()
	line, err := l.r.ReadString('\n')
	if err != nil {
		l.t.Fatalf("%q, %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// ask returns the answer, passing over events.
func (l *local) ask(line string) string {
	l.t.Helper()
	l.send(line)
	for {
		if got := l.line(); strings.HasPrefix(got, `{"ok":`) {
			return got
		}
	}
}

func notify(t *testing.T, qc *quic.Conn, body []byte) {
	t.Helper()
	s, err := qc.OpenUniStreamSync(qc.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBurst sends 5,000 messages as fast as QUIC takes them while one client
// never reads: that one is dropped, the others get all of them, each once.
func TestBurst(t *testing.T) {
	root := t.TempDir()
	s := start(t, root)
	_, qc := s.dial(t)
	const burst = 5000
	deaf := attach(t, root)
	var readers sync.WaitGroup
	for range 3 {
		l := attach(t, root)
		readers.Go(func() {
			seen := make([]bool, burst)
			for range burst {
				line, err := l.r.ReadSlice('\n')
				if err != nil {
					t.Errorf("a client that reads was dropped: %v", err)
					return
				}
				var event struct {
					Envelope struct{ Payload struct{ N int } }
				}
				if err := json.Unmarshal(line, &event); err != nil {
					t.Error(err)
					return
				}
				if seen[event.Envelope.Payload.N] {
					t.Errorf("%d came twice", event.Envelope.Payload.N)
				}
				seen[event.Envelope.Payload.N] = true
			}
		})
	}
	pad := strings.Repeat("x", 200)
	for n := range burst {
		e := envelope.New(envelope.Message, fmt.Appendf(nil, `{"n":%d,"pad":%q}`, n, pad))
		notify(t, qc, e.Append(nil))
	}
	readers.Wait()
	lines := 0
	for {
		if _, err := deaf.r.ReadSlice('\n'); err != nil {
			break
		}
		lines++
	}
	if lines >= burst {
		t.Errorf("the client that did not read got %d lines", lines)
	}
	attach(t, root)
}

// TestVeryFirstCommand: whoever finds the socket finds a daemon that can send.
func TestVeryFirstCommand(t *testing.T) {
	root := t.TempDir()
	peer, err := identity.Generate()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("peers:\n  - agent_id: %s\n    pubkey: %s\n", peer.ID, identity.EncodePublicKey(peer.Public))
	if err := os.WriteFile(filepath.Join(root, config.File), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	port := 0
	go func() {
		done <- Run(ctx, Options{StateRoot: root, Port: &port, Listen: "127.0.0.1", Logger: slog.New(slog.DiscardHandler)})
	}()
	for deadline := time.Now().Add(ceiling); ; runtime.Gosched() {
		conn, err := net.Dial("unix", filepath.Join(root, ipc.SocketFile))
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	l := &local{t: t}
	if l.conn, err = net.Dial("unix", filepath.Join(root, ipc.SocketFile)); err != nil {
		t.Fatal(err)
	}
	l.r = bufio.NewReader(l.conn)
	if got := l.ask(fmt.Sprintf(`{"cmd":"send","to":%q,"kind":"message","payload":{}}`, peer.ID)); !strings.Contains(got, "peer_unreachable") {
		t.Error(got)
	}
	_ = l.conn.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
