package steps

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// ErrOtherProtocol: the target speaks QUIC and refuses the token axon/1, which is
// itself a broken sentence (AXON-TLS-001).
var ErrOtherProtocol = errors.New("the target refuses the ALPN token axon/1, so it does not speak AXON protocol v1 at this address")

// ErrOtherToken: the target speaks AXON, but under another token than axon/1.
var ErrOtherToken = errors.New("the target does not negotiate the ALPN token axon/1")

// similarTokens are what an implementer may have put in place of axon/1. Each is in
// one offer; a server of another protocol has none of them.
var similarTokens = []string{"axon", "AXON/1", "Axon/1", "axon1", "axon-1", "axon/v1", "axonv1", "axon/1.0", "axon/0", "axon/2", "axon-quic", "axon/quic"}

// otherToken looks, after a dial that failed for want of a common token, whether
// the target is an AXON peer all the same, and says what it negotiates.
func (s *Scenario) otherToken(ctx context.Context, e *probe.Endpoint, err error) (string, bool) {
	var dial *probe.DialError
	if !errors.As(err, &dial) || dial.Refusal == nil || !dial.Refusal.TLSAlert || dial.Refusal.Alert != alertNoProtocol {
		return "", false
	}
	if !dial.Refusal.Remote {
		return "none at all", true
	}
	o := s.Target.dialOptions()
	o.ALPN = similarTokens
	c, err := e.Dial(ctx, o)
	if err != nil {
		return "", false
	}
	s.conns = append(s.conns, c)
	return strconv.Quote(c.State().NegotiatedProtocol), true
}

// alertNoProtocol is the TLS alert no_application_protocol (RFC 9001, section 8.1).
const alertNoProtocol = 120

// Preflight meets the target for the first time: it learns the key where none is
// pinned, sees whether the suite is admitted, and how the target answers a plain
// request. It fills the Target and returns how long the answer took, 0 when none
// came. Its error is a *verdict.Blocked, the reason why nothing can be checked.
func Preflight(ctx context.Context, t *Target) (answered time.Duration, err error) {
	s := New(t, nil)
	defer s.Close()
	e, err := s.probe()
	if err != nil {
		return 0, err
	}
	o := t.dialOptions()
	o.ExpectKey = t.Key
	c, err := e.Dial(ctx, o)
	if err != nil {
		if token, speaks := s.otherToken(ctx, e, err); speaks {
			return 0, &verdict.Blocked{Reason: ErrOtherToken.Error() + " but " + token, Err: ErrOtherToken}
		}
		return 0, t.explainDial(err)
	}
	s.conns = append(s.conns, c)
	s.conn = c
	if t.Key == nil {
		t.Key = c.PeerKey()
	}
	if t.Key != nil {
		t.AgentID = credential.AgentID(t.Key)
	}
	began := time.Now()
	x, err := s.sendOn(ctx, c, true, plain("request", wire.NewID()))
	if err == nil {
		// The error is a time-out: a target that took the connection and does not
		// answer is judged, not skipped.
		r, _ := x.await(ctx)
		took := time.Since(began)
		if r.values > 0 {
			ending, cancel := context.WithTimeout(ctx, endingPatience)
			r, _ = x.awaitEnd(ending)
			cancel()
		}
		t.Usual = usualOf(r)
		t.Usual.took = took
		if t.Usual.value {
			return took, nil
		}
	}
	if end := c.End(); end != nil {
		return 0, s.explainEnd(ctx, end)
	}
	return 0, nil
}

// KeepsConnections tells whether the target serves two connections of one peer at
// the same time.
func KeepsConnections(ctx context.Context, t *Target) bool {
	s := New(t, nil)
	defer s.Close()
	first, err := s.dial(ctx)
	if err != nil {
		return false
	}
	if _, err := s.good(ctx, first); err != nil {
		// A target that answers nothing shows nothing here.
		return first.End() == nil
	}
	second, err := s.dial(ctx)
	if err != nil {
		return false
	}
	for _, c := range []*probe.Conn{second, first} {
		if _, err := s.good(ctx, c); err != nil {
			// One that is closed is not kept; one that is open and silent is, and
			// owes an answer.
			return first.End() == nil && c.End() == nil
		}
	}
	return true
}

// State of a target between two scenarios.
type State int

// The states.
const (
	Alive State = iota
	Mute        // it takes connections and answers no request
	Gone        // it takes no connection
)

// Look dials anew and sends a plain request.
func Look(ctx context.Context, t *Target) (State, error) {
	s := New(t, nil)
	defer s.Close()
	c, err := s.dial(ctx)
	if err != nil {
		return Gone, err
	}
	if _, err := s.good(ctx, c); err != nil {
		if c.End() != nil {
			return Gone, err
		}
		return Mute, err
	}
	return Alive, nil
}

// explainDial turns the error of the first dial into the reason why nothing runs.
func (t *Target) explainDial(err error) error {
	var dial *probe.DialError
	if errors.Is(err, probe.ErrKeyMismatch) {
		return &verdict.Blocked{Reason: "the target at " + t.Address + " holds another key than the one named: check --target-key or the token, or leave the key out to learn it", Err: err}
	}
	if errors.As(err, &dial) {
		if dial.Stage == "resolve" {
			return &verdict.Blocked{Reason: fmt.Sprintf("the address %s cannot be resolved: name the target as host:port", t.Address), Err: err}
		}
		if r := dial.Refusal; r != nil && r.TLSAlert {
			if r.Alert == alertNoProtocol {
				return &verdict.Blocked{Reason: ErrOtherProtocol.Error(), Err: ErrOtherProtocol}
			}
			if r.Remote {
				return t.notAdmitted(fmt.Sprintf("TLS alert %d", r.Alert))
			}
		}
	}
	return &verdict.Blocked{Reason: "nothing speaks QUIC at " + t.Address + ": start the target, check host, UDP port and firewall", Err: err}
}

// explainEnd does the same for a connection that ended during the first request. A
// TLS alert is a refusal of the key. So is a close by the application, if a
// connection on which nothing is sent is closed too; a target that closes only
// when it is asked something is one to be judged.
func (s *Scenario) explainEnd(ctx context.Context, end *probe.Closing) error {
	t := s.Target
	if end.Remote && end.TLSAlert {
		return t.notAdmitted(describeClosing(end))
	}
	if end.Remote && end.Application {
		idle, err := s.dial(ctx)
		if err != nil {
			return t.notAdmitted(describeClosing(end))
		}
		wait, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		select {
		case <-idle.Done():
			return t.notAdmitted(describeClosing(end))
		case <-wait.Done():
			return nil
		}
	}
	return &verdict.Blocked{Reason: "the first connection to " + t.Address + " broke before a request was answered: " + describeClosing(end)}
}

func (t *Target) notAdmitted(how string) error {
	return &verdict.Blocked{Reason: fmt.Sprintf("the target refuses the suite's key (%s): admit the public key %s (Agent ID %s) in the target's list of known peers, "+
		"for AXON's own daemon under peers: in config.yaml; `axon-conformance identity` prints a ready entry", how, t.Identity.PublicBase64(), t.Identity.AgentID())}
}
