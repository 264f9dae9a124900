// Package launch starts daemons through the target's command line, as AXON's
// protocol page describes it: `PROGRAM daemon --state-root DIR`, a config.yaml in
// that directory, and the local API at DIR/axon.sock.
//
// It imports harness of ours only. It serves the requirements about discovery that
// need more than one start of a target, or two settings: AXON-DISC-011, -019 and
// -022 to -026.
package launch

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
)

// readyCeiling is how long a daemon may take until its local API answers.
const readyCeiling = 10 * time.Second

// Program is a Launcher over a command line.
type Program struct {
	command []string
}

// New takes the program and its first arguments.
func New(command []string) (*Program, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, errors.New("launch: there is no command; name the target's program")
	}
	return &Program{command: command}, nil
}

// Launch makes a state root and starts a daemon that uses it.
func (p *Program) Launch(ctx context.Context, l control.Launch) (control.Daemon, error) {
	if l.Machine == nil || l.Port <= 0 || l.Port > 65535 {
		return nil, fmt.Errorf("launch: it takes a machine and a port from 1 to 65535, not %d", l.Port)
	}
	root, err := os.MkdirTemp("", "axon-")
	if err != nil {
		return nil, fmt.Errorf("launch: %w; set TMPDIR to a directory that can be written", err)
	}
	d := &daemon{program: p, launch: l, root: root}
	if err := d.start(ctx); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// daemon is a daemon with its state root.
type daemon struct {
	program *Program
	launch  control.Launch
	root    string
	process *process
	api     *control.IPC
	key     ed25519.PublicKey
}

// configure writes config.yaml.
func (d *daemon) configure() error {
	var b strings.Builder
	fmt.Fprintf(&b, "port: %d\n", d.launch.Port)
	if d.launch.Known != nil {
		fmt.Fprintf(&b, "peers:\n  - agent_id: %s\n    pubkey: %s\n", credential.AgentID(d.launch.Known), base64.StdEncoding.EncodeToString(d.launch.Known))
	}
	trust := "automatic"
	if d.launch.Enrolment {
		trust = "enroll"
	}
	fmt.Fprintf(&b, "discovery:\n  enabled: %t\n  trust: %s\n", d.launch.NoDiscovery != control.ByConfiguration, trust)
	return os.WriteFile(filepath.Join(d.root, "config.yaml"), []byte(b.String()), 0o600)
}

func (d *daemon) start(ctx context.Context) error {
	if err := d.configure(); err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	command := append(append([]string{}, d.program.command...), "daemon", "--state-root", d.root)
	if d.launch.NoDiscovery == control.ByCommandLine {
		command = append(command, "--disable-mdns")
	}
	var err error
	if d.process, err = startProcess(d.launch.Machine.Wrap(command), d.environment()); err != nil {
		return fmt.Errorf("launch %s: %w", d.program.command[0], err)
	}
	ctx, cancel := context.WithTimeout(ctx, readyCeiling)
	defer cancel()
	return d.ready(ctx)
}

// environment points the daemon away from everything that belongs to the user.
func (d *daemon) environment() []string {
	var list []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if name == "HOME" || name == "NOTIFY_SOCKET" || strings.HasPrefix(name, "AXON_") || strings.HasPrefix(name, "XDG_") {
			continue
		}
		list = append(list, entry)
	}
	return append(list, "HOME="+d.root)
}

// pollPause is how long to wait before looking again for a daemon's socket.
const pollPause = 10 * time.Millisecond

// ready waits until the local API answers.
func (d *daemon) ready(ctx context.Context) error {
	socket := filepath.Join(d.root, "axon.sock")
	for {
		api, err := control.NewIPC(ctx, socket)
		if err == nil {
			return d.take(ctx, api)
		}
		select {
		case <-d.process.ended:
			return d.Alive()
		case <-ctx.Done():
			return fmt.Errorf("its local API at %s did not answer within %s (%w)%s", socket, readyCeiling, err, d.process.lastWords())
		case <-time.After(pollPause):
		}
	}
}

func (d *daemon) take(ctx context.Context, api *control.IPC) error {
	d.api = api
	id, text, err := api.Identity(ctx)
	if err != nil {
		return err
	}
	if d.key, err = credential.ParsePublicKey(text); err != nil {
		return fmt.Errorf("the daemon's answer to whoami: %w", err)
	}
	if derived := credential.AgentID(d.key); !strings.EqualFold(derived, id) {
		return fmt.Errorf("the daemon calls itself %s, but the key in its answer is that of %s", id, derived)
	}
	return nil
}

func (d *daemon) Control() control.Target { return d.api }
func (d *daemon) Key() ed25519.PublicKey  { return d.key }
func (d *daemon) Alive() error            { return d.process.alive() }
func (d *daemon) Log() []string           { return d.process.log() }

func (d *daemon) End(ctx context.Context, kill bool) error {
	if d.api != nil {
		_ = d.api.Close()
	}
	return d.process.end(ctx, kill)
}

func (d *daemon) Again(ctx context.Context, noDiscovery control.Switch) error {
	d.launch.NoDiscovery = noDiscovery
	return d.start(ctx)
}

// endCeiling is how long a daemon may take to end in good order.
const endCeiling = 7 * time.Second

func (d *daemon) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), endCeiling)
	defer cancel()
	if d.process != nil && d.End(ctx, false) != nil {
		_ = d.End(context.Background(), true)
	}
	return os.RemoveAll(d.root)
}
