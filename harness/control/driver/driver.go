package driver

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/wire"
	"github.com/axonproto/axon/schemas"
)

// Version is that of the driver protocol.
const Version = 1

const (
	// MaxLine bounds a line in either direction, in bytes, its end included.
	MaxLine = 1 << 20
	// maxOutgoing bounds the lines that wait for the driver to read them.
	maxOutgoing = 64
	// maxHanging is the number of commands that may stay unanswered in a row, by a
	// driver that does not answer hello either, before no more are sent.
	maxHanging = 2
)

// Options shape how a driver is met. The zero value is of use.
type Options struct {
	// Suite is the name and version that hello carries; empty: "axon-conformance".
	Suite string
	// Patience is how long the first hello may take; 0: one minute, since the
	// program may have to be built first.
	Patience time.Duration
	// Pulse is how long a driver that left a command unanswered may take to show
	// that it lives; 0: 2 s.
	Pulse time.Duration
}

// Hello is what a driver tells of itself and of the target.
type Hello struct {
	// Capabilities as claimed: "enroll", "drive", "handle", "observe", "restart".
	Capabilities []string
	// Name and Version of the implementation under test.
	Name, Version string
	// Address at which the target listens, empty when the driver does not tell.
	Address string
	// Key that the target holds, nil when the driver does not tell.
	Key ed25519.PublicKey
}

// Driver is a target that is driven by a driver program. Its methods may be called
// concurrently.
type Driver struct {
	options Options
	link    link
	started bool // here, so that it is ended here
	hello   atomic.Pointer[Hello]

	command, answer, event *schemas.Schema

	outgoing chan []byte
	over     chan struct{} // closed when no more lines come
	stop     chan struct{} // closed by Close
	work     sync.WaitGroup
	once     sync.Once
	spoken   tail // the last lines of the protocol's channel
	handling handling

	mu      sync.Mutex // guards what follows
	next    int
	waiting map[int]*waiter
	given   map[int]string // commands that nobody waits for any more, by number
	readers map[*subscription]struct{}
	ended   string // why no more lines come; empty while they may
	hanging int    // commands left unanswered in a row
	remarks remarks
}

var _ interface {
	control.Target
	control.Restarter
	control.Remarker
	control.Claimant
	control.Settler
	control.Named
} = (*Driver)(nil)

// Start starts a driver and asks it what it offers. It is ended by Close, with all
// that it started in its process group.
func Start(ctx context.Context, command []string, o Options) (*Driver, error) {
	if len(command) == 0 {
		return nil, ErrNoCommand
	}
	l, err := start(command)
	if err != nil {
		return nil, err
	}
	return meet(ctx, l, true, o)
}

// Connect attaches to a driver that listens at unix:PATH or tcp:HOST:PORT and asks it
// what it offers. Close leaves it running.
func Connect(ctx context.Context, where string, o Options) (*Driver, error) {
	l, err := dial(ctx, where)
	if err != nil {
		return nil, err
	}
	return meet(ctx, l, false, o)
}

