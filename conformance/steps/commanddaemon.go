package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/axonproto/axon/conformance/verdict"
)

func init() {
	define(`a running daemon`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		t, err := s.console()
		if err != nil {
			return err
		}
		d, err := t.commands.daemon(ctx, s.Target.Identity)
		if err != nil {
			return err
		}
		s.use(d)
		return nil
	})
	define(`a running daemon of its own`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.ownDaemon(ctx, knownPeer(s.Target.Identity))
	})
	define(`a running daemon of its own with the configuration:`, func(ctx context.Context, s *Scenario, _ []string, doc string) error {
		if _, err := s.console(); err != nil {
			return err
		}
		text, err := s.expand(doc, "")
		if err != nil {
			return err
		}
		return s.ownDaemon(ctx, string(text)+"\n")
	})
	define(`the daemon is (interrupted|terminated|killed)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		d := s.terminal.daemon
		if a[0] == "killed" {
			d.process.Close()
			return nil
		}
		return d.process.Signal(map[string]os.Signal{"interrupted": os.Interrupt, "terminated": syscall.SIGTERM}[a[0]])
	})
	define(`the daemon exits with code (\d+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		d := s.terminal.daemon
		if err := ended(ctx, s, d.process); err != nil {
			return err
		}
		if got := strconv.Itoa(d.process.Code()); got != a[0] {
			return fail(nil, "the daemon exits with code "+a[0], "%s", spoken(d.process))
		}
		return nil
	})
	define(`the daemon is started again`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.restart(ctx)
	})
	define(`a daemon is started with what is there`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		t, err := s.console()
		if err != nil {
			return err
		}
		d, err := newCommandDaemon(t.commands.line, t.root)
		if err != nil {
			return err
		}
		t.own, t.daemon = append(t.own, d), d
		return s.restart(ctx)
	})
	define(`a daemon serves the state root "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.servesRoot(ctx, a[0])
	})
	define(`the daemon is still there and served as before`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		d := s.terminal.daemon
		if err := d.alive(); err != nil {
			return fail(nil, "the first daemon goes on", "%v", err)
		}
		if _, _, err := d.api.Identity(ctx); err != nil {
			return fail(nil, "the first daemon's local API is served as before", "%v", err)
		}
		return nil
	})
	define(`the daemon's log names "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		p := s.terminal.daemon.process
		if !p.Await(ctx, func(out, err []byte) bool { return bytes.Contains(append(bytes.Clone(out), err...), []byte(a[0])) }) {
			return fail(nil, "a warning that names "+a[0], "%s", spoken(p))
		}
		return nil
	})
	define(`the target closes the connection with code 0 and a reason`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.closedWithReason(ctx)
	})
	define(`two daemons that know each other by their configuration`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.twoDaemons(ctx)
	})
}

// ownDaemon starts a daemon for this scenario alone.
func (s *Scenario) ownDaemon(ctx context.Context, configuration string) error {
	t, err := s.console()
	if err != nil {
		return err
	}
	d, err := newCommandDaemon(t.commands.line, t.root)
	if err != nil {
		return err
	}
	t.own = append(t.own, d)
	if err := d.configure(configuration); err != nil {
		return err
	}
	if err := d.start(ctx, t.environment()); err != nil {
		return err
	}
	s.use(d)
	return nil
}

// restart starts the scenario's daemon with the state that it has. That it does not
// start is what the sentences are about.
func (s *Scenario) restart(ctx context.Context) error {
	d := s.terminal.daemon
	if d.api != nil {
		_ = d.api.Close()
	}
	if err := d.start(ctx, s.terminal.environment()); err != nil {
		return fail(nil, "the daemon starts with the state that is there", "%v", err)
	}
	s.use(d)
	return nil
}

// servesRoot waits until the daemon that was started last answers in a state root.
func (s *Scenario) servesRoot(ctx context.Context, text string) error {
	t := s.terminal
	root, err := s.expand(text, "")
	if err != nil {
		return err
	}
	c, err := s.commandOf("it")
	if err != nil {
		return err
	}
	d := &commandDaemon{line: t.commands.line, root: string(root), process: c}
	if err := d.ready(ctx); err != nil {
		return fail(nil, "the daemon answers at "+filepath.Join(string(root), "axon.sock"), "%v", err)
	}
	t.own = append(t.own, d)
	s.use(d)
	return nil
}

// closedWithReason: the connection of the probe was closed in good order.
func (s *Scenario) closedWithReason(ctx context.Context) error {
	c := s.conn
	if c == nil {
		return errors.New("there is no connection to the target")
	}
	x := &exchange{conn: c}
	const expected = "the target closes the connection with code 0 and a reason"
	select {
	case <-c.Done():
	case <-ctx.Done():
		return fail(x, expected, "it is open after %s", s.Target.Ceiling)
	}
	if end := c.End(); !end.Remote || !end.Application || end.Code != 0 || end.Reason == "" {
		return fail(x, expected, "it ended: %s", describeClosing(end))
	}
	return nil
}

// twoDaemons starts two daemons whose identities the suite made, so that each can
// stand in the other's configuration. The scenario speaks of the first as the target,
// and of the second as the latest peer.
func (s *Scenario) twoDaemons(ctx context.Context) error {
	t, err := s.console()
	if err != nil {
		return err
	}
	var list []*commandDaemon
	for _, name := range []string{".axon", "second"} {
		d, err := newCommandDaemon(t.commands.line, filepath.Join(t.folder, name))
		if err != nil {
			return err
		}
		list = append(list, d)
	}
	ids, err := makeIdentities(len(list))
	if err != nil {
		return err
	}
	for i, d := range list {
		other := 1 - i
		seed := ids[i].Private().Seed()
		files := map[string]string{
			"identity.key": base64Of(seed) + "\n",
			"identity.pub": ids[i].PublicBase64() + "\n",
			"config.yaml": fmt.Sprintf("peers:\n  - agent_id: %s\n    pubkey: %s\n    addr: %s\n",
				ids[other].AgentID(), ids[other].PublicBase64(), list[other].address()),
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(d.root, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
	}
	for _, d := range slices.Backward(list) {
		t.own = append(t.own, d)
		if err := d.start(ctx, environmentOf(t.folder, d.root, t.variables)); err != nil {
			return err
		}
	}
	if list[1].key == nil || !list[1].key.Equal(ids[1].Public()) {
		return &verdict.Blocked{Reason: "a daemon of the target's kind did not take the identity.key that was there; it should hold the 32-byte seed in base64"}
	}
	t.second = ids[1].AgentID()
	s.use(list[0])
	return nil
}
