package steps

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
)

// Commands runs the target's command line for the scenarios of a run, in a
// throw-away folder of this run, and keeps one daemon of the target's kind that the
// scenarios share.
type Commands struct {
	line *control.CommandLine

	mu     sync.Mutex // guards what follows
	folder string
	made   int
	shared *commandDaemon
}

// NewCommands takes the command line; without one it returns nil.
func NewCommands(line *control.CommandLine) *Commands {
	if line == nil {
		return nil
	}
	return &Commands{line: line}
}

// Close ends the shared daemon and removes the folder.
func (c *Commands) Close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shared != nil {
		c.shared.close()
		c.shared = nil
	}
	if c.folder != "" {
		_ = os.RemoveAll(c.folder)
		c.folder = ""
	}
}

// place makes a folder for a scenario. Its path is short: the name of a socket has to
// fit into some 100 bytes.
func (c *Commands) place() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.placeLocked()
}

func (c *Commands) placeLocked() (string, error) {
	if c.folder == "" {
		folder, err := os.MkdirTemp("", "axon-cli-")
		if err != nil {
			return "", fmt.Errorf("no folder for the command line: %w; set TMPDIR to one that can be written", err)
		}
		c.folder = folder
	}
	c.made++
	folder := filepath.Join(c.folder, strconv.Itoa(c.made))
	return folder, os.Mkdir(folder, 0o700)
}

// daemon returns the shared daemon, which it starts at first use.
func (c *Commands) daemon(ctx context.Context, me credential.Identity) (*commandDaemon, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shared != nil && c.shared.alive() == nil {
		return c.shared, nil
	}
	folder, err := c.placeLocked()
	if err != nil {
		return nil, err
	}
	d, err := newCommandDaemon(c.line, filepath.Join(folder, ".axon"))
	if err != nil {
		return nil, err
	}
	if err := d.configure(knownPeer(me)); err != nil {
		return nil, err
	}
	if err := d.start(ctx, environmentOf(folder, d.root, nil)); err != nil {
		d.close()
		return nil, err
	}
	c.shared = d
	return d, nil
}

// knownPeer is a configuration with one peer.
func knownPeer(id credential.Identity) string {
	return fmt.Sprintf("peers:\n  - agent_id: %s\n    pubkey: %s\n", id.AgentID(), id.PublicBase64())
}

// terminal is what a scenario does at the target's command line.
type terminal struct {
	commands *Commands
	// folder is the scenario's own: the home folder of its commands and where they run.
	folder string
	// root is the state root that its commands use.
	root string
	// variables replace those of the environment; an empty value takes one away.
	variables map[string]string
	// started are the commands, in their order.
	started []*control.Command
	// own are the daemons that were started for the scenario alone.
	own []*commandDaemon
	// daemon is the one of which the scenario speaks; nil when there is none.
	daemon *commandDaemon
	// noted is the state root when it was noted.
	noted map[string]string
	// beginning is that of the Agent IDs of two peers.
	beginning string
	// since is when the time was noted.
	since time.Time
	// second is the Agent ID of the second of two daemons.
	second string
	// freePort that was named once.
	freePort int
}

// console opens the scenario's terminal at its first use. From then on the scenario
// speaks of the daemons that it starts as of the target.
func (s *Scenario) console() (*terminal, error) {
	if s.terminal != nil {
		return s.terminal, nil
	}
	c := s.Target.Commands
	if c == nil {
		return nil, &verdict.Inapplicable{Need: "cli", Reason: "needs cli: the suite was not given the target's command line"}
	}
	folder, err := c.place()
	if err != nil {
		return nil, err
	}
	s.terminal = &terminal{commands: c, folder: folder, root: filepath.Join(folder, ".axon"), variables: map[string]string{}}
	t := *s.Target
	t.Address, t.Key, t.AgentID, t.Control = "127.0.0.1:1", nil, "", nil
	t.Watch, t.Single, t.HasHandler = nil, false, false
	s.Target = &t
	return s.terminal, nil
}

// use has the scenario speak of a daemon as the target.
func (s *Scenario) use(d *commandDaemon) {
	s.terminal.daemon, s.terminal.root = d, d.root
	t := *s.Target
	t.Address, t.Key, t.AgentID, t.Control = d.address(), d.key, credential.AgentID(d.key), d.api
	s.Target = &t
}

// leaving is how long the commands of a scenario may take to end what they have begun,
// the programs of `axon serve` for one, which nobody else can end.
const leaving = time.Second

// closeTerminal ends all that the scenario started.
func (s *Scenario) closeTerminal() {
	t := s.terminal
	if t == nil {
		return
	}
	for _, c := range t.started {
		_ = c.Signal(os.Interrupt) // it may be gone
	}
	grace, cancel := context.WithTimeout(context.Background(), leaving)
	defer cancel()
	for _, c := range t.started {
		select {
		case <-c.Ended():
		case <-grace.Done():
		}
		c.Close()
	}
	for _, d := range t.own {
		d.close()
	}
	// Files whose modes a scenario took away are removed with the folder of the run.
	_ = os.RemoveAll(t.folder)
}

// environment is that of the scenario's commands.
// The home folder is the one in which their state root is, where it is in one.
func (t *terminal) environment() []string {
	home := t.folder
	if filepath.Base(t.root) == ".axon" {
		home = filepath.Dir(t.root)
	}
	return environmentOf(home, t.root, t.variables)
}

// environmentOf is this program's own environment, pointed away from everything that
// belongs to the user. The state root is named by AXON_ROOT, and it is also the one in
// the home folder, so that what is wrong with one way fails the checks of that alone.
func environmentOf(home, root string, variables map[string]string) []string {
	ours := map[string]string{"HOME": home, "USERPROFILE": home, "AXON_ROOT": root}
	for name, value := range variables {
		ours[name] = value
	}
	var list []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		_, set := ours[name]
		if set || strings.HasPrefix(name, "AXON_") || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "CLICOLOR") ||
			name == "NO_COLOR" || name == "NOTIFY_SOCKET" {
			continue
		}
		list = append(list, entry)
	}
	for name, value := range ours {
		if value != "" {
			list = append(list, name+"="+value)
		}
	}
	return list
}
