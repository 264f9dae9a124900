package suite

import (
	"slices"
	"time"

	"github.com/axonproto/axon/spec"
)

// turn is a part of a run: each part is over before the next one begins.
type turn int

const (
	// ordinary checks meet the target one after the other.
	ordinary turn = iota
	// aside are checks that mostly wait, several at once: those of the command line,
	// which start processes of their own, and those whose steps let seconds pass.
	aside
	// wholeRun checks judge the run as a whole.
	wholeRun
)

var turns = []turn{ordinary, aside, wholeRun}

// asideAtOnce is how many checks run aside at once.
const asideAtOnce = 4

func (k *check) turn() turn {
	switch {
	case k.wholeRun:
		return wholeRun
	case k.ofCommands() || k.waits > 0 && !k.alone && !k.heavy && !slices.Contains(k.needs, spec.LAN):
		return aside
	}
	return ordinary
}

// ofCommands tells whether a check is one of the command line alone. What needs a
// network as well is not.
func (k *check) ofCommands() bool {
	return slices.Contains(k.needs, spec.CLI) && !slices.Contains(k.needs, spec.LAN)
}

// parallel is how many checks of this turn run at once.
func (r *run) parallel() int {
	if r.turn == aside && !r.target.Single {
		return max(r.options.Parallel, asideAtOnce)
	}
	return r.options.Parallel
}

// commandFactor times the ceiling is what a check of the command line may take, which
// starts several processes, beside others that do so.
const commandFactor = 2

func (r *run) commandCeiling(k *check) time.Duration {
	ceiling := commandFactor * r.target.Ceiling
	if k.slow {
		ceiling += slowSeconds * time.Second
	}
	return ceiling
}
