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
