package steps

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/lan"
	"github.com/axonproto/axon/harness/lan/netns"
)

// LAN is a network on which a target advertises itself.
type LAN struct {
	// Network is the suite's instrument there.
	Network *lan.Network
	// Launcher starts daemons of the target's kind; nil when there is none.
	Launcher control.Launcher
	// Second is how long the seconds of the sentences last; 0 means a second. The
	// self test, whose peers have a clock of their own, makes them shorter.
	Second time.Duration
}

// scene is what a scenario does on a network.
type scene struct {
	network *lan.Network
	// mark is where in what the network heard the scenario began.
	mark int
	// asker asks from a port of its own; ask repeats the last question.
	asker *lan.Asker
	asked func() error
	// alone: the last question was asked from a port of its own. Answers to it are
	// looked for from there on.
	alone bool
	from  int
	// advert is the target's, once it was looked for.
	advert *lan.Found
	// newcomers advertise themselves; subject is the one of whom is spoken.
	newcomers []*newcomer
	subject   *newcomer
	// followed: an honest newcomer was found after the last advert.
	followed bool
	// machine is one that was made for the scenario, cable what joins it to here.
	machine *netns.Namespace
	cable   *netns.Cable
	near    *lan.Network
	daemon  control.Daemon
	started time.Time
}

// lan is the scenario's network.
func (s *Scenario) lan() (*scene, error) {
	if s.scene == nil {
		if s.Target.LAN == nil {
			return nil, &verdict.Inapplicable{Need: "lan", Reason: "needs lan: the suite was not given a network on which the target advertises"}
		}
		s.scene = &scene{network: s.Target.LAN.Network}
		if s.scene.network != nil {
			s.scene.mark = s.scene.network.Mark()
		}
	}
	return s.scene, nil
}

// seconds are those of a sentence.
func (s *Scenario) seconds(n int) time.Duration {
	second := time.Second
	if s.Target.LAN != nil && s.Target.LAN.Second > 0 {
		second = s.Target.LAN.Second
	}
	return time.Duration(n) * second
}

// closeScene ends all that the scenario began on its network.
func (s *Scenario) closeScene() {
	sc := s.scene
	if sc == nil {
		return
	}
	for _, n := range sc.newcomers {
		n.close(s)
	}
	if sc.asker != nil {
		_ = sc.asker.Close()
	}
	if sc.daemon != nil {
		_ = sc.daemon.Close()
	}
	if sc.near != nil {
		_ = sc.near.Close()
	}
	if sc.cable != nil {
		_ = sc.cable.Cut()
	}
	if sc.machine != nil {
		_ = sc.machine.Close()
	}
}

// lanPause is how long to wait before looking again at something that tells nobody
// when it changes.
const lanPause = 5 * time.Millisecond

// rest waits for a while; false when the check's time is over.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// isTarget tells whether an instance is the target's: by anything that it says of
// itself, so that one wrong thing does not hide the others.
func (s *Scenario) isTarget(f lan.Found) bool {
	if id, _ := f.Attribute("agent_id"); sameID(id, s.Target.AgentID) {
		return true
	}
	if key, _ := f.Attribute("pubkey"); s.Target.Key != nil && key == keyText(s.Target.Key) {
		return true
	}
	for _, l := range f.Labels {
		if containsID(l, s.Target.AgentID) {
			return true
		}
	}
	target, err := netip.ParseAddrPort(s.Target.Address)
	if err != nil || !f.HasSRV || f.Port != target.Port() {
		return false
	}
	for _, ip := range f.Addresses {
		if ip == target.Addr() {
			return true
		}
	}
	return false
}

// rounds is how often a question is asked before it counts as not answered: a
// packet of multicast may be lost.
const rounds = 3

// heard is the target's instance in what came since the scenario began, and the
// packets from which it was read.
func (sc *scene) heard(s *Scenario) (lan.Found, []lan.Packet, bool) {
	packets := sc.network.Since(sc.mark)
	if sc.asker != nil {
		packets = append(packets, sc.asker.Since(0)...)
	}
	for _, f := range lan.FoundIn(lan.Service, packets...) {
		if s.isTarget(f) {
			return f, packets, true
		}
	}
	return lan.Found{}, packets, false
}

// openAsker opens the scenario's own port at its first use.
func (sc *scene) openAsker() (*lan.Asker, error) {
	if sc.asker == nil {
		a, err := sc.network.Asker()
		if err != nil {
			return nil, err
		}
		sc.asker = a
	}
	return sc.asker, nil
}

// targetAdvert asks until the target's advert is there with all its records. What
// is missing after some rounds stays missing. That there is no instance at all is
// the business of other sentences.
func (s *Scenario) targetAdvert(ctx context.Context) (lan.Found, error) {
	sc, err := s.lan()
	if err != nil {
		return lan.Found{}, err
	}
	if sc.advert != nil {
		return *sc.advert, nil
	}
	a, err := sc.openAsker()
	if err != nil {
		return lan.Found{}, err
	}
	for i := range rounds {
		err := s.askAbout(a)
		if i > 0 {
			// Whoever does not answer other ports may answer the group.
			err = errors.Join(err, sc.network.Ask(lan.Question{Name: lan.Service}))
		}
		if err != nil {
			return lan.Found{}, err
		}
		for until := time.Now().Add(s.seconds(1)); time.Now().Before(until); {
			if f, _, ok := sc.heard(s); ok && f.HasSRV && f.HasTXT && len(f.Addresses) > 0 {
				sc.advert = &f
				return f, nil
			}
			if !rest(ctx, lanPause) {
				break
			}
		}
	}
	f, _, ok := sc.heard(s)
	if !ok {
		return f, blocked("the target does not answer the question for %s on %s, so there is no advert to look at", lan.Service, sc.network.Name())
	}
	sc.advert = &f
	return f, nil
}

// askAbout asks for the service and for what is still missing of each instance.
func (s *Scenario) askAbout(a *lan.Asker) error {
	errs := []error{a.Ask(lan.Question{Name: lan.Service})}
	packets := append(s.scene.network.Since(s.scene.mark), a.Since(0)...)
	for i, f := range lan.FoundIn(lan.Service, packets...) {
		if i == mostInstances {
			break
		}
		if !f.HasSRV {
			errs = append(errs, a.Ask(lan.Question{Name: f.Name, Type: lan.SRV}))
		}
		if !f.HasTXT {
			errs = append(errs, a.Ask(lan.Question{Name: f.Name, Type: lan.TXT}))
		}
		if f.HasSRV && len(f.Addresses) == 0 {
			errs = append(errs, a.Ask(lan.Question{Name: f.Host, Type: lan.A}), a.Ask(lan.Question{Name: f.Host, Type: lan.AAAA}))
		}
	}
	return errors.Join(errs...)
}

// mostInstances are asked about in one round.
const mostInstances = 16

// inapplicableHere is for what this machine does not allow.
func inapplicableHere(err error) error {
	if errors.Is(err, netns.ErrImpossible) || errors.Is(err, lan.ErrNotPermitted) {
		return &verdict.Inapplicable{Reason: err.Error()}
	}
	return err
}

// describeFound says in a few words what an instance shows.
func describeFound(f lan.Found) string {
	return fmt.Sprintf("instance %q, port %d, addresses %v, TXT %q", f.Labels, f.Port, f.Addresses, f.Text)
}
