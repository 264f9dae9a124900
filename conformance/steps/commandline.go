package steps

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

// commandDaemon is a daemon that was started by the target's command line.
type commandDaemon struct {
	line        *control.CommandLine
	root        string
	port        int
	process     *control.Command
	api         *control.IPC
	key         ed25519.PublicKey
	environment []string
}

// newCommandDaemon gives a daemon its state root and a port.
func newCommandDaemon(line *control.CommandLine, root string) (*commandDaemon, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	return &commandDaemon{line: line, root: root, port: port}, os.MkdirAll(root, 0o700)
}

// Ports for daemons are taken one after the other from a range that systems leave
// alone when a program asks for any port, so that nobody takes one between its being
// found free and the daemon's start.
const (
	firstPort = 20000
	ports     = 12000
)

var nextPort atomic.Uint32

func init() { nextPort.Store(rand.Uint32N(ports)) }

// freePort is a UDP port that nobody uses, and that no one else is given.
func freePort() (int, error) {
	var err error
	for range 100 {
		port := firstPort + int(nextPort.Add(1)%ports)
		var c net.PacketConn
		if c, err = net.ListenPacket("udp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, c.Close()
		}
	}
	return 0, fmt.Errorf("find a free UDP port: %w", err)
}

func (d *commandDaemon) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(d.port)) }

func (d *commandDaemon) configure(text string) error {
	return os.WriteFile(filepath.Join(d.root, "config.yaml"), []byte(text), 0o600)
}

// start runs the daemon and waits until its local API answers. Its error is a
// *verdict.Blocked when it ended or did not answer.
func (d *commandDaemon) start(ctx context.Context, environment []string, further ...string) error {
	args := append([]string{"daemon", "--state-root", d.root, "--port", strconv.Itoa(d.port), "--disable-mdns"}, d.line.Loopback...)
	return d.run(ctx, environment, append(args, further...))
}

func (d *commandDaemon) run(ctx context.Context, environment, args []string) error {
	d.environment = environment
	var err error
	if d.process, err = d.line.Start(control.Invocation{Args: args, Environment: environment, Dir: filepath.Dir(d.root)}); err != nil {
		return &verdict.Blocked{Reason: "no daemon of the target's kind could be started", Err: err}
	}
	return d.ready(ctx)
}

// ready waits until the local API answers.
func (d *commandDaemon) ready(ctx context.Context) error {
	for {
		api, err := control.NewIPC(ctx, filepath.Join(d.root, "axon.sock"))
		if err == nil {
			d.api = api
			break
		}
		select {
		case <-d.process.Ended():
			return &verdict.Blocked{Reason: "no daemon of the target's kind could be started", Err: d.alive()}
		default:
		}
		if !pause(ctx) {
			return &verdict.Blocked{Reason: "the local API of a daemon of the target's kind did not answer", Err: errors.Join(err, errors.New(spoken(d.process)))}
		}
	}
	id, text, err := d.api.Identity(ctx)
	if err != nil {
		return &verdict.Blocked{Reason: "a daemon of the target's kind does not tell who it is", Err: err}
	}
	if d.key, err = credential.ParsePublicKey(text); err != nil || !strings.EqualFold(credential.AgentID(d.key), id) {
		return &verdict.Blocked{Reason: fmt.Sprintf("a daemon of the target's kind calls itself %s and its key %s", id, text)}
	}
	return nil
}

// alive is nil while it runs, and afterwards an error with its last words.
func (d *commandDaemon) alive() error {
	select {
	case <-d.process.Ended():
		return fmt.Errorf("the daemon has ended: %s", spoken(d.process))
	default:
		return nil
	}
}

// close ends it for good. Nothing of it is needed any more, so it is not asked.
func (d *commandDaemon) close() {
	if d.api != nil {
		_ = d.api.Close()
	}
	if d.process != nil {
		d.process.Close()
	}
}

// quoted bytes of a command's output stand in a report.
const quotedOutput = 600

// spoken tells how a command went, for a report.
func spoken(c *control.Command) string {
	out, err := c.Output()
	state := "it runs"
	select {
	case <-c.Ended():
		state = fmt.Sprintf("it exited with code %d", c.Code())
	default:
	}
	tell := func(what string, b []byte) string {
		if len(b) == 0 {
			return what + " is empty"
		}
		if len(b) > quotedOutput {
			return what + " ends in " + strconv.Quote(string(b[len(b)-quotedOutput:]))
		}
		return what + " is " + strconv.Quote(string(b))
	}
	return fmt.Sprintf("axon %s: %s; %s; %s", strings.Join(c.Args, " "), state, tell("standard output", out), tell("standard error", err))
}
