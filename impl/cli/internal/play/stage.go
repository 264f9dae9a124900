package play

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/transport"
)

// stopCeiling is how long a daemon may take to end once it was asked to.
const stopCeiling = 6 * time.Second

// stage holds the actors: two daemons in processes of their own, and carol, who
// speaks QUIC from this process and so can send what no daemon would.
type stage struct {
	alice, bob *actor
	carol      *transport.Endpoint
	asks       *client.Client // alice's program
	asked      tape
}

// actor is a daemon in a process of its own.
type actor struct {
	id    *identity.Identity
	root  string
	addr  string // once it is ready
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended and its log is read
}

// build starts everything. The stage is returned with an error too, for closing.
func build(ctx context.Context, command []string, dir string) (*stage, error) {
	s := &stage{}
	carol, err := identity.Generate()
	if err != nil {
		return nil, err
	}
	var made [2]*actor
	for i, name := range []string{"alice", "bob"} {
		root := filepath.Join(dir, name)
		if err := os.Mkdir(root, 0o700); err != nil {
			return nil, fmt.Errorf("make a state root: %w", err)
		}
		id, err := identity.Load(root)
		if err != nil {
			return nil, err
		}
		made[i] = &actor{id: id, root: root}
	}
	alice, bob := made[0], made[1]
	// Bob first: alice is told where he is.
	if err := writeConfig(bob.root, "bob", 0, peer{"alice", alice.id, ""}, peer{"carol", carol, ""}); err != nil {
		return nil, err
	}
	s.bob = bob
	if err := bob.start(ctx, command); err != nil {
		return s, err
	}
	if err := writeConfig(alice.root, "alice", 0, peer{"bob", bob.id, bob.addr}); err != nil {
		return s, err
	}
	s.alice = alice
	if err := alice.start(ctx, command); err != nil {
		return s, err
	}
	s.carol, err = transport.Listen(transport.Options{
		Identity: carol, Pins: pin{bob.id}, Handler: deaf{}, Logger: slog.New(slog.DiscardHandler), Addr: "127.0.0.1:0",
	})
	if err != nil {
		return s, err
	}
	s.asks, err = client.Dial(ctx, client.Options{StateRoot: alice.root, Trace: s.asked.record})
	return s, err
}

func (s *stage) close() {
	if s.asks != nil {
		_ = s.asks.Close()
	}
	if s.carol != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.carol.Shutdown(ctx)
	}
	for _, a := range []*actor{s.alice, s.bob} {
		if a != nil {
			a.stop()
		}
	}
}

// start runs the daemon and waits until it is ready.
func (a *actor) start(ctx context.Context, command []string) error {
	args := append(append([]string{}, command...), "daemon", "--state-root", a.root, "--port", "0", "--listen", "127.0.0.1",
		"--disable-mdns", "--log-format", "json")
	a.cmd = exec.Command(args[0], args[1:]...)
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "NOTIFY_SOCKET=") && !strings.HasPrefix(entry, "AXON_ROOT=") {
			a.cmd.Env = append(a.cmd.Env, entry)
		}
	}
	tie(a.cmd)
	log, err := a.cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("start a daemon: %w", err)
	}
	if err := a.cmd.Start(); err != nil {
		a.cmd = nil
		return fmt.Errorf("start a daemon: %w", err)
	}
	ready := make(chan string, 1)
	a.ended = make(chan struct{})
	var last string
	go func() {
		defer close(a.ended)
		in := bufio.NewScanner(log)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			var record struct{ Msg, Address string }
			if json.Unmarshal(in.Bytes(), &record) == nil && record.Msg == "ready" {
				ready <- record.Address
			}
			last = in.Text()
		}
		_, _ = io.Copy(io.Discard, log)
		_ = a.cmd.Wait()
	}()
	select {
	case a.addr = <-ready:
		return nil
	case <-a.ended:
		return fmt.Errorf("a daemon ended at its start, saying: %s", last)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *actor) stop() {
	if a.cmd == nil {
		return
	}
	// Where processes cannot be interrupted this fails.
	if err := a.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = a.cmd.Process.Kill()
	}
	late := time.AfterFunc(stopCeiling, func() { _ = a.cmd.Process.Kill() })
	defer late.Stop()
	<-a.ended
}

// pin knows one agent.
type pin struct{ id *identity.Identity }

func (p pin) Pinned(id identity.AgentID) (ed25519.PublicKey, bool) {
	return p.id.Public, id == p.id.ID
}

// deaf takes nothing in.
type deaf struct{}

func (deaf) Bidi(context.Context, identity.AgentID, []byte, []byte) ([]byte, bool) { return nil, false }
func (deaf) Uni(identity.AgentID, []byte)                                          {}
