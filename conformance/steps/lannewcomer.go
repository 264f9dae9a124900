package steps

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// newcomer is a daemon that the target has not heard of: a probe with a key of its
// own that advertises itself, rightly or wrongly.
type newcomer struct {
	*peer
	at     netip.AddrPort
	talker *lan.Announcer
	// claims is another Agent ID that its advert gives.
	claims string
	// conn is its connection with the target, met is when it was found.
	conn *probe.Conn
	met  time.Time
	// silent is a socket that takes packets and answers nothing.
	silent net.PacketConn
	// listed: it was seen among the target's peers.
	listed bool
}

// arrive makes a newcomer at an address of the interface, with an identity or, when
// that is nil, a new one.
func (s *Scenario) arrive(ip netip.Addr, id *credential.Identity) (*newcomer, error) {
	sc, err := s.lan()
	if err != nil {
		return nil, err
	}
	if sc.network == nil {
		return nil, &verdict.Blocked{Reason: "there is no network yet on which anybody could arrive"}
	}
	if !ip.IsValid() {
		ip = sc.network.Addresses()[0]
	}
	if id == nil {
		made, err := credential.New()
		if err != nil {
			return nil, err
		}
		id = &made
	}
	p := &peer{identity: *id, log: s.log, incoming: make(chan *exchange, maxIncoming)}
	p.endpoint, err = probe.New(probe.Options{Identity: *id, Log: s.log, Listen: netip.AddrPortFrom(ip, 0).String()})
	if err != nil {
		return nil, fmt.Errorf("open a UDP socket for a newcomer: %w", err)
	}
	if p.listener, err = p.endpoint.Listen(probe.ListenOptions{}); err != nil {
		_ = p.endpoint.Close()
		return nil, err
	}
	p.accepts.Go(p.accept)
	n := &newcomer{peer: p, at: p.endpoint.Addr().(*net.UDPAddr).AddrPort()}
	sc.newcomers = append(sc.newcomers, n)
	if sc.subject == nil {
		sc.subject = n
	}
	return n, nil
}

// close ends a newcomer, and has the target forget it where that can be asked for.
// What is among the scenario's peers is closed as such.
func (n *newcomer) close(s *Scenario) {
	if n.talker != nil {
		n.talker.Stop()
	}
	if n.silent != nil {
		_ = n.silent.Close()
	}
	if slices.Contains(s.peers, n.peer) {
		return
	}
	if s.Target.Control != nil && s.scene.daemon == nil {
		ctx, cancel := context.WithTimeout(context.Background(), s.Target.Ceiling)
		defer cancel()
		// Most of them the target has never kept.
		_ = s.Target.Control.Forget(ctx, n.identity.AgentID())
	}
	n.leave()
}

// leave ends its endpoint and its connections in good order.
func (n *newcomer) leave() {
	_ = n.listener.Close()
	_ = n.endpoint.Close()
	n.accepts.Wait()
}

// newcomer is the one of whom the scenario speaks.
func (s *Scenario) newcomer() *newcomer { return s.scene.subject }

// advertise begins to advertise.
func (s *Scenario) advertise(n *newcomer, a lan.Advert) error {
	if n.talker != nil {
		n.talker.Stop()
	}
	var err error
	n.talker, err = s.scene.network.Announce(a, n.at.Addr(), s.seconds(1))
	s.scene.followed = false
	return err
}

// honest is the newcomer's honest advert.
func (n *newcomer) honest() lan.Advert { return lan.Honest(n.identity, n.at) }

// advertOf is the advert that a feature file describes.
func (s *Scenario) advertOf(n *newcomer, how string) (lan.Advert, error) {
	a := n.honest()
	id, key := a.Text[0], a.Text[1]
	other, err := credential.New()
	if err != nil {
		return a, err
	}
	public := n.identity.Public()
	pubkey := func(b []byte) string { return "pubkey=" + keyText(b) }
	switch how {
	// Honest ones.
	case "a further attribute in its TXT":
		a.Text = []string{"version=7", id, "note", key}
	case "the attributes the other way round":
		a.Text = []string{key, id}
	case "its Agent ID in upper case":
		a.Text[0] = "agent_id=" + strings.ToUpper(n.identity.AgentID())
	case "an instance name of its own choice":
		a.Label = "Agent of the kitchen " + other.AgentID()[8:16]
	case "all of its records as answers":
		a.Flat = true
	// Others.
	case "the agent_id of another key":
		n.claims = other.AgentID()
		a.Text[0] = "agent_id=" + n.claims
	case "the pubkey of another key":
		n.claims = other.AgentID()
		a.Text[1] = pubkey(other.Public())
	case "an agent_id that differs in its last digit":
		digit := byte('0')
		if strings.HasSuffix(id, "0") {
			digit = '1'
		}
		a.Text[0] = id[:len(id)-1] + string(digit)
	case "the agent_id of a pinned peer":
		a.Text[0] = "agent_id=" + s.Target.Identity.AgentID()
	case "the instance and the agent_id of a pinned peer":
		a.Label = "axon-" + s.Target.Identity.AgentID()
		a.Text[0] = "agent_id=" + s.Target.Identity.AgentID()
	case "no agent_id":
		a.Text = a.Text[1:]
	case "an empty agent_id":
		a.Text[0] = "agent_id="
	case "an agent_id of another scheme":
		a.Text[0] = "agent_id=rsa." + n.identity.AgentID()[len(credential.AgentIDPrefix):]
	case "no pubkey":
		a.Text = a.Text[:1]
	case "an empty pubkey":
		a.Text[1] = "pubkey="
	case "a pubkey of 31 bytes":
		a.Text[1] = pubkey(public[:31])
	case "a pubkey of 33 bytes":
		a.Text[1] = pubkey(append(slices.Clone(public), 0))
	case "a pubkey in hexadecimal":
		a.Text[1] = "pubkey=" + hex.EncodeToString(public)
	case "a pubkey that is no base64":
		a.Text[1] = "pubkey=" + strings.Repeat("*", 43) + "="
	case "an empty TXT":
		a.Text = nil
	case "the port 0":
		a.Port = 0
	case "an instance of another service type":
		a.Elsewhere = lan.Escape(a.Label) + "._http._tcp.local."
	case "another service type":
		a.Service = "_axon._tcp.local."
	case "a TTL of 0":
		a.Gone = true
	default:
		return a, fmt.Errorf("there is no advert with %s: see steps.advertOf for the list", how)
	}
	return a, nil
}

