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
	"sync/atomic"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
)

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
