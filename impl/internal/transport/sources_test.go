package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
)

func sourceAt(text string) netip.Prefix {
	return sourceOf(net.UDPAddrFromAddrPort(netip.MustParseAddrPort(text)))
}

func TestSourceOf(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1:1", "192.0.2.1:2", true},
		{"192.0.2.1:1", "[::ffff:192.0.2.1]:2", true},
		{"192.0.2.1:1", "192.0.2.2:1", false},
		{"[2001:db8::1]:1", "[2001:db8::ffff:1]:1", true},
		{"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		{"[fe80::1%a]:1", "[fe80::1%b]:1", true},
	} {
		if got := sourceAt(c.a) == sourceAt(c.b); got != c.same {
			t.Errorf("%s and %s are the same source: %v, want %v", c.a, c.b, got, c.same)
		}
	}
}

func TestSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a, b := newSources(failedBurst, failedRate), sourceAt("192.0.2.1:1"), sourceAt("192.0.2.2:1")
		spend := func(n int) (got int) {
			for range n {
				if s.begin(a) {
					got++
				}
			}
			return got
		}
		if got := spend(failedBurst / 2); got != failedBurst/2 || s.suspect(a) {
			t.Fatalf("after half of the share: %d begun, suspect %v", got, s.suspect(a))
		}
		if got := spend(2 * failedBurst); got != failedBurst/2 || !s.suspect(a) {
			t.Fatalf("with all of the share used: %d more begun, suspect %v", got, s.suspect(a))
		}
		if !s.begin(b) || s.suspect(b) {
			t.Error("another source suffers")
		}
		time.Sleep(time.Second)
		if got := spend(2 * failedBurst); got != failedRate {
			t.Errorf("%d begun after a second, want %d", got, failedRate)
		}
		time.Sleep(time.Minute)
		// Those whose peers are let in are not counted.
		for range 10 * failedBurst {
			if !s.begin(a) {
				t.Fatal("a peer was refused that had been let in before")
			}
			s.succeeded(a)
		}
	})
}

func TestSourcesAreBounded(t *testing.T) {
	s := newSources(failedBurst, failedRate)
	for i := range 3 * maxSources {
		s.begin(sourceAt(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)))
	}
	if n := len(s.buckets); n > maxSources {
		t.Errorf("%d addresses are remembered, want at most %d", n, maxSources)
	}
}

// TestStrangersAreRefusedCheaply: a stranger that keeps dialling is refused before its
// key is looked at, and neither those that are connected nor those elsewhere notice.
func TestStrangersAreRefusedCheaply(t *testing.T) {
	ctx := testContext(t)
	own, peer, stranger := newIdentity(t), newIdentity(t), newIdentity(t)
	e, _ := listen(t, own, pinned(peer), nil)
	connected := newRemote(t).mustDial(ctx, e, peer)

	// Nothing comes back while the test goes on, however slow the machine is.
	e.sources.mu.Lock()
	e.sources.rate = 0
	e.sources.mu.Unlock()

	front, conf := newRemote(t), remoteTLS(t, stranger)
	for i := range 2 * failedBurst {
		var end *quic.TransportError
		if err := front.knock(ctx, e, conf); !errors.As(err, &end) {
			t.Fatalf("stranger %d: %v, want a refusal", i, err)
		}
		if end.ErrorCode == quic.ConnectionRefused {
			break
		}
		if i == 2*failedBurst-1 {
			t.Fatalf("after %d failed handshakes it is still %v", i, end)
		}
	}
	alive(t, ctx, connected)
	if _, err := front.dial(ctx, e, remoteTLS(t, peer)); err == nil {
		t.Error("the address that used up its share was served")
	}
	there := net.IPv4(127, 0, 0, 2)
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: there})
	if err != nil {
		t.Skipf("this machine has no second address: %v", err)
	}
	elsewhere := &quic.Transport{Conn: udp}
	t.Cleanup(func() { _ = elsewhere.Close(); _ = udp.Close() })
	alive(t, ctx, (&remote{t, elsewhere}).mustDial(ctx, e, peer))
}

// knock dials and waits for the end of the connection: a dialer may be through before
// it is judged.
func (r *remote) knock(ctx context.Context, e *Endpoint, conf *tls.Config) error {
	qc, err := r.dial(ctx, e, conf)
	if err != nil {
		return err
	}
	select {
	case <-qc.Context().Done():
		return context.Cause(qc.Context())
	case <-ctx.Done():
		return ctx.Err()
	}
}
