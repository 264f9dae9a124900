package steps

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan"
	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`a newcomer on the network`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		_, err := s.arrive(netip.Addr{}, nil)
		return err
	})
	define(`(\d+) newcomers on the network`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		for range n {
			if _, err := s.arrive(netip.Addr{}, nil); err != nil {
				return err
			}
		}
		return nil
	})
	define(`an honest newcomer that the target has found`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		sc, err := s.lan()
		if err != nil {
			return err
		}
		sc.followed = false
		if err := s.lanBarrier(ctx); err != nil {
			return err
		}
		sc.subject = sc.newcomers[len(sc.newcomers)-1]
		return nil
	})
	define(`the newcomers? advertises? (?:itself|themselves)`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		for _, n := range s.scene.newcomers {
			if err := s.advertise(n, n.honest()); err != nil {
				return err
			}
		}
		return nil
	})
	define(`(the|another) newcomer advertises itself with (.+)`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		sc, err := s.lan()
		if err != nil {
			return err
		}
		if a[0] == "another" {
			if sc.subject, err = s.arrive(netip.Addr{}, nil); err != nil {
				return err
			}
		}
		advert, err := s.advertOf(sc.subject, a[1])
		if err != nil {
			return err
		}
		return s.advertise(sc.subject, advert)
	})
	define(`each of them and the target are connected`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for _, n := range s.scene.newcomers {
			if err := s.meet(ctx, n, s.seconds(meetPatience)); err != nil {
				return err
			}
		}
		return nil
	})
	define(`it and the target are connected`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.meet(ctx, s.newcomer(), s.seconds(meetPatience))
	})
	define(`less than (\d+) seconds pass from its first advert until it and the target are connected`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n := s.newcomer()
		return s.meetWithin(ctx, n, a[0], n.talker.First())
	})
	define(`less than (\d+) seconds pass from the start of the daemon until it and the newcomer are connected`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.meetWithin(ctx, s.newcomer(), a[0], s.scene.started)
	})
	define(`an honest newcomer that follows is found`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		_, err := s.follow(ctx)
		return err
	})
	define(`its advert leads to nothing`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.leadsToNothing(ctx, s.newcomer())
	})
	define(`the target does not take it for a daemon that is there`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		n := s.newcomer()
		if err := s.lanBarrier(ctx); err != nil {
			return err
		}
		if err := s.notDialled(n); err != nil {
			return err
		}
		return s.notListed(ctx, n.identity.AgentID())
	})
	define(`a datagram that is no DNS message is sent to the network: (.+)`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		sc, err := s.lan()
		if err != nil {
			return err
		}
		b, err := s.expand(a[0], wire.NewID())
		if err != nil {
			return err
		}
		sc.followed = false
		return sc.network.Send(b, netip.Addr{})
	})
	define(`the target's advert is repeated by a newcomer, with the newcomer's address in it`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		f, err := s.targetAdvert(ctx)
		if err != nil {
			return err
		}
		n, err := s.arrive(netip.Addr{}, nil)
		if err != nil {
			return err
		}
		s.scene.subject = n
		advert := n.honest()
		advert.Label, advert.Text = f.Labels[0], slices.Clone(f.Text)
		return s.advertise(n, advert)
	})
	define(`the target does not dial that address, and does not list itself`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		n := s.newcomer()
		if err := s.lanBarrier(ctx); err != nil {
			return err
		}
		if err := s.notDialled(n); err != nil {
			return err
		}
		return s.notListed(ctx, s.Target.AgentID)
	})
	define(`a newcomer on the network, at whose address nobody answers`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		n, err := s.arrive(netip.Addr{}, nil)
		if err != nil {
			return err
		}
		n.leave()
		n.silent, err = net.ListenPacket("udp", netip.AddrPortFrom(n.at.Addr(), 0).String())
		if err != nil {
			return fmt.Errorf("open a UDP socket that answers nothing: %w", err)
		}
		n.at = n.silent.LocalAddr().(*net.UDPAddr).AddrPort()
		return nil
	})
	define(`the target may list it`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		n := s.newcomer()
		waiting, cancel := context.WithTimeout(ctx, s.seconds(meetPatience))
		defer cancel()
		_, found, err := s.awaitListed(waiting, n.identity.AgentID(), func(control.Listed) bool { return true })
		n.listed = found
		return err
	})
	define(`(it|the newcomer) falls silent`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		for _, n := range s.scene.newcomers {
			if n.talker != nil {
				n.talker.Stop()
			}
		}
		return nil
	})
	define(`the newcomer says goodbye to the network`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		s.scene.followed = false
		return s.newcomer().talker.Goodbye()
	})
	define(`(\d+) seconds after its last advert the target no longer lists it`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n := s.newcomer()
		if !n.listed {
			s.Observed = "the target lists nobody whom it has not met"
			return nil
		}
		if err := s.untilAfter(ctx, n, a[0]); err != nil {
			return err
		}
		return s.notListed(ctx, n.identity.AgentID())
	})
	define(`(\d+) seconds after its last advert a request on their connection is answered`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n := s.newcomer()
		if err := s.untilAfter(ctx, n, a[0]); err != nil {
			return err
		}
		return s.stillServed(ctx, n)
	})
	define(`a request on the newcomer's connection is answered`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.stillServed(ctx, s.newcomer())
	})
	define(`([\d,]+) different daemons are advertised within a few seconds`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		return s.advertiseCrowd(ctx, n)
	})
	define(`within (\d+) seconds after the last of them an honest newcomer is found`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		late, err := s.arrive(netip.Addr{}, nil)
		if err != nil {
			return err
		}
		if err := s.advertise(late, late.honest()); err != nil {
			return err
		}
		return s.meet(ctx, late, s.seconds(n))
	})
	define(`a newcomer with two addresses, found at the first of them`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.twoAddresses(ctx)
	})
	define(`it leaves its first address and falls silent there(?:, and (\d+) seconds pass)?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		first := s.newcomer()
		first.talker.Stop()
		first.leave()
		if a[0] == "" {
			return nil
		}
		return s.untilAfter(ctx, first, a[0])
	})
	define(`the suite's own key, which is pinned, is still admitted`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		ctx, cancel := context.WithTimeout(ctx, s.Target.Ceiling)
		defer cancel()
		c, err := s.dial(ctx)
		if err == nil {
			_, err = s.good(ctx, c)
		}
		if err != nil {
			s.Lost = false
			return fail(nil, "the suite, whose key is pinned, is admitted and served as before", "it is not: %s", actualOf(err))
		}
		return nil
	})
	define(`a newcomer advertises itself at the address of that peer`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		n, err := s.arrive(netip.Addr{}, nil)
		if err != nil {
			return err
		}
		n.at = s.peer().endpoint.Addr().(*net.UDPAddr).AddrPort()
		if err := s.advertise(n, n.honest()); err != nil {
			return err
		}
		return s.lanBarrier(ctx)
	})
	define(`it is refused when it dials`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.refusesNewcomer(ctx, s.newcomer())
	})
	define(`that peer is still admitted when it dials`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		const expected = "the pinned peer is admitted and served as before"
		ctx, cancel := context.WithTimeout(ctx, s.Target.Ceiling)
		defer cancel()
		c, err := s.peer().endpoint.Dial(ctx, s.Target.dialOptions())
		if err != nil {
			return fail(nil, expected, "%v", err)
		}
		s.peer().take(c)
		if x, err := s.good(ctx, c); err != nil {
			return fail(x, expected, "it is not: %s", actualOf(err))
		}
		return nil
	})
	define(`the connections of that peer end`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		for _, c := range s.peer().connections() {
			_ = c.Close(0, "the peer begins anew")
		}
		return nil
	})
	define(`the target, asked to send it a request, reaches it(?: at its other address)?`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.reached(ctx)
	})
	define(`an advert gives an address for that peer at which (nobody|another key) answers`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.misadvertise(ctx, a[0])
	})
	define(`the target still lists it`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		id := s.newcomer().identity.AgentID()
		if _, found, err := s.awaitListed(ctx, id, nil); err != nil || found {
			return err
		}
		return fail(nil, "the target still lists "+id, "it does not")
	})
}

