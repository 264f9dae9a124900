package links

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// network is a fake of the transport. What dial does decides each attempt.
type network struct {
	mu     sync.Mutex
	keeper *Keeper
	dial   func(ctx context.Context, peer identity.AgentID, addrs []string) (string, error)
	up     map[identity.AgentID]transport.Connection
	dials  []time.Time
	moved  []string
	names  map[string]netip.AddrPort
}

func (n *network) Dial(ctx context.Context, peer identity.AgentID, addrs ...string) (string, error) {
	n.mu.Lock()
	n.dials = append(n.dials, time.Now())
	dial := n.dial
	n.mu.Unlock()
	addr, err := dial(ctx, peer, addrs)
	if err == nil {
		n.connect(peer, transport.Connection{Addr: addr, Dialled: true, Since: time.Now()})
	}
	return addr, err
}

func (n *network) Move(_ context.Context, peer identity.AgentID, addrs ...string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.moved = append(n.moved, addrs...)
	n.up[peer] = transport.Connection{Addr: n.names[addrs[0]].String(), Dialled: true, Since: time.Now()}
	return addrs[0], nil
}

func (n *network) Resolve(_ context.Context, addr string) ([]netip.AddrPort, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return []netip.AddrPort{n.names[addr]}, nil
}

func (n *network) Connection(peer identity.AgentID) (transport.Connection, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, ok := n.up[peer]
	return c, ok
}

func (n *network) Disconnect(peer identity.AgentID) { n.disconnect(peer) }

func (n *network) connect(peer identity.AgentID, c transport.Connection) {
	n.mu.Lock()
	n.up[peer] = c
	n.mu.Unlock()
	n.keeper.Changed(peer)
}

func (n *network) disconnect(peer identity.AgentID) {
	n.mu.Lock()
	delete(n.up, peer)
	n.mu.Unlock()
	n.keeper.Changed(peer)
}

func (n *network) set(dial func(context.Context, identity.AgentID, []string) (string, error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dial = dial
}

func (n *network) attempts() []time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.dials)
}

var errRefused = errors.New("nobody there; start it")

func refuses(context.Context, identity.AgentID, []string) (string, error) { return "", errRefused }

func first(_ context.Context, _ identity.AgentID, addrs []string) (string, error) {
	return addrs[0], nil
}

func hangs(ctx context.Context, _ identity.AgentID, _ []string) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func somebody(t *testing.T) peers.Peer {
	t.Helper()
	id, err := identity.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return peers.Peer{ID: id.ID, PublicKey: id.Public, Addr: "192.0.2.1:7100", Source: peers.Enrolled}
}

// keeper starts one that knows the given peers. Jitter is in the middle, where
// pauses are exact.
func keeper(t *testing.T, trust config.Trust, known ...peers.Peer) (*Keeper, *network) {
	t.Helper()
	book := peers.Open(peers.Options{Root: t.TempDir(), Trust: trust, Logger: slog.New(slog.DiscardHandler)})
	for _, p := range known {
		if err := book.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	k, err := New(Options{Book: book, Logger: slog.New(slog.DiscardHandler), Jitter: func() float64 { return 0.5 }})
	if err != nil {
		t.Fatal(err)
	}
	n := &network{keeper: k, dial: refuses, up: map[identity.AgentID]transport.Connection{}, names: map[string]netip.AddrPort{}}
	t.Cleanup(k.Close)
	return k, n
}

func (k *Keeper) show(t *testing.T, id identity.AgentID) Entry {
	t.Helper()
	for _, e := range k.List() {
		if e.ID == id {
			return e
		}
	}
	t.Fatalf("%s is not listed", id)
	return Entry{}
}

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := somebody(t)
		k, n := keeper(t, config.TrustAutomatic, p)
		k.Start(n)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		at := n.attempts()
		want := []int{1, 2, 4, 8, 16, 30, 30} // seconds
		for i, pause := range want {
			if got := at[i+1].Sub(at[i]); got.Seconds() != float64(pause) {
				t.Errorf("pause %d is %v, want %d s", i, got, pause)
			}
		}
		if got := k.show(t, p.ID).Status; got != Backoff {
			t.Errorf("status %s", got)
		}
		// It is there again; a connection that settles begins the row anew.
		n.set(first)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if got := k.show(t, p.ID); got.Status != Connected {
			t.Errorf("%+v", got)
		}
		time.Sleep(settled)
		before := len(n.attempts())
		lost := time.Now()
		n.disconnect(p.ID)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if at := n.attempts(); len(at) != before+1 || at[before].Sub(lost) != time.Second {
			t.Errorf("%d attempts after the loss", len(at)-before)
		}
	})
}

