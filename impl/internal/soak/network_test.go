package soak

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/internal/discovery/lantest"
)

var long = flag.Bool("long", false, "try what takes minutes as well")

// pair is two daemons, each on a machine of its own as far as the network goes, with a
// cable between them. The second one dials the first.
type pair struct {
	*account
	t       *testing.T
	hosts   [2]*lantest.Host
	nodes   [2]*node
	stop    context.CancelFunc
	serving sync.WaitGroup
}

const (
	cable = 9
	wire  = "wire0"
)

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{account: newAccount(), t: t}
	p.hosts[0], p.hosts[1] = lantest.Hosts(t)
	lantest.Join(p.hosts[0], p.hosts[1], wire, cable)
	for i, h := range p.hosts {
		p.nodes[i] = newNode(t)
		p.nodes[i].within = func(path string, args ...string) *exec.Cmd { return h.Command(context.Background(), path, args...) }
	}
	p.begin(func() {
		p.nodes[0].know(t, map[*node]string{p.nodes[1]: ""})
		p.nodes[1].know(t, map[*node]string{p.nodes[0]: net.JoinHostPort(lantest.Addr(cable, 0), strconv.Itoa(p.nodes[0].port))})
	})
	return p
}

// proxied is a pair on loopback, of which the second dials the first through a link.
func proxied(t *testing.T) (*pair, *link) {
	t.Helper()
	p := &pair{account: newAccount(), t: t, nodes: [2]*node{newNode(t), newNode(t)}}
	l := newLink(t, p.nodes[0])
	p.begin(func() {
		p.nodes[0].configure(t, map[*node]*link{p.nodes[1]: nil})
		p.nodes[1].configure(t, map[*node]*link{p.nodes[0]: l})
	})
	return p, l
}

// begin starts the daemons, lets them know each other once it is known who they are, and
// puts a handler and an observer behind each.
func (p *pair) begin(introduce func()) {
	p.t.Helper()
	for _, n := range p.nodes {
		n.start(p.t)
		p.t.Cleanup(func() { _ = n.end(syscall.SIGKILL) })
	}
	introduce()
	for _, n := range p.nodes {
		_ = n.end(syscall.SIGTERM)
		n.start(p.t)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	for _, n := range p.nodes {
		p.serving.Go(func() { p.serve(ctx, n, nil) })
		p.serving.Go(func() { p.watch(ctx, n) })
	}
	p.t.Cleanup(func() { p.stop(); p.serving.Wait() })
	p.recovers()
}

// recovers waits until each of the two can ask the other, and tells how long it took.
func (p *pair) recovers() time.Duration {
	p.t.Helper()
	began := time.Now()
	for i, from := range p.nodes {
		if err := within(recovery, func(ctx context.Context) error { return once(ctx, from, p.nodes[1-i]) }); err != nil {
			p.t.Errorf("daemon %d cannot ask the other again: %v", i, err)
		}
	}
	return time.Since(began)
}

// load has both sides ask for a while.
func (p *pair) load(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var callers sync.WaitGroup
	for i, from := range p.nodes {
		for range 4 {
			callers.Go(func() { p.account.ask(ctx, from, p.nodes[1-i]) })
		}
	}
	callers.Wait()
}

// settle looks at the account, of which least requests have to have been answered.
func (p *pair) settle(least float64) {
	p.t.Helper()
	p.judge()
	p.t.Log(p.account)
	for _, what := range p.wrong {
		p.t.Error(what)
	}
	cancelled := p.failed["the caller gave up"]
	if done := p.answered + p.declined; done == 0 || float64(done) < least*float64(p.sent-cancelled) {
		p.t.Errorf("only %d of %d requests were answered", done, p.sent-cancelled)
	}
}

// drop has both hosts lose part of what comes in over the cable, in per cent; 0 ends it.
func (p *pair) drop(percent int) {
	p.t.Helper()
	rules := "table inet trouble {}\ndelete table inet trouble\n"
	if percent > 0 {
		which := fmt.Sprintf("numgen random mod 100 < %d", percent)
		if percent == 100 {
			which = ""
		}
		rules = fmt.Sprintf("table inet trouble {\n\tchain in {\n\t\ttype filter hook input priority 0\n\t\tiifname %q %s drop\n\t}\n}\n", wire, which)
	}
	for _, h := range p.hosts {
		cmd := h.Command(context.Background(), "nft", "-f", "-")
		cmd.Stdin = strings.NewReader(rules)
		if out, err := cmd.CombinedOutput(); err != nil {
			p.t.Fatalf("nft: %s", out)
		}
	}
}

func needsNFT(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("nft"); err != nil {
		if os.Getenv("AXON_REQUIRE_NETNS") != "" {
			t.Fatal("the nft command is missing; install nftables")
		}
		t.Skip("the nft command is missing; install nftables to include this test")
	}
}

// TestLoss: what is lost on the way is sent again, and nobody sees it twice.
func TestLoss(t *testing.T) {
	needsNFT(t)
	for percent, least := range map[int]float64{1: 1, 5: 1, 20: 0.5} {
		t.Run(fmt.Sprintf("%d per cent", percent), func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			p.drop(percent)
			p.load(4 * time.Second)
			p.drop(0)
			p.recovers()
			p.settle(least)
		})
	}
}

