package soak

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/client"
)

var (
	duration = flag.Duration("for", 4*time.Second, "how long the load lasts")
	seed     = flag.Uint64("seed", 0, "seed of what goes wrong; 0: any")
)

// What is left when the load is over.
const (
	// mostGoroutines of a daemon with two peers and no clients.
	mostGoroutines = 64
	// mostResident in kB, at any time: three times what a quiet daemon takes.
	mostResident = 96 << 10
	// moreDescriptors than at the beginning.
	moreDescriptors = 4
	// recovery is the longest that anything takes after the last fault: the back-off
	// of a dialer, or the idle time-out of a connection whose other end is gone.
	recovery = 60 * time.Second
)

func (n *node) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(n.port)) }

// world is all that runs.
type world struct {
	nodes   []*node
	links   []*link
	account *account
	die     chan struct{}
	most    time.Duration // of a spell
}

func (w *world) any(r *rand.Rand) *node { return w.nodes[r.IntN(len(w.nodes))] }

// spell is how long something stays wrong.
func (w *world) spell(r *rand.Rand) time.Duration { return time.Duration(1 + r.Int64N(int64(w.most))) }

// newWorld starts three daemons that know each other.
func newWorld(t *testing.T) *world {
	w := &world{account: newAccount(), die: make(chan struct{}), most: min(*duration/10, 70*time.Second)}
	for range 3 {
		n := newNode(t)
		n.start(t)
		t.Cleanup(func() { _ = n.end(syscall.SIGKILL) })
		w.nodes = append(w.nodes, n)
	}
	for i, n := range w.nodes {
		peers := map[*node]*link{}
		for j, other := range w.nodes {
			if i != j {
				peers[other] = newLink(t, other)
				w.links = append(w.links, peers[other])
			}
		}
		n.configure(t, peers)
	}
	for _, n := range w.nodes {
		_ = n.end(syscall.SIGTERM)
		n.start(t)
	}
	return w
}

// pairs calls f for each two nodes.
func (w *world) pairs(f func(from, to *node)) {
	for _, from := range w.nodes {
		for _, to := range w.nodes {
			if from != to {
				f(from, to)
			}
		}
	}
}

// reachable asks each peer of each node until it answers.
func (w *world) reachable(t *testing.T, d time.Duration) {
	t.Helper()
	w.pairs(func(from, to *node) {
		if err := within(d, func(ctx context.Context) error { return once(ctx, from, to) }); err != nil {
			t.Errorf("%s still cannot ask %s: %v", from.self.AgentID, to.self.AgentID, err)
		}
	})
}

func once(ctx context.Context, from, to *node) error {
	c, err := client.Dial(ctx, client.Options{StateRoot: from.root})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Request(ctx, to.self.AgentID, payload(barrier, 0), client.SendOptions{Timeout: 2 * time.Second})
	if errors.As(err, new(*client.RemoteError)) {
		return nil // it was reached
	}
	return err
}

func TestSoak(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64N(1 << 32)
	}
	t.Logf("seed %d: repeat it with -args -for %s -seed %d", *seed, *duration, *seed)
	r := rand.New(rand.NewPCG(*seed, 0))
	w := newWorld(t)
	w.reachable(t, recovery)
	var atFirst []int
	for _, n := range w.nodes {
		atFirst = append(atFirst, n.descriptors())
	}

	load, stop := context.WithCancel(context.Background())
	defer stop()
	var callers, servers sync.WaitGroup
	w.pairs(func(from, to *node) {
		for range 4 {
			callers.Go(func() { w.account.ask(load, from, to) })
		}
	})
	serving, stopServing := context.WithCancel(context.Background())
	defer stopServing()
	for _, n := range w.nodes {
		servers.Go(func() { w.account.serve(serving, n, w.die) })
		servers.Go(func() { w.account.watch(serving, n) })
	}
	happened := w.trouble(load, t, r)
	stop()
	callers.Wait()

	w.reachable(t, recovery)
	stopServing()
	servers.Wait()
	w.account.judge()
	t.Logf("what went wrong: %s\n%s", happened, w.account)
	for _, what := range w.account.wrong {
		t.Error(what)
	}
	if w.account.answered == 0 || len(w.account.shown) == 0 {
		t.Error("nothing was answered, or no message was shown: this run shows nothing")
	}
	for i, n := range w.nodes {
		n.left(t, atFirst[i])
	}
}

// trouble lets one thing after the other go wrong while the load lasts, and tells what.
func (w *world) trouble(ctx context.Context, t *testing.T, r *rand.Rand) string {
	counts := map[string]int{}
	order := r.Perm(len(faults))
	for end, i := time.Now().Add(*duration), 0; time.Now().Before(end); i++ {
		// Each of them once, then any.
		f := faults[order[i%len(order)]]
		if i >= len(order) {
			f = faults[r.IntN(len(faults))]
		}
		counts[f.name]++
		f.do(ctx, t, w, r)
		for _, n := range w.nodes {
			n.peak = max(n.peak, n.status("VmHWM"))
		}
		pause(ctx, time.Duration(r.Int64N(int64(w.most))))
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d times", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

// left ends a daemon that has nothing to do any more, and looks at what it still held.
func (n *node) left(t *testing.T, descriptors int) {
	t.Helper()
	err := within(recovery, func(context.Context) error {
		if now := n.descriptors(); now > descriptors+moreDescriptors {
			return fmt.Errorf("%d descriptors are open, and %d were at the beginning", now, descriptors)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	resident := n.status("VmRSS")
	if n.peak > mostResident {
		t.Errorf("%d MB were resident, want at most %d", n.peak>>10, mostResident>>10)
	}
	count, dump := n.goroutines()
	if count == 0 || count > mostGoroutines {
		t.Errorf("%d goroutines, want at most %d and some:\n%s", count, mostGoroutines, dump)
	}
	t.Logf("%s: %d MB resident at the end, %d at most; %d goroutines", n.self.AgentID, resident>>10, n.peak>>10, count)
}
