package discovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// running is a Discovery under test inside a bubble of fake time.
type running struct {
	*recorder
	d    *Discovery
	log  *bytes.Buffer // read it in a settled bubble only
	stop func()
}

func run(t *testing.T, n int, m medium) *running {
	t.Helper()
	id := somebody(n)
	r := &running{recorder: newRecorder(), log: &bytes.Buffer{}}
	d, err := New(Options{ID: id.ID, PublicKey: id.Public, Port: 7100 + n, medium: m,
		Logger: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	r.d = d
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); d.Run(ctx, r) }()
	r.stop = func() { cancel(); <-done }
	t.Cleanup(r.stop)
	return r
}

// pass lets the bubble's time go by, which takes no real time, and everything
// settle.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestFreshDaemonsFindEachOtherAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNet()
		a, b := run(t, 1, n.daemon("a", "192.0.2.1/24")), run(t, 2, n.daemon("b", "192.0.2.2/24"))
		synctest.Wait()
		if got := a.addrs(somebody(2).ID); !slices.Equal(got, []string{"192.0.2.2:7102"}) {
			t.Errorf("the first sees the second at %v", got)
		}
		if got := b.addrs(somebody(1).ID); !slices.Equal(got, []string{"192.0.2.1:7101"}) {
			t.Errorf("the second sees the first at %v", got)
		}
		if len(a.addrs(somebody(1).ID)) != 0 {
			t.Error("a daemon discovered itself")
		}
		pass(time.Hour)
		if a.total() != 1 || len(a.lost) != 0 {
			t.Errorf("after an hour: %d here, lost %v", a.total(), a.lost)
		}
		if a.count < 200 || a.count > 400 {
			t.Errorf("reported %d times in an hour", a.count)
		}
	})
}

func TestPausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeNet().daemon("a", "192.0.2.1/24")
		start := time.Now()
		run(t, 1, m)
		synctest.Wait()
		for _, step := range []struct {
			until time.Duration
			least int
		}{{0, 1}, {time.Second, 2}, {3 * time.Second, 3}, {7 * time.Second, 4}, {15 * time.Second, 5}} {
			pass(step.until - time.Since(start))
			if got := m.count(&m.rounds); got < step.least || got > step.least+1 {
				t.Errorf("%d rounds after %s, want %d", got, step.until, step.least)
			}
		}
		before := m.count(&m.rounds)
		pass(time.Hour)
		if got := m.count(&m.rounds) - before; got < 240 || got > 270 {
			t.Errorf("%d rounds in an hour", got)
		}
	})
}

func TestSilentPeerGoesStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNet()
		a := run(t, 1, n.daemon("a", "192.0.2.1/24"))
		run(t, 2, n.daemon("b", "192.0.2.2/24"))
		run(t, 3, n.daemon("c", "192.0.2.3/24"))
		pass(10 * time.Minute)
		silence := time.Now()
		n.mu.Lock()
		n.cut["b"] = true
		n.mu.Unlock()
		pass(defaultTiming.stale - defaultTiming.longest)
		if a.total() != 2 {
			t.Errorf("%d peers after %s of silence", a.total(), time.Since(silence))
		}
		pass(defaultTiming.longest + defaultTiming.sweep)
		if got := a.addrs(somebody(2).ID); len(got) != 0 || a.total() != 1 {
			t.Errorf("silent for %s and still at %v; %d peers", time.Since(silence), got, a.total())
		}
		if len(a.lost) != 1 || a.lost[0].Addr.String() != "192.0.2.2:7102" {
			t.Errorf("forgotten: %v", a.lost)
		}
		n.mu.Lock()
		n.cut["b"] = false
		n.mu.Unlock()
		pass(defaultTiming.longest)
		if a.total() != 2 {
			t.Error("it is not seen again")
		}
	})
}

func TestOneLostAddressLeavesTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNet()
		m := n.daemon("a", "192.0.2.1/24")
		m.have = append(m.have, segmentOf("eth1", "198.51.100.1/24"))
		a := run(t, 1, m)
		other := n.daemon("b", "192.0.2.2/24")
		other.have = append(other.have, segmentOf("eth1", "198.51.100.2/24"))
		run(t, 2, other)
		pass(time.Minute)
		id := somebody(2).ID
		if got := a.addrs(id); len(got) != 2 {
			t.Fatalf("seen at %v", got)
		}
		other.change(func() { other.have = other.have[1:] })
		pass(defaultTiming.stale + 2*defaultTiming.sweep)
		if got := a.addrs(id); !slices.Equal(got, []string{"198.51.100.2:7102"}) {
			t.Errorf("seen at %v", got)
		}
	})
}

func TestInterfacesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNet()
		m := n.daemon("a", "192.0.2.1/24")
		late := m.have
		m.have = nil
		a := run(t, 1, m)
		run(t, 2, n.daemon("b", "192.0.2.2/24"))
		pass(time.Hour)
		if got := strings.Count(a.log.String(), "\n"); got != 1 || !strings.Contains(a.log.String(), "level=WARN") {
			t.Errorf("an hour without an interface gave %d lines:\n%s", got, a.log)
		}
		m.change(func() { m.have = late })
		pass(defaultTiming.sweep)
		if a.total() != 1 {
			t.Error("the peer on the new interface was not found with its first scan")
		}
		if !strings.Contains(a.log.String(), "discovery works now") {
			t.Errorf("log:\n%s", a.log)
		}
		m.change(func() { m.have = []segment{segmentOf("eth0", "192.0.2.77/24")} })
		pass(defaultTiming.sweep)
		if m.joined != 2 || m.closed != 1 {
			t.Errorf("after a new address: joined %d, left %d", m.joined, m.closed)
		}
		a.stop()
		if m.closed != 2 {
			t.Errorf("left %d links of %d at the end", m.closed, m.joined)
		}
	})
}

func TestNoMulticastWarnsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeNet().daemon("a", "192.0.2.1/24")
		m.broken = errNoMulticast
		a := run(t, 1, m)
		for range 100 { // it comes and goes
			pass(time.Minute)
			m.change(func() { m.broken = nil })
			pass(time.Minute)
			m.change(func() { m.broken = errNoMulticast })
		}
		lines := strings.Split(strings.TrimSpace(a.log.String()), "\n")
		if got := strings.Count(a.log.String(), "level=WARN"); got != 1 {
			t.Errorf("%d warnings", got)
		}
		if !strings.Contains(a.log.String(), errNoMulticast.Error()) {
			t.Error("the reason is not told")
		}
		seen := map[string]bool{}
		for _, line := range lines { // the time has milliseconds: cut to seconds
			key := line[:len("time=2000-01-01T00:00:00")] + line[strings.Index(line, " "):]
			if seen[key] {
				t.Errorf("twice in a second: %s", line)
			}
			seen[key] = true
		}
	})
}

// hear hands a datagram to the only link of a daemon.
func (m *fakeMedium) hear(from string, data []byte) {
	m.net.mu.Lock()
	l := m.net.links[0]
	m.net.mu.Unlock()
	l.receive(netip.MustParseAddr(from), data)
}

func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeNet().daemon("a", "192.0.2.1/24")
		a := run(t, 0, m)
		synctest.Wait()
		for n := 1; n <= maxPeers+500; n++ {
			m.hear("192.0.2.2", advertisement(t, somebody(n), 7100, "192.0.2.2"))
			synctest.Wait()
		}
		if a.total() != maxPeers || len(a.d.table.peers) != maxPeers {
			t.Errorf("%d reported, %d remembered", a.total(), len(a.d.table.peers))
		}
		if got := strings.Count(a.log.String(), "too many daemons"); got != 1 {
			t.Errorf("said %d times", got)
		}
		for port := 1; port <= maxObservations+20; port++ {
			m.hear("192.0.2.2", advertisement(t, somebody(1), port, "192.0.2.2"))
			synctest.Wait()
		}
		if got := len(a.addrs(somebody(1).ID)); got != maxObservations {
			t.Errorf("%d addresses of one peer", got)
		}
		pass(defaultTiming.stale + defaultTiming.sweep)
		if a.total() != 0 || len(a.d.table.peers) != 0 {
			t.Errorf("afterwards: %d reported, %d remembered", a.total(), len(a.d.table.peers))
		}
	})
}

func TestOnlyTheLinkIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeNet().daemon("a", "192.0.2.1/24")
		a := run(t, 0, m)
		synctest.Wait()
		m.hear("203.0.113.5", advertisement(t, somebody(1), 7100, "203.0.113.5"))
		m.hear("192.0.2.9", advertisement(t, somebody(2), 7100, "127.0.0.1"))
		m.hear("192.0.2.9", []byte("junk"))
		m.hear("192.0.2.9", advertisement(t, somebody(3), 7100, "192.0.2.9"))
		synctest.Wait()
		if a.total() != 1 || len(a.addrs(somebody(3).ID)) != 1 {
			t.Errorf("seen: %v", a.here)
		}
	})
}

// TestDistantAddressWaits holds what a host on two interfaces causes: an answer
// with the addresses of the wrong one comes first.
func TestDistantAddressWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeNet().daemon("a", "192.0.2.1/24")
		a := run(t, 0, m)
		synctest.Wait()
		wrong := advertisement(t, somebody(1), 7100, "198.51.100.2")
		m.hear("192.0.2.2", wrong)
		m.hear("192.0.2.2", advertisement(t, somebody(1), 7100, "192.0.2.2"))
		pass(3 * time.Second)
		m.hear("192.0.2.2", wrong)
		synctest.Wait()
		if got := a.addrs(somebody(1).ID); fmt.Sprint(got) != "[192.0.2.2:7100]" {
			t.Errorf("seen at %v", got)
		}
		repeated := advertisement(t, somebody(2), 7100, "198.51.100.9")
		m.hear("192.0.2.3", repeated)
		synctest.Wait()
		if a.total() != 1 {
			t.Error("taken at once")
		}
		pass(2 * time.Second)
		m.hear("192.0.2.3", repeated)
		synctest.Wait()
		if got := a.addrs(somebody(2).ID); fmt.Sprint(got) != "[198.51.100.9:7100]" {
			t.Errorf("seen through a repeater at %v", got)
		}
	})
}

func TestNewChecksOptions(t *testing.T) {
	id, other := somebody(1), somebody(2)
	good := Options{ID: id.ID, PublicKey: id.Public, Port: 7100, Logger: slog.New(slog.DiscardHandler)}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(*Options){
		"no logger":     func(o *Options) { o.Logger = nil },
		"another's key": func(o *Options) { o.PublicKey = other.Public },
		"no key":        func(o *Options) { o.PublicKey = nil },
		"port 0":        func(o *Options) { o.Port = 0 },
		"port too high": func(o *Options) { o.Port = 65536 },
	} {
		o := good
		f(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	good.Host = netip.MustParseAddr("127.0.0.1")
	if _, err := New(good); !errors.Is(err, ErrOnlyLocal) {
		t.Errorf("bound to loopback: %v", err)
	}
	good.Interfaces = []string{"lo"}
	if _, err := New(good); err != nil {
		t.Errorf("bound to loopback and told to use it: %v", err)
	}
}