func meet(ctx context.Context, l link, started bool, o Options) (*Driver, error) {
	if o.Suite == "" {
		o.Suite = "axon-conformance"
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if o.Pulse == 0 {
		o.Pulse = 2 * time.Second
	}
	d := &Driver{
		options: o, link: l, started: started,
		command: schemas.MustCompile(schemas.DriverCommand), answer: schemas.MustCompile(schemas.DriverAnswer),
		event:    schemas.MustCompile(schemas.DriverEvent),
		outgoing: make(chan []byte, maxOutgoing), over: make(chan struct{}), stop: make(chan struct{}),
		waiting: map[int]*waiter{}, given: map[int]string{}, readers: map[*subscription]struct{}{},
	}
	d.work.Go(d.read)
	d.work.Go(d.write)
	ctx, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	if err := d.introduce(ctx); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// introduce asks for the capabilities, and sees whether the driver says no to what
// does not exist: one that says yes to everything would turn checks green.
func (d *Driver) introduce(ctx context.Context) error {
	a, err := d.call(ctx, "hello", helloMembers(d.options.Suite))
	if err != nil {
		return err
	}
	if a.code != "" {
		return d.fault("the driver answers hello by the error %s: %s", a.code, a.message)
	}
	if version, _ := a.value.Get("version"); version.Number != fmt.Sprint(Version) {
		return d.fault("the driver speaks version %s of the protocol and this suite version %d; use the suite that fits, or adapt the driver", version.Number, Version)
	}
	h, err := readHello(a.value)
	if err != nil {
		return d.fault("the driver's hello gives no usable public key of the target: %v", err)
	}
	d.hello.Store(&h)
	invented := "invented_" + strings.ReplaceAll(wire.NewID(), "-", "")[:8]
	a, err = d.call(ctx, invented, "")
	switch {
	case err != nil:
		return err
	case a.code == "":
		return d.fault("the driver said yes to %q, a command that does not exist: it would say yes to anything, so that nothing that it says can be relied on; let it answer what it does not know with the error code \"unsupported\" (docs/driver.md)", invented)
	case a.code != codeUnsupported:
		return d.fault("the driver answered %q, a command that does not exist, with the error code %q; let it answer what it does not know with \"unsupported\" (docs/driver.md)", invented, a.code)
	}
	return nil
}

func helloMembers(suite string) string {
	return fmt.Sprintf(`"version":%d,"suite":%s`, Version, wire.Quote(suite))
}

func readHello(v wire.Value) (h Hello, err error) {
	capabilities, _ := v.Get("capabilities")
	for _, c := range capabilities.Array {
		h.Capabilities = append(h.Capabilities, c.String)
	}
	implementation, _ := v.Get("implementation")
	h.Name, h.Version = member(implementation, "name"), member(implementation, "version")
	target, _ := v.Get("target")
	h.Address = member(target, "address")
	if text := member(target, "public_key"); text != "" {
		h.Key, err = credential.ParsePublicKey(text)
	}
	return h, err
}

func member(v wire.Value, name string) string {
	m, _ := v.Get(name)
	return m.String
}

// Hello is what the driver told.
func (d *Driver) Hello() Hello {
	if h := d.hello.Load(); h != nil {
		return *h
	}
	return Hello{}
}

// Offers tells whether the driver claims a capability; enroll comes with drive.
func (d *Driver) Offers(capability string) bool {
	claimed := d.Hello().Capabilities
	return slices.Contains(claimed, capability) || capability == "enroll" && slices.Contains(claimed, "drive")
}

// fault makes the error of something that the driver is to blame for.
func (d *Driver) fault(format string, args ...any) error {
	words := d.link.lastWords()
	lines := words[max(0, len(words)-quotedWords):]
	if len(lines) == 0 {
		lines = d.spoken.last(quotedLines)
	}
	return &control.Fault{Problem: fmt.Sprintf(format, args...), LastLines: lines}
}

// What of a driver stands in an error: lines of its standard error, or else lines of
// the protocol, which are longer.
const (
	quotedWords = 5
	quotedLines = 2
)

// endPatience is how long a driver may take to answer stop.
const endPatience = 3 * time.Second

// Close ends a driver that was started here: it is asked to stop the target and
// itself, and its process group is ended in any case. One that was attached to is
// only left.
func (d *Driver) Close() error {
	d.once.Do(func() {
		if d.started && !d.hangs() {
			ctx, cancel := context.WithTimeout(context.Background(), endPatience)
			_, _ = d.call(ctx, "stop", "")
			cancel()
		}
		close(d.stop)
		d.link.close()
		d.work.Wait()
	})
	return nil
}

// errOutgoing is no fault of a driver: the suite itself wrote what it should not.
var errOutgoing = errors.New("the suite's own command does not keep to schemas/driver/command.schema.json")
