package discovery

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"testing"

	"github.com/miekg/dns"
)

// loopback returns the machine's loopback interface, the only one that tests
// outside of private namespaces may multicast on.
func loopback(t *testing.T) string {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Skipf("no interfaces: %v", err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 && i.Flags&net.FlagUp != 0 {
			return i.Name
		}
	}
	t.Skip("there is no loopback interface that is up")
	return ""
}

// onLoopback runs a discovery over real sockets.
func onLoopback(t *testing.T, n int) *recorder {
	t.Helper()
	id := somebody(n)
	d, err := New(Options{ID: id.ID, PublicKey: id.Public, Port: 7100 + n, Interfaces: []string{loopback(t)}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); d.Run(ctx, r) }()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

func TestOverRealSockets(t *testing.T) {
	a, b := onLoopback(t, 1), onLoopback(t, 2)
	a.waitFor(t, somebody(2).ID)
	if got := b.waitFor(t, somebody(1).ID); got[0] != "127.0.0.1:7101" && got[0] != "[::1]:7101" {
		t.Errorf("seen at %v", got)
	}
}

// TestQuestionsAreAnswered asks as a plain resolver does, and as a program that
// has the mDNS port.
func TestQuestionsAreAnswered(t *testing.T) {
	r := onLoopback(t, 1)
	onLoopback(t, 2)
	r.waitFor(t, somebody(2).ID) // both run
	i, err := net.InterfaceByName(loopback(t))
	if err != nil {
		t.Fatal(err)
	}
	s := segment{Name: i.Name, Index: i.Index, Loopback: true, Prefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}}
	k, err := openPrivate(s, netip.MustParseAddr("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.close)
	q := question()
	q.Id = 4711
	if err := k.write(pack(t, q), netip.AddrPortFrom(group4, mdnsPort)); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for buf := make([]byte, maxDatagram); len(seen) < 2; {
		n, _, _, err := k.read(buf)
		if err != nil {
			t.Fatal(err)
		}
		var reply dns.Msg
		if err := reply.Unpack(buf[:n]); err != nil || reply.Id != 4711 || len(reply.Question) != 1 {
			t.Fatalf("reply %v, %v", &reply, err)
		}
		good, bad := advertsOf(&reply)
		if len(good) != 1 || len(bad) != 0 {
			t.Fatalf("reply %v", &reply)
		}
		seen[string(good[0].ID)] = true
	}
}

func TestHalfOpenInterfaceReportsItself(t *testing.T) {
	// A documentation address that no interface has: nothing can be opened.
	s := segmentOf("lo", "192.0.2.1/32", "2001:db8::1/128")
	s.Index = 1
	l := multicast{logger: slog.New(slog.DiscardHandler)}.join(s, recordsOf(t, somebody(1), 1, "192.0.2.1"), func(netip.Addr, []byte) {})
	for range 2 {
		if err := l.round(); err == nil {
			t.Error("no error though no socket could be opened")
		}
	}
	l.leave()
}
