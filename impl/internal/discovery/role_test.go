package discovery

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/mdns"

	"github.com/axonproto/axon/impl/internal/discovery/lantest"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
)

// roleEnv makes this test binary play one part in a network namespace:
// "discover N" runs a Discovery as somebody N; "advertise N" and "ask" use the
// server and the client of hashicorp/mdns, as another implementation might;
// "pretend N" advertises N's name with another key; "intrude" asks from an
// address of another network, then from one of the link.
const roleEnv = "AXON_DISCOVERY_ROLE"

// quick is timing for tests in real time.
var quick = timing{stale: 2 * time.Second, sweep: 250 * time.Millisecond, longest: 500 * time.Millisecond}

// report is one line of a role's output.
type report struct {
	What string // "seen", "gone", "warning" or "ready"
	ID   identity.AgentID
	Addr string
	Text string
}

func play(role string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	name, number, _ := strings.Cut(role, " ")
	n, _ := strconv.Atoi(number)
	id := somebody(n)
	var err error
	switch name {
	case "discover":
		err = playDiscover(ctx, id, 7100+n)
	case "advertise":
		err = playAdvertise(ctx, id, 7100+n, id)
	case "pretend": // to be N with somebody else's key
		err = playAdvertise(ctx, id, 7100+n, somebody(n+1))
	case "ask":
		err = playAsk(ctx)
	case "intrude":
		err = playIntrude()
	default:
		err = fmt.Errorf("no such role: %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

var printing sync.Mutex

func say(r report) {
	printing.Lock()
	defer printing.Unlock()
	_ = json.NewEncoder(os.Stdout).Encode(r)
}

// printer is a sink that prints.
type printer struct{}

func (printer) Observe(o peers.Observation) {
	say(report{What: "seen", ID: o.AgentID, Addr: o.Addr.String()})
}
func (printer) Forget(o peers.Observation) {
	say(report{What: "gone", ID: o.AgentID, Addr: o.Addr.String()})
}

// warnings prints each line of a log at level WARN and above.
type warnings struct{}

func (warnings) Write(line []byte) (int, error) {
	say(report{What: "warning", Text: strings.TrimSpace(string(line))})
	return len(line), nil
}

func playDiscover(ctx context.Context, id *identity.Identity, port int) error {
	logger := slog.New(slog.NewTextHandler(warnings{}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	d, err := New(Options{ID: id.ID, PublicKey: id.Public, Port: port, Logger: logger, timing: quick})
	if err != nil {
		return err
	}
	d.Run(ctx, printer{})
	return nil
}

func playAdvertise(ctx context.Context, id *identity.Identity, port int, key *identity.Identity) error {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return err
	}
	var ips []net.IP
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			ips = append(ips, n.IP)
		}
	}
	txt := []string{"agent_id=" + string(id.ID), "pubkey=" + identity.EncodePublicKey(key.Public)}
	zone, err := mdns.NewMDNSService("other", "_axon._udp", "local.", "other.local.", port, ips, txt)
	if err != nil {
		return err
	}
	s, err := mdns.NewServer(&mdns.Config{Zone: zone, Logger: log.New(io.Discard, "", 0)})
	if err != nil {
		return err
	}
	say(report{What: "ready"})
	<-ctx.Done()
	return s.Shutdown()
}

func playAsk(ctx context.Context) error {
	for ctx.Err() == nil {
		entries := make(chan *mdns.ServiceEntry, 64)
		err := mdns.QueryContext(ctx, &mdns.QueryParam{Service: "_axon._udp", Timeout: 500 * time.Millisecond, Entries: entries,
			DisableIPv6: true, Logger: log.New(io.Discard, "", 0)})
		if err != nil {
			return err
		}
		close(entries)
		for e := range entries {
			r := report{What: "seen", Addr: fmt.Sprintf("%s:%d", e.AddrV4, e.Port), Text: e.Name}
			for _, f := range e.InfoFields {
				if id, ok := strings.CutPrefix(f, "agent_id="); ok {
					r.ID = identity.AgentID(id)
				}
			}
			say(r)
		}
	}
	return nil
}

// The network from which nobody on the link should be asked.
const (
	foreign    = "172.30.0.1"
	foreignNet = "172.30.0.0/24"
)

func playIntrude() error {
	i, err := net.InterfaceByName("lan0")
	if err != nil {
		return err
	}
	s := segment{Name: i.Name, Index: i.Index}
	q, err := question().Pack()
	if err != nil {
		return err
	}
	ask := func(from string) (*socket, error) {
		k, err := openPrivate(s, netip.MustParseAddr(from))
		if err != nil {
			return nil, err
		}
		return k, k.write(q, netip.AddrPortFrom(group4, mdnsPort))
	}
	buf := make([]byte, maxDatagram)
	first, err := ask(foreign)
	if err != nil {
		return err
	}
	defer first.close()
	second, err := ask(lantest.Addr(1, 1))
	if err != nil {
		return err
	}
	defer second.close()
	if _, _, _, err := second.read(buf); err != nil {
		return err
	}
	say(report{What: "answered", Addr: lantest.Addr(1, 1)})
	// An answer to the first question would have come before that one.
	_ = first.conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, _, _, err := first.read(buf); err == nil {
		say(report{What: "answered", Addr: foreign})
	}
	say(report{What: "done"})
	return nil
}

// actor is a role being played in a host.
type actor struct {
	t       *testing.T
	cmd     *exec.Cmd
	reports chan report
	past    []report
}

func act(t *testing.T, h *lantest.Host, role string) *actor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := h.Command(ctx, self)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := &actor{t: t, cmd: cmd, reports: make(chan report, 1024)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(a.reports)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var r report
			if json.Unmarshal(lines.Bytes(), &r) == nil {
				a.reports <- r
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		go func() {
			for range a.reports {
			}
		}()
		<-done
		_ = cmd.Wait()
	})
	return a
}

// kill ends it as kill -9 does: nothing is taken back.
func (a *actor) kill() { _ = a.cmd.Process.Kill() }

// until waits for a report that fits and returns it.
func (a *actor) until(what string, fits func(report) bool) report {
	a.t.Helper()
	limit := time.After(ceiling)
	for {
		select {
		case r, ok := <-a.reports:
			if !ok {
				a.t.Fatalf("%s: the process ended; so far: %v", what, a.past)
			}
			a.past = append(a.past, r)
			if fits(r) {
				return r
			}
		case <-limit:
			a.t.Fatalf("%s: not in time; so far: %v", what, a.past)
		}
	}
}

func seen(id identity.AgentID, addr string) func(report) bool {
	return func(r report) bool { return r.What == "seen" && r.ID == id && (addr == "" || r.Addr == addr) }
}

func gone(id identity.AgentID, addr string) func(report) bool {
	return func(r report) bool { return r.What == "gone" && r.ID == id && r.Addr == addr }
}

// count returns how many of the reports so far fit.
func (a *actor) count(fits func(report) bool) (n int) {
	for _, r := range a.past {
		if fits(r) {
			n++
		}
	}
	return n
}
