package suite

import (
	"context"
	"fmt"
	"sync"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/harness/control"
)

// reviver starts a target again that has gone, where there is a way to, so that the
// checks after the one that ended it can still be made.
type reviver struct {
	mu    sync.Mutex // one at a time; guards what follows
	times int
}

// revive tells whether the target takes connections again. A target that another
// check had started again meanwhile is not started twice.
func (v *reviver) revive(r *run) bool {
	restarter, ok := r.options.Control.(control.Restarter)
	if !ok || !restarter.CanRestart() {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.lives(r) {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*r.target.Ceiling)
	defer cancel()
	if err := restarter.Restart(ctx); err != nil {
		return false
	}
	v.times++
	return v.lives(r)
}

func (v *reviver) lives(r *run) bool {
	ctx, cancel := context.WithTimeout(context.Background(), r.target.Ceiling)
	defer cancel()
	state, _ := steps.Look(ctx, r.target)
	return state != steps.Gone
}

// remarks are for the report.
func (v *reviver) remarks() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.times == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the target was started again %d times, since it had gone", v.times)}
}
