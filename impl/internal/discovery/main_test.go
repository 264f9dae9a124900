package discovery

import (
	"crypto/ed25519"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role)) // a process of its own in a network namespace
	}
	goleak.VerifyTestMain(m)
}

// ceiling ends a test that hangs; no passing test waits for it.
const ceiling = 20 * time.Second

// somebody returns the n-th of a row of fixed identities.
func somebody(n int) *identity.Identity {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, strconv.Itoa(n))
	id, err := identity.New(seed)
	if err != nil {
		panic(err)
	}
	return id
}

// recorder is a sink that keeps what it is told.
type recorder struct {
	mu    sync.Mutex // guards the rest
	here  []peers.Observation
	count int // of calls of Observe
	lost  []peers.Observation
	news  chan struct{} // gets something after each call, when it has room
}

func newRecorder() *recorder { return &recorder{news: make(chan struct{}, 1)} }

func (r *recorder) Observe(o peers.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	if !slices.ContainsFunc(r.here, func(h peers.Observation) bool { return same(h, o) }) {
		r.here = append(r.here, o)
	}
	r.signal()
}

func (r *recorder) Forget(o peers.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.here = slices.DeleteFunc(r.here, func(h peers.Observation) bool { return same(h, o) })
	r.lost = append(r.lost, o)
	r.signal()
}

func (r *recorder) signal() {
	select {
	case r.news <- struct{}{}:
	default:
	}
}

func same(a, b peers.Observation) bool {
	return a.AgentID == b.AgentID && a.Addr == b.Addr && a.Source == b.Source
}

// addrs returns where an agent is seen at the moment.
func (r *recorder) addrs(id identity.AgentID) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, o := range r.here {
		if o.AgentID == id {
			list = append(list, o.Addr.String())
		}
	}
	return list
}

func (r *recorder) total() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.here)
}

// waitFor waits until an agent is seen, in real time.
func (r *recorder) waitFor(t testing.TB, id identity.AgentID) []string {
	t.Helper()
	limit := time.After(ceiling)
	for {
		if list := r.addrs(id); len(list) > 0 {
			return list
		}
		select {
		case <-r.news:
		case <-limit:
			t.Fatalf("%s was not seen in time", id)
		}
	}
}

// recordsOf makes the records of an identity as its own daemon would.
func recordsOf(t testing.TB, id *identity.Identity, port int, addrs ...string) *own {
	t.Helper()
	var list []netip.Addr
	for _, a := range addrs {
		list = append(list, netip.MustParseAddr(a))
	}
	w, err := newOwn(&Options{ID: id.ID, PublicKey: id.Public, Port: port}, list)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func pack(t testing.TB, m *dns.Msg) []byte {
	t.Helper()
	data, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// advertisement is a datagram that announces an identity.
func advertisement(t testing.TB, id *identity.Identity, port int, addrs ...string) []byte {
	t.Helper()
	return pack(t, recordsOf(t, id, port, addrs...).announcement(false))
}