// TestPartition: while nothing gets through, each request fails within its time; after
// that both sides find each other by themselves.
func TestPartition(t *testing.T) {
	needsNFT(t)
	for name, d := range map[string]time.Duration{"short": 5 * time.Second, "longer than a connection lives": 90 * time.Second} {
		t.Run(name, func(t *testing.T) {
			if d > time.Minute && !*long {
				t.Skip("takes two minutes: run it with -args -long")
			}
			t.Parallel()
			p := newPair(t)
			p.drop(100)
			p.load(d)
			p.drop(0)
			t.Logf("it took %s until both could ask again", p.recovers().Round(time.Millisecond))
			p.load(time.Second)
			p.settle(0)
			if n := p.failed[""]; n > 0 {
				t.Errorf("%d requests failed without a reason", n)
			}
		})
	}
}

// TestSmallPackets: a path that carries no larger packets than 1,280 bytes, the least
// that QUIC allows for.
func TestSmallPackets(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	// The connections are there already, and may have found out that more fits.
	for _, h := range p.hosts {
		h.IP("link", "set", wire, "mtu", "1280")
	}
	p.load(3 * time.Second)
	p.settle(1)
	_ = p.nodes[1].end(syscall.SIGTERM)
	p.nodes[1].start(t)
	p.recovers()
	p.load(time.Second)
	p.settle(0.9)
}

// TestAddressChanges: a peer that gets another address keeps its connection.
func TestAddressChanges(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	before := p.log(0)
	second := p.hosts[1]
	for i := 3; i <= 5; i++ {
		done := make(chan struct{})
		go func() { defer close(done); p.load(1500 * time.Millisecond) }()
		time.Sleep(500 * time.Millisecond) // amid the load
		// For a moment it has none, and no way to anywhere.
		second.IP("address", "delete", fmt.Sprintf("10.77.%d.%d/24", cable, i-1), "dev", wire)
		time.Sleep(50 * time.Millisecond)
		second.IP("address", "add", fmt.Sprintf("10.77.%d.%d/24", cable, i), "dev", wire)
		<-done
	}
	t.Logf("it took %s until both could ask again", p.recovers().Round(time.Millisecond))
	if events := p.log(0)[len(before):]; strings.Contains(events, "peer disconnected") || strings.Contains(events, "peer connected") {
		t.Errorf("the connection was lost:\n%s", events)
	}
	p.settle(0.9)
}

// TestPackets: they overtake each other, come twice, or take long.
func TestPackets(t *testing.T) {
	for name, trouble := range map[string]func(*link){
		"overtake each other": func(l *link) { l.delay.Store(int64(50 * time.Millisecond)) },
		"come twice":          func(l *link) { l.double.Store(true) },
		"take 300 ms":         func(l *link) { l.steady.Store(int64(300 * time.Millisecond)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, l := proxied(t)
			p.timeout = 15 * time.Second // a long body takes several round trips
			trouble(l)
			p.load(3 * time.Second)
			p.settle(0.95)
		})
	}
}

func (p *pair) log(which int) string {
	text, err := os.ReadFile(p.nodes[which].log)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}
