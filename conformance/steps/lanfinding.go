package steps

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/axonproto/axon/harness/control"
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
	}).bars()
	define(`the target does not take it for a daemon that is there`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		n := s.newcomer()
		if err := s.lanBarrier(ctx); err != nil {
			return err
		}
		if err := s.notDialled(n); err != nil {
			return err
		}
		return s.notListed(ctx, n.identity.AgentID())
	}).bars()
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
	}).bars()
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