// meetWithin holds the time until a newcomer was met against a number of seconds.
func (s *Scenario) meetWithin(ctx context.Context, n *newcomer, text string, from time.Time) error {
	limit, err := number(text)
	if err != nil {
		return err
	}
	if err := s.meet(ctx, n, s.seconds(2*limit)); err != nil {
		return err
	}
	if took := n.met.Sub(from); took >= s.seconds(limit) {
		return fail(&exchange{conn: n.conn}, fmt.Sprintf("less than %s", s.seconds(limit)), "it took %s", took.Round(time.Millisecond))
	}
	return nil
}

// leadsToNothing: not dialled, not listed, and refused when it dials.
func (s *Scenario) leadsToNothing(ctx context.Context, n *newcomer) error {
	if err := s.lanBarrier(ctx); err != nil {
		return err
	}
	if err := s.notDialled(n); err != nil {
		return err
	}
	for _, id := range []string{n.identity.AgentID(), n.claims} {
		if id == "" {
			continue
		}
		if err := s.notListed(ctx, id); err != nil {
			return err
		}
	}
	return s.refusesNewcomer(ctx, n)
}

// lister is the way to the target's list of peers, nil where there is none.
func (s *Scenario) lister() control.Lister {
	l, _ := s.Target.Control.(control.Lister)
	return l
}

