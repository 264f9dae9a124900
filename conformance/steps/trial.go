package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
	"github.com/axonproto/axon/spec"
)

// Trial sees whether anything at all comes of a need that a driver claims to serve.
// Without it the silence of a driver that claims too much would be held against the
// target. Its error is a *verdict.Blocked, the reason why checks of the need cannot
// run.
func Trial(ctx context.Context, t *Target, need spec.Need) error {
	s := New(t, nil)
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, t.Ceiling)
	defer cancel()
	var nothing string
	var err error
	switch need {
	case spec.Drive:
		nothing = "of a message and a request that the target was asked to send nothing came, not even a dial"
		err = s.tryDrive(ctx)
	case spec.Handle:
		nothing = "of a request to the target the handler was shown nothing"
		err = s.tryHandle(ctx)
	case spec.Observe:
		nothing = "of a message, an unsolicited error and an envelope of an unknown kind that the target was sent nothing was shown"
		err = s.tryObserve(ctx)
	}
	var blocked *verdict.Blocked
	switch {
	case err == nil, errors.As(err, &blocked):
		return err
	case errors.Is(err, errNothing), timedOut(err):
		return &verdict.Blocked{Reason: fmt.Sprintf("the driver claims %s, but %s within %s: either the driver or the target does not do it at all", need, nothing, t.Ceiling)}
	}
	return &verdict.Blocked{Reason: fmt.Sprintf("the driver claims %s, but a first trial failed", need), Err: err}
}

// AsAtFirst tells whether the target answers a plain request in the same way as at
// the beginning of the run, so that no handler of the suite's can be in the way.
func AsAtFirst(ctx context.Context, t *Target) bool {
	s := New(t, nil)
	defer s.Close()
	c, err := s.dial(ctx)
	if err != nil {
		return false
	}
	x, err := s.sendOn(ctx, c, true, plain("request", wire.NewID()))
	if err != nil {
		return false
	}
	r, err := x.await(ctx)
	return err == nil && usualOf(r).form == t.Usual.form
}

var errNothing = errors.New("nothing came")

func (s *Scenario) tryObserve(ctx context.Context) error {
	o, err := s.Target.Control.Observe(ctx)
	if err != nil {
		return blockedOr(err, "no local client could be attached")
	}
	s.observer = o
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	for _, kind := range []string{"message", "error", "future"} {
		if _, err := s.sendOn(ctx, c, false, plain(kind, wire.NewID())); err != nil {
			return err
		}
	}
	if _, err = o.Next(ctx); err != nil {
		return sorted(err)
	}
	return nil
}

func (s *Scenario) tryHandle(ctx context.Context) error {
	if err := s.registerHandler(ctx); err != nil {
		return err
	}
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	if _, err := s.sendOn(ctx, c, true, plain("request", wire.NewID())); err != nil {
		return err
	}
	r, err := s.handler.Next(ctx)
	if err != nil {
		return sorted(err)
	}
	_, err = s.handler.Decline(ctx, r)
	return sorted(err)
}

func (s *Scenario) tryDrive(ctx context.Context) error {
	p, err := s.enrolled(ctx, probe.ListenOptions{})
	if err != nil {
		return err
	}
	for _, kind := range []string{"message", "request"} {
		if err := s.ask(ctx, control.Send{Kind: kind, Payload: []byte(`{}`), Timeout: time.Second}); err != nil {
			return err
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.asking.Wait()
	}()
	select {
	case <-p.incoming:
		return nil
	case <-ended:
	}
	for _, c := range s.calls {
		if err := notTheTarget(c.err); err != nil {
			return err
		}
	}
	if len(p.incoming) == 0 && len(p.listener.Attempts()) == 0 {
		return errNothing
	}
	return nil
}

// sorted prefers what notTheTarget makes of an error.
func sorted(err error) error {
	if fault := notTheTarget(err); fault != nil {
		return fault
	}
	return err
}
