package steps

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan"
	"github.com/axonproto/axon/harness/lan/netns"
)

// daemonPort is AXON's usual one; nobody else is on a machine of its own.
const daemonPort = 7100

// ways in which the features start a daemon, by their words.
var launches = map[string]control.Launch{
	"":                        {},
	"with trust by enrolment": {Enrolment: true},
	"with discovery switched off by its configuration":        {NoDiscovery: control.ByConfiguration},
	"with discovery switched off by an option of its command": {NoDiscovery: control.ByCommandLine},
}

func init() {
	define(`a machine (without a network|whose network carries no multicast|without IPv6|on a network of its own)`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.machine(a[0])
	})
	define(`a daemon of the target's kind is started there(?:, (with .+))?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.launch(ctx, a[0])
	})
	define(`a daemon of the target's kind on a network of its own(?:, (with .+))?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		if err := s.machine("on a network of its own"); err != nil {
			return err
		}
		return s.launch(ctx, a[0])
	})
	define(`the daemon keeps running`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		return s.daemonLives()
	})
	define(`a network comes`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		if err := s.connect(true); err != nil {
			return err
		}
		return s.joinNetwork()
	})
	define(`its network begins to carry multicast`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		return s.scene.cable.Multicast(true)
	})
	define(`the suite is served when it dials the daemon`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.servedByDaemon(ctx)
	})
	define(`within (\d+) seconds it and an honest newcomer are connected`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		seconds, err := number(a[0])
		if err != nil {
			return err
		}
		n, err := s.arrive(netip.Addr{}, nil)
		if err != nil {
			return err
		}
		if err := s.advertise(n, n.honest()); err != nil {
			return err
		}
		return s.meet(ctx, n, s.seconds(seconds))
	})
	define(`for (\d+) seconds from its start it logs at most once that discovery does not work`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.logsOnce(ctx, a[0])
	}).bars()
	define(`for (\d+) seconds from its start it multicasts nothing and answers no question`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.keepsSilent(ctx, a[0])
	}).bars()
	define(`the daemon (ends in good order|is killed) and is started again with discovery switched off`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n := s.newcomer()
		if n.talker != nil {
			n.talker.Stop()
		}
		d := s.scene.daemon
		if err := d.End(ctx, a[0] == "is killed"); err != nil {
			return &verdict.Blocked{Reason: "the daemon could not be ended", Err: err}
		}
		if err := d.Again(ctx, control.ByConfiguration); err != nil {
			return fail(nil, "the daemon starts again with the state that it left", "%v", err)
		}
		s.Target.Control = d.Control()
		return nil
	})
	define(`the newcomer is admitted when it dials, and a request of its is answered`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		n := s.newcomer()
		const expected = "the newcomer, whose key was pinned, is admitted when it dials"
		ctx, cancel := context.WithTimeout(ctx, s.Target.Ceiling)
		defer cancel()
		c, err := n.endpoint.Dial(ctx, s.Target.dialOptions())
		if err != nil {
			return fail(nil, expected, "%v", err)
		}
		n.take(c)
		if x, err := s.good(ctx, c); err != nil {
			return fail(x, expected, "%s", actualOf(err))
		}
		return nil
	})
	define(`it becomes a candidate`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.becomesCandidate(ctx, s.newcomer())
	})
	define(`the target has not dialled it, and refuses it when it dials`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		n := s.newcomer()
		// A second candidate shows that the target has dealt with the first.
		after, err := s.arrive(netip.Addr{}, nil)
		if err != nil {
			return err
		}
		if err := s.advertise(after, after.honest()); err != nil {
			return err
		}
		if err := s.becomesCandidate(ctx, after); err != nil {
			return err
		}
		if err := s.notDialled(n); err != nil {
			return err
		}
		return s.refusesNewcomer(ctx, n)
	})
	define(`its owner enrols it`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		n := s.newcomer()
		if err := s.Target.Control.Enroll(ctx, n.identity.Public(), n.at.String()); err != nil {
			return blockedOr(err, "the target did not take the candidate as a peer")
		}
		return nil
	})
}

// machine makes one for the scenario.
func (s *Scenario) machine(how string) error {
	sc, err := s.lan()
	if err != nil {
		return err
	}
	if s.Target.LAN.Launcher == nil {
		return &verdict.Inapplicable{Need: "cli", Reason: "needs cli: the suite was not given the target's command line"}
	}
	if sc.machine, err = netns.New(); err != nil {
		return inapplicableHere(err)
	}
	sc.network = nil
	if how == "without a network" {
		return nil
	}
	if how == "without IPv6" {
		if err := sc.machine.DisableIPv6(); err != nil {
			return err
		}
	}
	if err := s.connect(how != "whose network carries no multicast"); err != nil {
		return err
	}
	return s.joinNetwork()
}

// connect lays a cable to the machine.
func (s *Scenario) connect(multicast bool) (err error) {
	s.scene.cable, err = s.scene.machine.Connect(multicast)
	return err
}

// joinNetwork has the scenario take place at the near end of the cable.
func (s *Scenario) joinNetwork() error {
	sc := s.scene
	near, err := lan.Open(sc.cable.Near)
	if err != nil {
		return err
	}
	sc.near, sc.network = near, near
	sc.mark = near.Mark()
	t := *s.Target
	t.Address = net.JoinHostPort(sc.cable.FarAddr.String(), strconv.Itoa(daemonPort))
	t.Watch = nil
	s.Target = &t
	return nil
}