// awaitListed waits until an Agent ID is listed in a way; without a way it looks
// once. Where the target shows its peers to nobody the check is not applicable.
func (s *Scenario) awaitListed(ctx context.Context, id string, in func(control.Listed) bool) (entry control.Listed, found bool, err error) {
	l := s.lister()
	if l == nil {
		return entry, false, &verdict.Inapplicable{Reason: "the suite has no way to see which peers this target lists (--ipc)"}
	}
	for {
		looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Target.Ceiling)
		list, err := l.Peers(looking)
		cancel()
		if err != nil {
			return entry, false, blockedOr(err, "the target does not show its peers")
		}
		i := slices.IndexFunc(list, func(p control.Listed) bool { return strings.EqualFold(p.AgentID, id) })
		if i >= 0 {
			entry = list[i]
			if in == nil || in(entry) {
				return entry, true, nil
			}
		}
		if in == nil || !rest(ctx, 4*lanPause) {
			return entry, false, nil
		}
	}
}

// notListed: an Agent ID is not among the target's peers, where these can be seen.
func (s *Scenario) notListed(ctx context.Context, id string) error {
	if s.lister() == nil {
		return nil
	}
	entry, found, err := s.awaitListed(ctx, id, nil)
	if err != nil || !found {
		return err
	}
	return fail(nil, "the target does not list "+id, "it is listed at %s with status %s, trust %s, source %s", entry.Address, entry.Status, entry.Trust, entry.Source)
}

// untilAfter waits until a number of seconds have passed since a newcomer's last
// advert: the sentences are about that time.
func (s *Scenario) untilAfter(ctx context.Context, n *newcomer, text string) error {
	seconds, err := number(text)
	if err != nil {
		return err
	}
	if !rest(ctx, time.Until(n.talker.Last().Add(s.seconds(seconds)))) {
		return ctx.Err()
	}
	return nil
}

// stillServed sends a request on a newcomer's connection.
func (s *Scenario) stillServed(ctx context.Context, n *newcomer) error {
	x := &exchange{conn: n.conn}
	const expected = "the connection stays, and a request on it is answered"
	if end := n.conn.End(); end != nil {
		return fail(x, expected, "it ended: %s", describeClosing(end))
	}
	ctx, cancel := context.WithTimeout(ctx, s.Target.Ceiling)
	defer cancel()
	if x, err := s.good(ctx, n.conn); err != nil {
		return fail(x, expected, "%s", actualOf(err))
	}
	return nil
}

