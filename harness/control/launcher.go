package control

import (
	"context"
	"crypto/ed25519"

	"github.com/axonproto/axon/harness/lan/netns"
)

// Launcher starts daemons of the target's kind, each with a state of its own, on
// machines that were made for them.
type Launcher interface {
	Launch(ctx context.Context, l Launch) (Daemon, error)
}

// Launch says how a daemon is started.
type Launch struct {
	// Machine is where it runs; required.
	Machine *netns.Namespace
	// Port is the UDP port that it listens on; required.
	Port int
	// Known is the key of a peer that it admits.
	Known ed25519.PublicKey
	// Enrolment: what it discovers waits for its owner.
	Enrolment bool
	// NoDiscovery switches discovery off.
	NoDiscovery Switch
}

// Switch is a way to switch something off.
type Switch int

// The ways.
const (
	NotAtAll Switch = iota
	ByConfiguration
	ByCommandLine
)

// Daemon is a daemon that a Launcher started.
type Daemon interface {
	// Control makes it act. It belongs to the daemon and ends with it.
	Control() Target
	// Key that it holds.
	Key() ed25519.PublicKey
	// Alive is nil while it runs, and afterwards an error with its last words.
	Alive() error
	// Log are the lines that it has logged so far, as far as they are kept.
	Log() []string
	// End ends it: by asking it to, or without a word. It waits for the end.
	End(ctx context.Context, kill bool) error
	// Again starts it anew, with the same state, once it has ended.
	Again(ctx context.Context, noDiscovery Switch) error
	// Close ends it and removes its state.
	Close() error
}
