package suite

import (
	"context"
	"slices"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/spec"
)

// try has a driver show once that it does what it claims, as far as selected checks
// need it. What it does not show keeps those checks from running.
func (r *run) try(ctx context.Context) {
	claimant, ok := r.options.Control.(control.Claimant)
	if !ok || !claimant.Claimed() {
		return
	}
	r.unshown = map[spec.Need]error{}
	offered := r.options.Control.Capabilities()
	for _, need := range []spec.Need{spec.Drive, spec.Observe, spec.Handle} {
		needed := slices.ContainsFunc(r.chosen, func(k *check) bool { return slices.Contains(k.needs, need) })
		if !needed || !slices.Contains(offered, string(need)) {
			continue
		}
		if err := steps.Trial(ctx, r.target, need); err != nil {
			r.unshown[need] = err
		}
	}
}

// untried is why a check cannot run whose need the driver claims and did not show,
// or in whose way a handler may stand that the driver has left.
func (r *run) untried(k *check) error {
	for _, need := range k.needs {
		if err := r.unshown[need]; err != nil {
			return err
		}
	}
	return r.settle()
}

// settle keeps a handler that a driver may have left in the target from being taken
// for the target's own doing. When the driver cannot say that there is none, the
// target's answer to a plain request can.
func (r *run) settle() error {
	settler, ok := r.options.Control.(control.Settler)
	if !ok {
		return nil
	}
	err := settler.Settle()
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.target.Ceiling)
	defer cancel()
	if steps.AsAtFirst(ctx, r.target) {
		return nil
	}
	err = &verdict.Blocked{Reason: "a handler of an earlier check may still be registered in the target", Err: err}
	r.gate.close(err)
	return err
}
