package soak

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/identity"
)

// mostWithOneHostile is what a daemon holds at most, in kB, whatever one admitted peer
// with one connection does: 16 MiB of large bodies and their replies, 24 MiB of the
// connection's windows, 4 MiB of other replies that it does not read, and the daemon
// itself, with a collector that runs when the heap has doubled.
const mostWithOneHostile = 2 * (16 + 24 + 4 + 16) << 10

// hostile is an admitted peer that does as it likes.
type hostile struct {
	t   *testing.T
	ctx context.Context
	qc  *quic.Conn
}

// request is a request of a size.
func request(size int) []byte {
	body := fmt.Sprintf(`{"id":%q,"kind":"request","payload":{"t":""}}`, uuid.New())
	return []byte(strings.Replace(body, `""`, `"`+strings.Repeat("x", max(0, size-len(body)))+`"`, 1))
}

// each does something on so many streams, side by side, and waits until all have.
func (h hostile) each(n int, do func(*quic.Stream)) {
	var work sync.WaitGroup
	for range n {
		s, err := h.qc.OpenStreamSync(h.ctx)
		if err != nil {
			break // the daemon may have had enough, or the time is up
		}
		work.Go(func() { do(s) })
	}
	work.Wait()
}

// TestHostilePeers: whatever an admitted peer does, another one is served, and what the
// daemon holds is bounded.
func TestHostilePeers(t *testing.T) {
	for name, act := range map[string]func(hostile){
		"finishes no stream": func(h hostile) {
			h.each(1000, func(s *quic.Stream) { _, _ = s.Write(request(2000)[:1900]) })
		},
		"sends a byte at a time": func(h hostile) {
			h.each(500, func(s *quic.Stream) {
				for _, b := range request(100)[:40] {
					if _, err := s.Write([]byte{b}); err != nil {
						return
					}
					time.Sleep(25 * time.Millisecond)
				}
			})
		},
		"reads no reply": func(h hostile) {
			h.each(1000, func(s *quic.Stream) {
				_, _ = s.Write(request(60000))
				_ = s.Close()
			})
		},
		"resets everything": func(h hostile) {
			for range 10 {
				h.each(1000, func(s *quic.Stream) {
					_, _ = s.Write(request(2000)[:500])
					s.CancelWrite(7)
					s.CancelRead(7)
				})
			}
		},
		"sends the most on every stream": func(h hostile) {
			h.each(1000, func(s *quic.Stream) {
				_, _ = s.Write(bytes.Repeat([]byte(" "), 65536))
				_ = s.Close()
				_, _ = io.Copy(io.Discard, s)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			bad, good := newIdentity(t), newIdentity(t)
			admit(t, n, bad, good)
			n.start(t)
			t.Cleanup(func() { _ = n.end(syscall.SIGKILL) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			honest := dialAs(ctx, t, n, good, nil)
			h := hostile{t, ctx, dialAs(ctx, t, n, bad, &quic.Config{
				// No room for replies that are not read.
				InitialStreamReceiveWindow: 1 << 10, MaxStreamReceiveWindow: 1 << 10, InitialConnectionReceiveWindow: 1 << 14, MaxConnectionReceiveWindow: 1 << 14,
			})}
			over := make(chan struct{})
			go func() { defer close(over); act(h) }()
			// It may be held back for as long as it likes to go on.
			enough := time.AfterFunc(4*time.Second, func() { _ = h.qc.CloseWithError(0, "") })
			defer enough.Stop()
			asked := 0
			for done := false; !done || asked < 20; asked++ {
				select {
				case <-over:
					done = true
				default:
				}
				if err := ask(ctx, honest); err != nil {
					t.Fatalf("request %d of another peer: %v", asked, err)
				}
			}
			peak := n.status("VmHWM")
			t.Logf("%d requests of another peer were answered; %d MB resident at most", asked, peak>>10)
			if peak > mostWithOneHostile {
				t.Errorf("%d MB were resident, want at most %d", peak>>10, mostWithOneHostile>>10)
			}
		})
	}
}

func newIdentity(t *testing.T) *identity.Identity {
	t.Helper()
	id, err := identity.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// admit writes the configuration of a daemon that knows these, and answers by echo.
func admit(t *testing.T, n *node, ids ...*identity.Identity) {
	t.Helper()
	text := "peers:\n"
	for _, id := range ids {
		text += fmt.Sprintf("  - agent_id: %s\n    pubkey: %s\n", id.ID, identity.EncodePublicKey(id.Public))
	}
	if err := os.WriteFile(n.root+"/config.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n.more = []string{"--echo"}
}

func dialAs(ctx context.Context, t *testing.T, n *node, id *identity.Identity, config *quic.Config) *quic.Conn {
	t.Helper()
	certificate, err := id.Certificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	qc, err := quic.DialAddr(ctx, n.address(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"axon/1"}, Certificates: []tls.Certificate{certificate}}, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = qc.CloseWithError(0, "") })
	return qc
}

// ask sends a small request and reads the reply.
func ask(ctx context.Context, qc *quic.Conn) error {
	s, err := qc.OpenStreamSync(ctx)
	if err != nil {
		return err
	}
	if _, err := s.Write(request(200)); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	reply, err := io.ReadAll(s)
	if err == nil && !bytes.Contains(reply, []byte(`"response"`)) {
		err = fmt.Errorf("the reply is %.200q", reply)
	}
	return err
}

// TestHandlerDiesUnderLoad: with a thousand requests waiting for a handler that dies, each
// gets the default error.
func TestHandlerDiesUnderLoad(t *testing.T) {
	t.Parallel()
	n, peer := newNode(t), newIdentity(t)
	admit(t, n, peer)
	n.more = nil
	n.start(t)
	t.Cleanup(func() { _ = n.end(syscall.SIGKILL) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const many = 1000
	c, err := client.Dial(ctx, client.Options{StateRoot: n.root})
	if err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	waiting.Add(many)
	ready, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Serve(ctx, func(ctx context.Context, _ client.Request) (json.RawMessage, error) {
			waiting.Done()
			<-ctx.Done()
			return nil, ctx.Err()
		}, client.ServeOptions{Concurrency: many, Ready: func() { close(ready) }})
	}()
	<-ready
	qc := dialAs(ctx, t, n, peer, nil)
	replies := make(chan string, many)
	for range many {
		s, err := qc.OpenStreamSync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = s.Write(request(200))
			_ = s.Close()
			reply, err := io.ReadAll(s)
			replies <- fmt.Sprintf("%s %v", reply, err)
		}()
	}
	waiting.Wait()
	_ = c.Close()
	<-ended
	for i := range many {
		if reply := <-replies; !strings.Contains(reply, `"unhandled"`) {
			t.Fatalf("reply %d: %s", i, reply)
		}
	}
	if err := once(ctx, n, n); !errors.Is(err, client.ErrSelfSend) {
		t.Errorf("afterwards: %v", err)
	}
}
