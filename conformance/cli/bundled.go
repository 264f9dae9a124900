package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/credential"
)

const (
	// readyCeiling is how long the bundled daemon may take until it is ready.
	readyCeiling = 10 * time.Second
	// stopCeiling is how long it may take to end once it was asked to.
	stopCeiling = 6 * time.Second
)

// prepareBundled starts the bundled daemon in a throw-away directory and points
// the options at it. Nothing of the user's is read or written, unless --identity
// names a file.
func (p *program) prepareBundled(ctx context.Context, f *runFlags, o *suite.Options) (daemon *child, stop func(), err error) {
	if len(p.env.Bundled) == 0 {
		return nil, nil, usagef("this build has no bundled daemon; name a peer with --target HOST:PORT")
	}
	var id credential.Identity
	if f.identity != "" {
		id, _, _, err = p.identity(f.identity)
	} else if id, err = credential.New(); err != nil {
		err = &failure{code: report.ExitHarnessError, err: fmt.Errorf("no identity could be made for this run: %w", err)}
	}
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "axon-")
	if err != nil {
		return nil, nil, &failure{code: report.ExitHarnessError, err: fmt.Errorf("no directory for the bundled daemon: %w; set TMPDIR to one that can be written", err)}
	}
	var once sync.Once
	var started *child
	stop = func() {
		once.Do(func() {
			if o.Control != nil {
				_ = o.Control.Close()
			}
			if started != nil {
				started.stop(stopCeiling)
			}
			_ = os.RemoveAll(dir)
		})
	}
	ready, started, err := p.startBundled(ctx, dir, id, f.moreConfig, whereBundled(o))
	if err != nil {
		stop()
		if ctx.Err() != nil {
			return nil, nil, engineError(ctx.Err())
		}
		return nil, nil, &failure{code: report.ExitHarnessError, err: fmt.Errorf("the bundled daemon did not start: %w", err)}
	}
	o.Address, o.Key, o.KeySource = ready.Address, ready.key, report.KeyBundled
	o.Identity = id
	o.IdentityHint = "the bundled daemon's own config.yaml"
	o.Alive = started.alive
	socket := filepath.Join(dir, "axon.sock")
	if _, err := os.Stat(socket); err != nil {
		return started, stop, nil
	}
	if err := attachIPC(ctx, socket, o); err != nil {
		stop()
		return nil, nil, &failure{code: report.ExitHarnessError, err: fmt.Errorf("the bundled daemon's local API: %w%s", err, started.lastWords())}
	}
	return started, stop, nil
}

// startBundled writes the configuration, starts the daemon where it is told to
// listen, and waits until it is ready. The child is returned whenever it was started.
func (p *program) startBundled(ctx context.Context, dir string, id credential.Identity, more string, where []string) (readiness, *child, error) {
	config := fmt.Sprintf("peers:\n  - agent_id: %s\n    pubkey: %s\n", id.AgentID(), id.PublicBase64()) + more
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		return readiness{}, nil, fmt.Errorf("%w; set TMPDIR to a directory with room", err)
	}
	command := append(append([]string{}, p.env.Bundled...), "daemon", "--state-root", dir, "--port", "0", "--log-format", "json")
	command = append(command, where...)
	started, err := startChild(command, childEnvironment(dir))
	if err != nil {
		return readiness{}, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readyCeiling)
	defer cancel()
	ready, err := started.awaitReady(ctx)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("it was not ready within %s%s", readyCeiling, started.lastWords())
		}
		return readiness{}, started, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "identity.pub"))
	if err != nil {
		return readiness{}, started, fmt.Errorf("its public key cannot be read: %w", err)
	}
	if ready.key, err = credential.ParsePublicKey(strings.TrimSpace(string(text))); err != nil {
		return readiness{}, started, fmt.Errorf("its public key in identity.pub: %w", err)
	}
	if derived := credential.AgentID(ready.key); !strings.EqualFold(derived, ready.AgentID) {
		return readiness{}, started, fmt.Errorf("it calls itself %s, but the key in its identity.pub is that of %s", ready.AgentID, derived)
	}
	if err := checkAddress(ready.Address, "it should be HOST:PORT"); err != nil {
		return readiness{}, started, fmt.Errorf("the address %q in its ready line: %w", ready.Address, err)
	}
	return ready, started, nil
}

// childEnvironment is this program's own environment, pointed away from
// everything that belongs to the user. PATH is empty: the daemon starts no other
// program, and godog, which the child is linked with, would ask a go command for
// its tools, which leaves files in HOME.
func childEnvironment(dir string) []string {
	ours := map[string]string{"HOME": dir, "USERPROFILE": dir, "AXON_ROOT": dir, "PATH": ""}
	var list []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if _, set := ours[name]; set || strings.HasPrefix(name, "AXON_") || strings.HasPrefix(name, "XDG_") || name == "NOTIFY_SOCKET" {
			continue
		}
		list = append(list, entry)
	}
	for name, value := range ours {
		list = append(list, name+"="+value)
	}
	return list
}
