// Package doctor looks whether a daemon can work well here: its state root, what
// is in it, and what the machine gives it. It repairs what can be repaired
// without losing anything, and keeps a copy of what it replaces.
//
// It imports impl/client and of impl/internal what reads the state root. It
// serves AXON-CLI-034 to -036.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/config"
)

// State is the outcome of one check.
type State string

// The states. Note tells something that needs no action; Skipped is a check that
// could not be made, or is of no use here.
const (
	OK      State = "ok"
	Note    State = "note"
	Fixed   State = "fixed"
	Warning State = "warning"
	Problem State = "problem"
	Skipped State = "skipped"
)

// Finding is what one check found.
type Finding struct {
	Check  string `json:"check"`
	State  State  `json:"state"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what to do next
}

// Options of Examine.
type Options struct {
	StateRoot string // required
	// Fix repairs what can be repaired safely.
	Fix bool
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
}

// exam is one examination.
type exam struct {
	root    string
	fix     bool
	now     func() time.Time
	conf    config.Config
	confErr error
	self    *client.Self // of the running daemon; nil when there is none
	dialErr error
}

// Examine makes all checks, in the order of a daemon's start.
func Examine(ctx context.Context, o Options) ([]Finding, error) {
	if o.StateRoot == "" {
		return nil, errors.New("doctor: Options.StateRoot is empty; name a folder")
	}
	x := &exam{root: o.StateRoot, fix: o.Fix, now: o.Now}
	if x.now == nil {
		x.now = timeNow
	}
	x.conf, x.confErr = config.Load(x.root)
	x.self, x.dialErr = meet(ctx, x.root)
	var list []Finding
	for _, check := range []func() []Finding{
		x.stateRoot, x.identityKey, x.publicKey, x.configuration, x.knownPeers, x.daemon, x.port, x.clock, buffers, x.multicast, platform,
	} {
		list = append(list, check()...)
	}
	return list, nil
}

// Healthy tells whether nothing was found that keeps a daemon from working.
func Healthy(list []Finding) bool {
	for _, f := range list {
		if f.State == Problem {
			return false
		}
	}
	return true
}

// meet asks the daemon who it is.
func meet(ctx context.Context, root string) (*client.Self, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	c, err := client.Dial(ctx, client.Options{StateRoot: root})
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	self, err := c.WhoAmI(ctx)
	return &self, err
}

func one(check string, state State, advice, format string, args ...any) []Finding {
	return []Finding{{Check: check, State: state, Detail: fmt.Sprintf(format, args...), Advice: advice}}
}

// repair is a finding of something that repairing cures: it says what is to be
// done, or with Fix does it.
func (x *exam) repair(check, detail, done string, do func() error) []Finding {
	if !x.fix {
		return one(check, Problem, "run `axon doctor --fix`", "%s", detail)
	}
	if err := do(); err != nil {
		return one(check, Problem, "repair it by hand", "%s, and it could not be repaired: %v", detail, err)
	}
	return one(check, Fixed, "", "%s; %s", detail, done)
}

// backupName is where a file is kept before it is replaced.
func backupName(path string, now time.Time) string {
	name := path + ".backup-" + now.UTC().Format("20060102T150405Z")
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s.backup-%s-%d", path, now.UTC().Format("20060102T150405Z"), n)
	}
}

// setAside moves a file to its backup name.
func (x *exam) setAside(path string) (string, error) {
	backup := backupName(path, x.now())
	return filepath.Base(backup), os.Rename(path, backup)
}
