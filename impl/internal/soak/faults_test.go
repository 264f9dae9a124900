package soak

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"math/rand/v2"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/client"
)

// fault is something that goes wrong for a while and is then over.
type fault struct {
	name string
	do   func(context.Context, *testing.T, *world, *rand.Rand)
}

var faults = []fault{
	{"kill -9", func(_ context.Context, t *testing.T, w *world, r *rand.Rand) {
		w.again(t, w.any(r), syscall.SIGKILL)
	}},
	{"a restart", func(_ context.Context, t *testing.T, w *world, r *rand.Rand) {
		w.again(t, w.any(r), syscall.SIGTERM)
	}},
	{"all restart at once", func(_ context.Context, t *testing.T, w *world, r *rand.Rand) {
		done := make(chan struct{})
		for _, n := range w.nodes {
			go func() { defer func() { done <- struct{}{} }(); w.again(t, n, syscall.SIGTERM) }()
		}
		for range w.nodes {
			<-done
		}
	}},
	{"SIGSTOP", func(ctx context.Context, _ *testing.T, w *world, r *rand.Rand) {
		n := w.any(r)
		n.signal(syscall.SIGSTOP)
		pause(ctx, w.spell(r))
		n.signal(syscall.SIGCONT)
	}},
	{"loss", func(ctx context.Context, _ *testing.T, w *world, r *rand.Rand) {
		l := w.links[r.IntN(len(w.links))]
		l.loss.Store([]int64{1, 5, 20}[r.IntN(3)])
		pause(ctx, w.spell(r))
		l.loss.Store(0)
	}},
	{"a partition", func(ctx context.Context, _ *testing.T, w *world, r *rand.Rand) {
		for _, l := range w.links {
			l.loss.Store(100)
		}
		pause(ctx, w.spell(r))
		for _, l := range w.links {
			l.loss.Store(0)
		}
	}},
	{"packets overtake each other", func(ctx context.Context, _ *testing.T, w *world, r *rand.Rand) {
		l := w.links[r.IntN(len(w.links))]
		l.delay.Store(int64(time.Duration(1+r.IntN(300)) * time.Millisecond))
		pause(ctx, w.spell(r))
		l.delay.Store(0)
	}},
	{"handlers die", func(ctx context.Context, _ *testing.T, w *world, r *rand.Rand) {
		for range 1 + r.IntN(5) {
			select {
			case w.die <- struct{}{}:
			case <-ctx.Done():
				return
			case <-time.After(time.Second): // nobody serves just now
			}
		}
	}},
	{"clients that never read, and garbage", func(ctx context.Context, _ *testing.T, w *world, r *rand.Rand) {
		n := w.any(r)
		var conns []net.Conn
		for range 16 {
			c, err := net.Dial("unix", filepath.Join(n.root, client.SocketFile))
			if err != nil {
				break
			}
			conns = append(conns, c)
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			for range 200 {
				if _, err := c.Write([]byte([]string{"{\"cmd\":\"status\"}\n", "\x00\xff\n", "{\"cmd\":", "\n\n"}[r.IntN(4)])); err != nil {
					break
				}
			}
		}
		pause(ctx, w.spell(r))
		for _, c := range conns {
			_ = c.Close()
		}
	}},
	{"strangers", func(ctx context.Context, t *testing.T, w *world, r *rand.Rand) {
		strangers(ctx, t, w.any(r), 100)
	}},
}

// again ends a node's life and begins the next.
func (w *world) again(t *testing.T, n *node, sig syscall.Signal) {
	n.life.Lock()
	defer n.life.Unlock()
	if err := n.end(sig); err != nil && sig == syscall.SIGTERM {
		w.account.violation("a daemon that was told to stop ended with %v", err)
	}
	n.start(t)
}

// strangers dial a node with keys that it does not know.
func strangers(ctx context.Context, t *testing.T, n *node, times int) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Error(err)
		return
	}
	der, err := x509.CreateCertificate(nil, &x509.Certificate{SerialNumber: big.NewInt(1)}, &x509.Certificate{}, public, private)
	if err != nil {
		t.Error(err)
		return
	}
	conf := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"axon/1"}, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}}
	for range times {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		if qc, err := quic.DialAddr(ctx, n.address(), conf, nil); err == nil {
			select {
			case <-qc.Context().Done():
			case <-ctx.Done():
			}
			_ = qc.CloseWithError(0, "")
		}
		cancel()
	}
}