// misadvertise advertises the scenario's peer, with its own key, at an address where
// nobody can prove that key.
func (s *Scenario) misadvertise(ctx context.Context, who string) error {
	n, err := s.arrive(netip.Addr{}, nil)
	if err != nil {
		return err
	}
	if who == "nobody" {
		n.leave()
		if n.silent, err = net.ListenPacket("udp", netip.AddrPortFrom(n.at.Addr(), 0).String()); err != nil {
			return fmt.Errorf("open a UDP socket that answers nothing: %w", err)
		}
		n.at = n.silent.LocalAddr().(*net.UDPAddr).AddrPort()
	}
	if err := s.advertise(n, lan.Honest(s.peer().identity, n.at)); err != nil {
		return err
	}
	return s.lanBarrier(ctx)
}

// reached has the target send requests to the latest peer until one arrives. That
// the first is lost with a connection that has just ended is nobody's fault.
func (s *Scenario) reached(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, max(s.seconds(meetPatience), s.Target.Ceiling))
	defer cancel()
	const expected = "the peer is reached: a request that the target is asked to send arrives"
	for {
		if err := s.ask(waiting, control.Send{Kind: "request", Payload: []byte(`{"from_caller":true}`)}); err != nil {
			return err
		}
		c := s.lastCall()
		select {
		case x := <-s.peer().incoming:
			s.peer().received = append(s.peer().received, x)
			r, err := x.awaitEnd(waiting)
			if err != nil || r.envelope.Kind != "request" {
				return fail(x, expected, "the stream carried %s", r.describe())
			}
			id := r.envelope.ID
			return s.peerWrites(ctx, wire.Outgoing{ID: wire.NewID(), Kind: "response", Ref: &id}.Bytes())
		case <-c.done:
			if err := notTheTarget(c.err); err != nil {
				return err
			}
		case <-waiting.Done():
		}
		if !rest(waiting, 10*lanPause) {
			return fail(nil, expected, "none arrived within %s; the caller was last told: %s", max(s.seconds(meetPatience), s.Target.Ceiling), c.describe())
		}
	}
}

// crowdBatch adverts go out at once; then the network is given a pause.
const crowdBatch = 50

// advertiseCrowd advertises many daemons that are not there, once each.
func (s *Scenario) advertiseCrowd(ctx context.Context, n int) error {
	sc, err := s.lan()
	if err != nil {
		return err
	}
	ip := sc.network.Addresses()[0]
	for i := range n {
		id, err := credential.New()
		if err != nil {
			return err
		}
		// Ports of the discard service and above it, at the suite's own address.
		b, err := lan.Honest(id, netip.AddrPortFrom(ip, uint16(9+i%40))).Pack(0, nil)
		if err != nil {
			return err
		}
		if err := sc.network.Send(b, netip.Addr{}); err != nil {
			return err
		}
		if i%crowdBatch == crowdBatch-1 && !rest(ctx, s.seconds(2)*crowdBatch/time.Duration(n)) {
			return ctx.Err()
		}
	}
	return nil
}

// twoAddresses makes a newcomer with one key at two addresses, and has it found at
// the first. The second stays behind when the first one leaves.
func (s *Scenario) twoAddresses(ctx context.Context) error {
	sc, err := s.lan()
	if err != nil {
		return err
	}
	var v4 []netip.Addr
	for _, ip := range sc.network.Addresses() {
		if ip.Is4() {
			v4 = append(v4, ip)
		}
	}
	if len(v4) < 2 {
		return &verdict.Inapplicable{Reason: fmt.Sprintf("the interface %s has one IPv4 address, and this check needs two (docs/lan.md says how to give it another)", sc.network.Name())}
	}
	first, err := s.arrive(v4[0], nil)
	if err != nil {
		return err
	}
	if err := s.advertise(first, first.honest()); err != nil {
		return err
	}
	if err := s.meet(ctx, first, s.seconds(meetPatience)); err != nil {
		if f, ok := err.(*verdict.Failure); ok {
			return blocked("the target does not find it at its first address: %s", f.Actual)
		}
		return err
	}
	second, err := s.arrive(v4[1], &first.identity)
	if err != nil {
		return err
	}
	s.peers = append(s.peers, second.peer) // the steps about the latest peer mean it
	advert := second.honest()
	advert.Host = "host-second-" + first.identity.AgentID()[len(credential.AgentIDPrefix):][:12] + ".local."
	if err := s.advertise(second, advert); err != nil {
		return err
	}
	return s.lanBarrier(ctx)
}
