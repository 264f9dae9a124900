package steps

import (
	"context"
	"fmt"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

// outsiderPatience is how long a target may leave a program of another user without
// a word; a correct one turns it away at once.
const outsiderPatience = time.Second

func init() {
	define(`([\d,]+) local clients are connected`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		for len(s.crowd) < n {
			session, err := s.takePlace(ctx)
			if err != nil {
				return s.lose(nil, fmt.Sprintf("%d clients are served at the same time", n), "client number %d was not: %v", len(s.crowd)+1, err)
			}
			s.crowd = append(s.crowd, session)
			s.moved()
		}
		return nil
	})
	define(`(\d+) local clients connect, write half a line and leave`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		for range n {
			session, err := s.dialLocal(ctx)
			if err != nil {
				return err
			}
			_ = session.Write(ctx, []byte(`{"cmd":"sta`)) // it may be turned away already
			_ = session.Close()
		}
		return nil
	})
	define(`a local client connects and says nothing`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		session, err := s.dialLocal(ctx)
		if err == nil {
			s.crowd = append(s.crowd, session)
		}
		return err
	})
	define(`each of them is served`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for i, session := range s.crowd {
			if l, err := session.Command(ctx, `"cmd":"status"`); err != nil || isRefusal(l) {
				return s.lose(nil, fmt.Sprintf("all %d clients are served", len(s.crowd)), "number %d got %s (%v)", i+1, lastLines(session), err)
			}
			s.moved()
		}
		return nil
	})
	define(`a further client gets one error line that says so and its connection is closed`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.turnedAway(ctx)
	})
	define(`when one of them leaves the next client is served`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		_ = s.crowd[0].Close()
		session, err := s.takePlace(ctx)
		if err != nil {
			return s.lose(nil, "once one of the clients has left the next is served", "it was not within %s: %v", s.Target.Ceiling, err)
		}
		s.crowd[0] = session
		return nil
	})
	define(`a program of another user sends (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		line, err := s.expand(a[0], wire.NewID())
		if err != nil {
			return err
		}
		return s.outsider(ctx, line)
	})
	define(`the program of another user gets no positive answer and no event`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.outsiderIgnored(ctx)
	}).bars()
}

// takePlace connects a client and has it served. The target learns in its own time
// that others have left, so one that is turned away tries again.
func (s *Scenario) takePlace(ctx context.Context) (*control.Session, error) {
	for {
		session, err := s.dialLocal(ctx)
		if err != nil {
			return nil, err
		}
		l, err := session.Command(ctx, `"cmd":"whoami"`)
		if err == nil && !isRefusal(l) {
			return session, nil
		}
		if err == nil {
			err = fmt.Errorf("it got %s", shorten(string(l.Raw)))
		} else if lines := session.Lines(); len(lines) > 0 {
			err = fmt.Errorf("it got %s", shorten(string(lines[0].Raw)))
		}
		_ = session.Close()
		if !pause(ctx) {
			return nil, err
		}
	}
}

// turnedAway: one line more than there are places gets one error.
func (s *Scenario) turnedAway(ctx context.Context) error {
	session, err := s.dialLocal(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	const expected = "a client too many gets one error line with the code overloaded, and its connection is closed"
	_ = session.Write(ctx, []byte(`{"cmd":"whoami"}`+"\n")) // it may be closed already
	if err := session.AwaitEnd(ctx); err != nil {
		return s.lose(nil, expected, "it is open after %s; the last lines were %s", s.Target.Ceiling, lastLines(session))
	}
	lines := session.Lines()
	if len(lines) != 1 || !isRefusal(lines[0]) || lines[0].Member("error") != "overloaded" {
		return fail(nil, expected, "the connection was closed after %d lines, the last of which were %s", len(lines), lastLines(session))
	}
	if m := lines[0].Member("message"); !explains(m, "overloaded") {
		return fail(nil, "a message that says that there are too many clients", "it is %q", m)
	}
	return nil
}

// outsiderIgnored looks at all that the program of another user was sent, after
// something was sent that every client is shown.
func (s *Scenario) outsiderIgnored(ctx context.Context) error {
	if len(s.crowd) == 0 {
		return nil // it could not even connect
	}
	session := s.crowd[0]
	patience, cancel := context.WithTimeout(ctx, outsiderPatience)
	// What matters is what was said, if anything, not how the wait ended.
	_, _, _ = session.Find(patience, 0, func(control.Line) bool { return true })
	cancel()
	if _, err := s.barrier(ctx, "A"); err != nil {
		return err
	}
	if _, err := s.send(ctx, false, plain("message", wire.NewID())); err != nil {
		return err
	}
	if err := s.shownEvent(ctx, "A", "inbound"); err != nil {
		return err
	}
	// Whoever is shown things in turn has had a turn when two more have been shown.
	for range barriers {
		if _, err := s.send(ctx, false, plain("message", wire.NewID())); err != nil {
			return err
		}
		if err := s.shownEvent(ctx, "A", "inbound"); err != nil {
			return err
		}
	}
	for _, l := range session.Lines() {
		if l.Member("event") != "" || !isRefusal(l) {
			return fail(nil, "a program of another user is not served", "it was sent %s", shorten(string(l.Raw)))
		}
	}
	return nil
}
