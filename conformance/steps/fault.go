package steps

import (
	"context"
	"errors"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
)

// notTheTarget sorts out the errors of a control that say nothing about the target:
// what stands between the suite and the target failed, or has no such act. For any
// other error it is nil.
func notTheTarget(err error) error {
	if fault, ok := errors.AsType[*control.Fault](err); ok {
		return &verdict.Blocked{Reason: fault.Error()}
	}
	if errors.Is(err, control.ErrUnsupported) {
		return &verdict.Inapplicable{Reason: err.Error()}
	}
	return nil
}

// blockedOr is notTheTarget for acts that are preconditions: what does not succeed
// keeps the check from running.
func blockedOr(err error, reason string) error {
	if sorted := notTheTarget(err); sorted != nil {
		return sorted
	}
	return &verdict.Blocked{Reason: reason, Err: err}
}

// callsFault tells, once ctx has ended, whether one of the times that the target was
// asked to send failed on the way to the target.
func (s *Scenario) callsFault(ctx context.Context) error {
	for _, c := range s.calls {
		if ctx.Err() == nil {
			return nil
		}
		<-c.done // the calls have the same ctx
		if err := notTheTarget(c.err); err != nil {
			return err
		}
	}
	return nil
}