// launch starts a daemon on the machine. From then on the scenario speaks of it as
// the target.
func (s *Scenario) launch(ctx context.Context, how string) error {
	l, known := launches[how]
	if !known {
		return fmt.Errorf("there is no daemon %s: see steps.launches for the list", how)
	}
	sc := s.scene
	l.Machine, l.Port, l.Known = sc.machine, daemonPort, s.Target.Identity.Public()
	sc.started = time.Now()
	d, err := s.Target.LAN.Launcher.Launch(ctx, l)
	if err != nil {
		if sc.cable == nil {
			return fail(nil, "the daemon starts on a machine without a network", "%v", err)
		}
		return blockedOr(err, "no daemon of the target's kind could be started")
	}
	sc.daemon = d
	t := *s.Target
	t.Key, t.Control, t.Single = d.Key(), d.Control(), false
	t.AgentID = credential.AgentID(t.Key)
	s.Target = &t
	return nil
}

func (s *Scenario) daemonLives() error {
	if err := s.scene.daemon.Alive(); err != nil {
		return fail(nil, "the daemon keeps running", "%v", err)
	}
	return nil
}

// servedByDaemon dials until it is served: what has just got a network may need a
// moment to notice.
func (s *Scenario) servedByDaemon(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, s.seconds(meetPatience))
	defer cancel()
	var why error
	for {
		dialling, cancel := context.WithTimeout(waiting, reachPatience)
		c, err := s.dial(dialling)
		if err == nil {
			_, err = s.good(dialling, c)
		}
		cancel()
		if err == nil {
			s.Lost = false
			return nil
		}
		why = err
		if dead := s.daemonLives(); dead != nil {
			return dead
		}
		if !rest(waiting, lanPause) {
			return fail(nil, "the daemon serves the peer that it knows", "it did not: %v", why)
		}
	}
}

// becomesCandidate waits until a newcomer is listed as a candidate.
func (s *Scenario) becomesCandidate(ctx context.Context, n *newcomer) error {
	waiting, cancel := context.WithTimeout(ctx, s.seconds(meetPatience))
	defer cancel()
	id := n.identity.AgentID()
	entry, found, err := s.awaitListed(waiting, id, func(p control.Listed) bool { return p.Trust == "candidate" })
	if err != nil || found {
		return err
	}
	return fail(nil, "the target lists "+id+" as a candidate", "it is listed with status %q, trust %q, source %q", entry.Status, entry.Trust, entry.Source)
}

var (
	aboutDiscovery = regexp.MustCompile(`(?i)discover|mdns|multicast|dns-sd`)
	aboutTrouble   = regexp.MustCompile(`(?i)cannot|can't|could ?n[o']t|fail|error|warn|unable|unreachable|no (network|interface|such|route)|not (work|usable|available|permitted)`)
)

// logsOnce looks at the log of the first seconds: a line in each round shows soon.
func (s *Scenario) logsOnce(ctx context.Context, text string) error {
	seconds, err := number(text)
	if err != nil {
		return err
	}
	if !rest(ctx, time.Until(s.scene.started.Add(s.seconds(seconds)))) {
		return ctx.Err()
	}
	if err := s.daemonLives(); err != nil {
		return err
	}
	var lines []string
	for _, l := range s.scene.daemon.Log() {
		if aboutDiscovery.MatchString(l) && aboutTrouble.MatchString(l) {
			lines = append(lines, l)
		}
	}
	if len(lines) > 1 {
		return fail(nil, fmt.Sprintf("at most one line within %s that says that discovery does not work", s.seconds(seconds)),
			"there are %d, such as %s", len(lines), shorten(strings.Join(lines[:2], " and ")))
	}
	return nil
}

// keepsSilent asks, and hears nothing of the daemon.
func (s *Scenario) keepsSilent(ctx context.Context, text string) error {
	seconds, err := number(text)
	if err != nil {
		return err
	}
	sc := s.scene
	a, err := sc.openAsker()
	if err != nil {
		return err
	}
	// Silence takes as long as the sentence gives others for speaking.
	for until := time.Now().Add(s.seconds(seconds)); time.Now().Before(until); {
		for _, ask := range []func(lan.Question) error{sc.network.Ask, a.Ask} {
			if err := ask(lan.Question{Name: lan.Service}); err != nil {
				return err
			}
		}
		if !rest(ctx, s.seconds(1)) {
			return ctx.Err()
		}
	}
	if err := s.servedByDaemon(ctx); err != nil {
		return err
	}
	heard := append(sc.network.Since(sc.mark), a.Since(0)...)
	// On this cable there are two machines, and the suite's own packets are not
	// among what is heard; the system's own use of multicast goes elsewhere.
	i := slices.IndexFunc(heard, func(p lan.Packet) bool { return p.From.Addr() != sc.cable.NearAddr })
	if i < 0 {
		return nil
	}
	p := heard[i]
	what := "a datagram that is no DNS message"
	switch {
	case p.Answers():
		what = "an answer with " + recordsOf(p)
	case p.Message != nil && len(p.Message.Question) > 0:
		what = "a question for " + p.Message.Question[0].Name
	}
	return fail(nil, "no multicast and no answer from a daemon whose discovery is switched off", "it sent %s from %s", what, p.From)
}
