package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	quicproxy "github.com/quic-go/quic-go/integrationtests/tools/proxy"

	"github.com/axonproto/axon/impl/cli"
	"github.com/axonproto/axon/impl/client"
)

// childArgument makes the test's program axon.
const childArgument = "axon"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArgument {
		os.Exit(cli.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// node is a daemon, over all its lives.
type node struct {
	root, log string
	port      int
	self      client.Self // but for the uptime
	// within makes the daemon's command one that runs elsewhere on the network, where it
	// listens on all addresses; nil: here, on loopback.
	within func(path string, args ...string) *exec.Cmd
	more   []string // arguments

	life sync.Mutex // held by whoever ends and begins a life
	mu   sync.Mutex // guards the rest
	cmd  *exec.Cmd
	peak int // kB resident
}

func newNode(t *testing.T) *node {
	t.Helper()
	// A socket's path is short: the usual folder for tests may be too deep.
	root, err := os.MkdirTemp("", "soak") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	n := &node{root: root, log: filepath.Join(t.TempDir(), "log"), port: freePort(t)}
	t.Cleanup(func() {
		if t.Failed() {
			text, _ := os.ReadFile(n.log)
			t.Logf("the end of the log of %s:\n%s", n.self.AgentID, text[max(0, len(text)-4000):])
		}
	})
	return n
}

func freePort(t *testing.T) int {
	t.Helper()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	return udp.LocalAddr().(*net.UDPAddr).Port
}

// start begins a life and waits until the local API answers. It may be called from any
// goroutine.
func (n *node) start(t *testing.T) {
	t.Helper()
	if err := n.begin(); err != nil {
		t.Errorf("the daemon did not start: %v", err)
	}
}

func (n *node) begin() error {
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{childArgument, "daemon", "--state-root", n.root, "--port", strconv.Itoa(n.port), "--disable-mdns"}
	args = append(args, n.more...)
	cmd := exec.Command(os.Args[0], append(args, "--listen", "127.0.0.1")...)
	if n.within != nil {
		cmd = n.within(os.Args[0], args...)
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return err
	}
	n.mu.Lock()
	n.cmd = cmd
	n.mu.Unlock()
	return within(30*time.Second, func(ctx context.Context) error {
		c, err := client.Dial(ctx, client.Options{StateRoot: n.root})
		if err != nil {
			return err
		}
		defer c.Close()
		self, err := c.WhoAmI(ctx)
		if n.self.AgentID == "" {
			n.self = self // in its first life, of which nobody knows yet
		}
		return err
	})
}

// end ends a life by a signal and waits for the process. It returns how it ended.
func (n *node) end(sig syscall.Signal) error {
	n.mu.Lock()
	cmd := n.cmd
	n.cmd = nil
	n.mu.Unlock()
	if cmd == nil {
		return nil
	}
	_ = cmd.Process.Signal(sig)
	return cmd.Wait()
}

func (n *node) signal(sig syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd != nil {
		_ = n.cmd.Process.Signal(sig)
	}
}

func (n *node) pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd == nil {
		return 0
	}
	return n.cmd.Process.Pid
}

// status is a figure of /proc/PID/status in kB, or 0 where there is none.
func (n *node) status(member string) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.pid()))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, member+":"); ok {
			v, _ := strconv.Atoi(strings.Fields(rest)[0])
			return v
		}
	}
	return 0
}

// descriptors counts the open files, or is 0 where that is not known.
func (n *node) descriptors() int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", n.pid()))
	return len(list)
}

// goroutines ends the daemon by the signal that makes Go print them, and counts them.
func (n *node) goroutines() (count int, dump string) {
	before, _ := os.ReadFile(n.log)
	_ = n.end(syscall.SIGQUIT)
	after, _ := os.ReadFile(n.log)
	after = after[len(before):]
	return bytes.Count(after, []byte("\ngoroutine ")), string(after)
}

// configure writes the peers of a node, each behind a link of its own; one without a link
// dials us.
func (n *node) configure(t *testing.T, peers map[*node]*link) {
	t.Helper()
	addresses := map[*node]string{}
	for peer, l := range peers {
		addresses[peer] = ""
		if l != nil {
			addresses[peer] = l.proxy.LocalAddr().String()
		}
	}
	n.know(t, addresses)
}

// know is configure for peers at addresses; one without an address dials us.
func (n *node) know(t *testing.T, peers map[*node]string) {
	t.Helper()
	var text strings.Builder
	text.WriteString("peers:\n")
	for peer, address := range peers {
		fmt.Fprintf(&text, "  - agent_id: %s\n    pubkey: %s\n", peer.self.AgentID, peer.self.PublicKey)
		if address != "" {
			fmt.Fprintf(&text, "    addr: %s\n", address)
		}
	}
	if err := os.WriteFile(filepath.Join(n.root, "config.yaml"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// link is the network on the way to a node.
type link struct {
	proxy  quicproxy.Proxy
	loss   atomic.Int64 // per cent
	delay  atomic.Int64 // at most that many nanoseconds for each packet: they overtake each other
	steady atomic.Int64 // nanoseconds for each packet
	double atomic.Bool  // what comes from the node comes twice
}

func newLink(t *testing.T, to *node) *link {
	t.Helper()
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	l := &link{}
	l.proxy = quicproxy.Proxy{
		Conn: front, ServerAddr: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: to.port},
		DropPacket: func(direction quicproxy.Direction, _, to net.Addr, packet []byte) bool {
			if l.double.Load() && direction == quicproxy.DirectionOutgoing {
				_, _ = front.WriteTo(packet, to)
			}
			return rand.Int64N(100) < l.loss.Load()
		},
		DelayPacket: func(quicproxy.Direction, net.Addr, net.Addr, []byte) time.Duration {
			return time.Duration(l.steady.Load() + rand.Int64N(l.delay.Load()+1))
		},
	}
	if err := l.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.proxy.Close(); _ = front.Close() })
	return l
}

// within tries until it works or the time is up, and returns the last error.
func within(d time.Duration, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// numbered is a payload of the load.
type numbered struct {
	N   int64  `json:"n"`
	Pad string `json:"pad,omitempty"`
}

func payload(n int64, pad int) json.RawMessage {
	text, _ := json.Marshal(numbered{N: n, Pad: strings.Repeat("x", pad)})
	return text
}
