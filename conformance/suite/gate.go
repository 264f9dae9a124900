package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/spec"
)

// goneLimit and muteLimit are the numbers of checks in a row, each ended by a
// target that is gone or answers nothing, after which the rest is not begun: each
// would only wait for its ceiling. Before that the run goes on, since a target may
// be started again by its supervisor.
const (
	goneLimit = 2
	muteLimit = 3
)

// gate stops checks from being begun once the target is lost.
type gate struct {
	mu   sync.Mutex
	why  error
	lost int // checks whose answer did not come
	gone int // of these, those in a row after which no connection was taken
	mute int // or no request answered
}

func (g *gate) close(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why == nil {
		g.why = why
	}
}

// ceiling of the next check. A target that answers at once, and
// again and again does not answer at all, has failed anyway; with a shorter wait
// for the rest its run ends in minutes. It is never below slowFactor times the
// target's own time.
func (g *gate) ceiling(ceiling, answered time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.lost >= 20:
		ceiling /= 10
	case g.lost >= 4:
		ceiling /= 4
	}
	return max(ceiling, min(slowFactor*answered, ceiling*10))
}

func (g *gate) closed() bool { return g.reason() != nil }

func (g *gate) reason() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.why
}

// judge looks, after a check that lost its connection or its answer, whether the
// target still lives. A check during which the target vanished has failed: it had
// a connection and was owed an answer. One that could not even connect could not
// run.
func (g *gate) judge(r *run, s *steps.Scenario, res *result) {
	if !s.Lost || s.Err == nil {
		if s.Err == nil {
			g.mu.Lock()
			g.gone, g.mute = 0, 0
			g.mu.Unlock()
		}
		return
	}
	s.Release()
	g.mu.Lock()
	g.lost++
	g.mu.Unlock()
	var blocked *verdict.Blocked
	state := steps.Gone
	if !errors.As(s.Err, &blocked) {
		ctx, cancel := context.WithTimeout(context.Background(), g.ceiling(r.target.Ceiling, r.answered))
		state, _ = steps.Look(ctx, r.target)
		cancel()
	}
	revived := state == steps.Gone && r.reviver.revive(r)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch state {
	case steps.Alive:
		g.gone, g.mute = 0, 0
	case steps.Mute:
		g.gone, g.mute = 0, g.mute+1
		res.note("after it the target answered no request on a new connection either")
	case steps.Gone:
		g.gone++
		if s.ShutDown() {
			res.block("the target shut down")
		} else if blocked == nil {
			res.note("after it the target took no new connection: it died or hangs")
		}
		if revived {
			g.gone = 0
			res.note("it was started again")
		}
	}
	if g.why != nil {
		return
	}
	switch {
	case g.gone >= goneLimit:
		g.why = fmt.Errorf("the target has taken no connection since %s; start it again and find what ended it in its log", res.location)
	case g.mute >= muteLimit:
		g.why = fmt.Errorf("the target has answered no request on %d new connections in a row, the last at %s", muteLimit, res.location)
	}
}

// inapplicable tells which need of a check the target does not offer.
func (r *run) inapplicable(k *check) error {
	if r.options.HasHandler && slices.Contains(k.needs, spec.Quiet) {
		return &verdict.Inapplicable{Need: "quiet", Reason: "needs quiet: a target with no application handler, and --has-handler says that it has one"}
	}
	offered := r.capabilities()
	for _, n := range k.needs {
		if n != spec.Quiet && !slices.Contains(offered, string(n)) {
			return &verdict.Inapplicable{Need: string(n), Reason: "needs " + string(n) + ": " + needText[n]}
		}
	}
	if err := r.needsLocalAPI(k); err != nil {
		return err
	}
	return r.tooSlow(k)
}

var needText = map[spec.Need]string{
	spec.Drive:   "the suite has no way to make this target send",
	spec.Handle:  "the suite has no way to register an application handler in this target",
	spec.Observe: "the suite has no way to see what this target delivers to its local clients",
	spec.CLI:     "the suite was not given the target's command line",
	spec.LAN:     "the suite was not given a network on which the target advertises",
}
