package suite

import (
	"crypto/ed25519"
	"io"
	"io/fs"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
)

// Options says what to run against which target.
type Options struct {
	// Address of the target, host:port.
	Address string
	// Key that the target must hold. Nil: it is learned in a first handshake.
	Key ed25519.PublicKey
	// KeySource is one of the report's key sources; empty chooses by Key.
	KeySource string
	// Identity is the suite's own, which the target must have admitted.
	Identity credential.Identity
	// IdentityHint names where the identity comes from, for the message that a
	// refusal gives ("--identity FILE" or the default path).
	IdentityHint string
	// Features holds the *.feature files, at any depth.
	Features fs.FS
	// Select narrows what runs.
	Select Selection
	// HasHandler: the target has an application handler, so that checks of the
	// quiet state are not applicable.
	HasHandler bool
	// Control makes the target act, for the needs drive, handle and observe; nil
	// when the suite has no way to. The caller closes it.
	Control control.Target
	// LAN is a network on which the target advertises, for the need lan; nil when
	// there is none.
	LAN *LAN
	// Launcher starts daemons of the target's kind through its command line, for
	// the need cli; nil when the suite has none.
	Launcher control.Launcher
	// CommandLine is the target's command line, for the need cli; nil when the suite
	// has none.
	CommandLine *control.CommandLine
	// Own: the target and its command line are this project's own, of which the
	// ADVISORY sentences about a command line are required as well.
	Own bool
	// Slow includes the checks that take half a minute or more each.
	Slow bool
	// Patience is what such a check, unless it is on a network, may take beyond its
	// ceiling; 0 means a minute. Only the self test, whose peers wait for less, makes
	// it shorter.
	Patience time.Duration
	// Strict: a broken SHOULD counts like a broken MUST.
	Strict bool
	// Parallel is the number of scenarios that run at once. 0 means 1, so that it is
	// plain which one a target died of, and more for a target that is slow.
	Parallel int
	// Timeout is the ceiling of one check. 0 means 5 s, more for a target that
	// is found to be slow.
	Timeout time.Duration
	// Repeat runs everything that often; 0 means 1. The verdict of a scenario is
	// the worst that it had.
	Repeat int
	// Version of the suite, for the report.
	Version string
	// Program is how to start the suite, for the rerun command; empty means
	// "axon-conformance".
	Program string
	// RerunArgs are the arguments that name target and identity in the rerun
	// command, already quoted for a shell: "--target 127.0.0.1:7100".
	RerunArgs string
	// QLogDir is a directory for the qlog of each check that fails; empty: none.
	QLogDir string
	// KeyLog gets the TLS secrets of every connection, with which a capture of the
	// packets can be read; nil: they are not kept.
	KeyLog io.Writer
	// Alive, where the suite started the target itself, returns nil while the
	// process lives and otherwise an error that holds its last words.
	Alive func() error
	// Progress is called for each finished scenario, never concurrently. It may
	// be nil.
	Progress func(Progress)
}

// Selection narrows a run; its zero value selects everything. All its parts must
// hold for a scenario to be selected.
type Selection struct {
	// Tags is a Cucumber tag expression: "@AXON-KIND-002 or not @heavy".
	Tags string
	// Requirements are ids, exactly as in spec/.
	Requirements []string
	// Level is "MUST", "SHOULD", "ADVISORY" or empty; in any case of letters.
	Level string
	// Section is a section's short name, "streams", or empty.
	Section string
	// Need is what the checks must need of the target, "observe", or empty. All need
	// "wire"; that alone means those that need nothing more.
	Need string
	// Location is "FILE:LINE" of one scenario or example row, as reports print it.
	Location string
	// Locations is a list of such places, any of which will do; nil is all.
	Locations []string
	// Edition of the text whose requirements are wanted; empty is the newest.
	Edition string
	// Shard of Shards is the part of the checks that runs, counted from 1; with
	// Shards 0 all do.
	Shard, Shards int
}

// Progress tells of one finished scenario.
type Progress struct {
	// Done of Total scenarios have finished, over all repetitions.
	Done, Total int
	Name        string
	Location    string
	IDs         []string
	Verdict     verdict.Verdict
	Reason      string
	Duration    time.Duration
}

// UsageError is a mistake of the caller: an unknown id, an expression that does
// not parse, a selection that is empty, a feature file that is wrong.
type UsageError struct{ Problem string }

func (e *UsageError) Error() string { return e.Problem }
