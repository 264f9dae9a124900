package suite

import (
	"slices"
	"time"

	"github.com/axonproto/axon/spec"
)

// turn is a part of a run: each part is over before the next one begins.
type turn int

const (
	// ordinary checks meet the target itself.
	ordinary turn = iota
	// commands are checks of the command line, which start processes of their own.
	commands
	// wholeRun checks judge the run as a whole.
	wholeRun
)

var turns = []turn{ordinary, commands, wholeRun}

// commandsAtOnce is how many checks of the command line run at once: they do not meet
// the target itself, so that none of them can be what it dies of, and they wait much.
const commandsAtOnce = 4

// turn of a check. What needs a network as well is ordinary.
func (k *check) turn() turn {
	switch {
	case k.wholeRun:
		return wholeRun
	case slices.Contains(k.needs, spec.CLI) && !slices.Contains(k.needs, spec.LAN):
		return commands
	}
	return ordinary
}

// parallel is how many checks run at once.
func (t turn) parallel(chosen int) int {
	if t == commands {
		return max(chosen, commandsAtOnce)
	}
	return chosen
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

// filter in godog's own words. It serves only to save godog from stepping through the
// scenarios of another turn.
func (t turn) filter() string {
	switch t {
	case commands:
		return "@cli && ~@whole-run"
	case wholeRun:
		return "@whole-run"
	}
	return "~@whole-run"
}