// ownDial is how long a newcomer waits for the target's dial before it dials
// itself: a target need only do one of the two.
const ownDial = 1

// meet waits until a newcomer and the target are connected, and a request of the
// newcomer's is answered. The error is a failure with what was tried.
func (s *Scenario) meet(ctx context.Context, n *newcomer, limit time.Duration) error {
	began := time.Now()
	lost, last := s.Lost, s.last
	defer func() { s.last = last }()
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dial := began.Add(s.seconds(ownDial))
	var why error
	tried := map[*probe.Conn]bool{}
	for {
		for _, c := range n.connections() {
			if tried[c] || c.End() != nil || !s.Target.Key.Equal(c.PeerKey()) {
				continue
			}
			met := time.Now()
			if _, why = s.good(waiting, c); why == nil {
				n.conn, n.met = c, met
				s.Lost, s.scene.followed = lost, true
				return nil
			}
			tried[c] = true
		}
		if time.Now().After(dial) {
			dial = time.Now().Add(s.seconds(ownDial))
			if c, err := n.endpoint.Dial(waiting, s.Target.dialOptions()); err != nil {
				why = err
			} else {
				n.take(c)
				continue
			}
		}
		if !rest(waiting, lanPause) {
			break
		}
	}
	s.Lost = lost
	return fail(nil, "the target and an honest newcomer are connected: it dials, or it admits the newcomer that dials",
		"after %s there was no connection (dials of the target: %d; the newcomer's last dial: %v)", time.Since(began).Round(time.Millisecond), len(s.dialsOf(n)), why)
}

// dialsOf are the target's attempts at connections with a newcomer.
func (s *Scenario) dialsOf(n *newcomer) []probe.HandshakeAttempt {
	host, _, err := net.SplitHostPort(s.Target.Address)
	if err != nil {
		return nil
	}
	var list []probe.HandshakeAttempt
	for _, a := range n.listener.Attempts() {
		from, _, err := net.SplitHostPort(a.Remote)
		if err != nil {
			continue
		}
		// On a network with other daemons these dial as well.
		if from == host || net.ParseIP(host) == nil {
			list = append(list, a)
		}
	}
	return list
}

// meetPatience is how many seconds a newcomer and the target may take when no
// sentence sets a limit.
const meetPatience = 10

// follow has an honest newcomer arrive and meet the target.
func (s *Scenario) follow(ctx context.Context) (*newcomer, error) {
	n, err := s.arrive(netip.Addr{}, nil)
	if err != nil {
		return nil, err
	}
	if err := s.advertise(n, n.honest()); err != nil {
		return nil, err
	}
	return n, s.meet(ctx, n, s.seconds(meetPatience))
}

// barrier sees that the target has dealt with what was advertised last: an honest
// newcomer that came after it is found. A target that finds nobody shows nothing.
func (s *Scenario) lanBarrier(ctx context.Context) error {
	if s.scene.followed {
		return nil
	}
	if _, err := s.follow(ctx); err != nil {
		if f, ok := errors.AsType[*verdict.Failure](err); ok {
			return blocked("the target finds no honest newcomer either, so this cannot be told: %s", f.Actual)
		}
		return err
	}
	return nil
}

// notDialled: the target made no attempt.
func (s *Scenario) notDialled(n *newcomer) error {
	if dials := s.dialsOf(n); len(dials) > 0 {
		return fail(nil, "the target does not dial the address of that advert", "it dialled it %d times", len(dials))
	}
	return nil
}

// refusesNewcomer: it is refused when it dials.
func (s *Scenario) refusesNewcomer(ctx context.Context, n *newcomer) error {
	ctx, cancel := context.WithTimeout(ctx, s.Target.Ceiling)
	defer cancel()
	s.dialed = &dialOutcome{exchange: &exchange{}}
	c, err := n.endpoint.Dial(ctx, s.Target.dialOptions())
	if err != nil {
		s.dialed.err = err
		return s.refused(ctx)
	}
	n.take(c)
	s.dialed.exchange.conn = c
	stream, err := c.OpenBidi(ctx)
	if err != nil {
		s.dialed.err = err
		return s.refused(ctx)
	}
	x := &exchange{conn: c, stream: stream}
	s.dialed.exchange = x
	// A stranger's request is owed no reply.
	_ = stream.Send(ctx, plain("request", wire.NewID()))
	return s.refused(ctx)
}