// TestRefusedAfterTheHandshake is how a peer that does not know us looks: each
// dial succeeds and is closed a moment later.
func TestRefusedAfterTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := somebody(t)
		k, n := keeper(t, config.TrustAutomatic, p)
		n.set(func(ctx context.Context, id identity.AgentID, addrs []string) (string, error) {
			time.AfterFunc(time.Millisecond, func() { n.disconnect(id) })
			return addrs[0], nil
		})
		k.Start(n)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := len(n.attempts()); got < 5 || got > 7 {
			t.Errorf("%d attempts in a minute", got)
		}
	})
}

func TestJitterStaysInBounds(t *testing.T) {
	for _, jitter := range []float64{0, 1} {
		k := &Keeper{o: Options{Jitter: func() float64 { return jitter }}}
		l := &link{}
		for range 10 {
			begin := time.Now()
			k.failed(l)
			if got := l.due.Sub(begin); got < 700*time.Millisecond || got > longestPause+time.Second {
				t.Errorf("jitter %v: %v", jitter, got)
			}
		}
	}
}

func TestConnectOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, blind := somebody(t), somebody(t)
		blind.Addr = ""
		k, n := keeper(t, config.TrustAutomatic, p, blind)
		k.Start(n)
		time.Sleep(10 * time.Second) // well into the pauses
		synctest.Wait()
		before := len(n.attempts())
		if err := k.Connect(t.Context(), p.ID); !errors.Is(err, errRefused) {
			t.Errorf("%v", err)
		}
		if got := len(n.attempts()); got != before+1 {
			t.Errorf("%d attempts on demand", got-before)
		}
		n.set(first)
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := k.Connect(t.Context(), p.ID); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if got := len(n.attempts()); got > before+3 {
			t.Errorf("%d attempts for two", got-before-1)
		}
		if err := k.Connect(t.Context(), blind.ID); !errors.Is(err, ErrNoAddr) {
			t.Errorf("no address: %v", err)
		}
		if err := k.Connect(t.Context(), somebody(t).ID); !errors.Is(err, ErrUnknown) {
			t.Errorf("unknown: %v", err)
		}
		if got := k.show(t, blind.ID).Status; got != Disconnected {
			t.Errorf("status %s", got)
		}
	})
}

func TestConnectEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := somebody(t)
		k, n := keeper(t, config.TrustAutomatic, p)
		n.set(hangs)
		k.Start(n)
		synctest.Wait()
		if got := k.show(t, p.ID).Status; got != Connecting {
			t.Errorf("status %s", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := k.Connect(ctx, p.ID); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		// The attempt that others wait for goes on, up to its own end.
		begin := time.Now()
		if err := k.Connect(t.Context(), p.ID); !errors.Is(err, transport.ErrPeer) || time.Since(begin) > dialTimeout {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		// A peer that dials us ends the wait.
		time.Sleep(5 * time.Second)
		time.AfterFunc(time.Second, func() { n.connect(p.ID, transport.Connection{Addr: "192.0.2.9:1", Since: time.Now()}) })
		if err := k.Connect(t.Context(), p.ID); err != nil {
			t.Error(err)
		}
		n.disconnect(p.ID)
		time.AfterFunc(time.Second, k.Close)
		if err := k.Connect(t.Context(), p.ID); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}

func TestAddAndRemoveTakeEffectAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := somebody(t)
		k, n := keeper(t, config.TrustAutomatic)
		n.set(first)
		k.Start(n)
		if err := k.Add(p); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := k.show(t, p.ID); got.Status != Connected || got.Source != peers.Enrolled {
			t.Errorf("%+v", got)
		}
		if err := k.Remove(p.ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, ok := n.Connection(p.ID); ok || len(k.List()) != 0 {
			t.Error("still there")
		}
		if err := k.Remove(p.ID); !errors.Is(err, ErrUnknown) {
			t.Errorf("%v", err)
		}
		before := len(n.attempts())
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(n.attempts()) != before {
			t.Error("the removed peer is still dialled")
		}
	})
}

func TestDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := somebody(t)
		k, n := keeper(t, config.TrustAutomatic)
		k.Start(n)
		seen := peers.Observation{AgentID: p.ID, PublicKey: p.PublicKey, Addr: netip.MustParseAddrPort("192.0.2.5:7100"), Source: peers.SourceMDNS}
		n.set(hangs)
		k.Observe(seen)
		synctest.Wait()
		if got := k.show(t, p.ID); got.Status != Connecting || got.Source != peers.Discovered || got.Addr != "192.0.2.5:7100" {
			t.Errorf("%+v", got)
		}
		k.Forget(seen)
		synctest.Wait()
		if len(k.List()) != 0 {
			t.Errorf("%+v", k.List())
		}
		n.set(first)
		k.Observe(seen)
		synctest.Wait()
		k.Proven(p.ID)
		k.Forget(seen)
		if got := k.show(t, p.ID); got.Status != Connected {
			t.Errorf("a connected peer went with its advert: %+v", got)
		}
		// A new address is tried at once, whatever the pause.
		n.set(refuses)
		n.disconnect(p.ID)
		time.Sleep(time.Minute)
		n.set(first)
		seen.Addr = netip.MustParseAddrPort("192.0.2.6:7100")
		k.Observe(seen)
		synctest.Wait()
		if got := k.show(t, p.ID); got.Status != Connected {
			t.Errorf("%+v", got)
		}
	})
}

func TestCandidates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := somebody(t)
		k, n := keeper(t, config.TrustEnroll)
		var told []peers.Peer
		k.o.Candidate = func(p peers.Peer) { told = append(told, p) }
		n.set(first)
		k.Start(n)
		seen := peers.Observation{AgentID: p.ID, PublicKey: p.PublicKey, Addr: netip.MustParseAddrPort("192.0.2.5:7100"), Source: peers.SourceMDNS}
		k.Observe(seen)
		k.Observe(seen)
		synctest.Wait()
		if got := k.show(t, p.ID); !got.Candidate || got.Status != Discovered || len(n.attempts()) != 0 {
			t.Errorf("%+v", got)
		}
		if len(told) != 1 || told[0].Addr != "192.0.2.5:7100" {
			t.Errorf("told of %+v", told)
		}
		if err := k.Connect(t.Context(), p.ID); !errors.Is(err, ErrCandidate) {
			t.Errorf("%v", err)
		}
		found, _ := k.o.Book.Lookup(p.ID)
		found.Source, found.Candidate = peers.Enrolled, false
		if err := k.Add(found); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := k.show(t, p.ID); got.Status != Connected || got.Source != peers.Enrolled {
			t.Errorf("%+v", got)
		}
	})
}

func TestFollowsAHostName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := somebody(t)
		p.Addr = "peer.example:7100"
		k, n := keeper(t, config.TrustAutomatic, p)
		n.names[p.Addr] = netip.MustParseAddrPort("192.0.2.1:7100")
		n.set(func(_ context.Context, id identity.AgentID, addrs []string) (string, error) { return addrs[0], nil })
		k.Start(n)
		synctest.Wait()
		n.connect(p.ID, transport.Connection{Addr: "192.0.2.1:7100", Dialled: true, Since: time.Now()})
		time.Sleep(2 * resolveInterval)
		synctest.Wait()
		if len(n.moved) != 0 {
			t.Error("moved without a reason")
		}
		n.mu.Lock()
		n.names[p.Addr] = netip.MustParseAddrPort("192.0.2.2:7100")
		n.mu.Unlock()
		time.Sleep(resolveInterval + time.Second)
		synctest.Wait()
		if len(n.moved) != 1 || n.moved[0] != p.Addr {
			t.Errorf("moved to %v", n.moved)
		}
	})
}
