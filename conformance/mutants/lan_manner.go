package mutants

import (
	"crypto/ed25519"
	"net/netip"
	"slices"
	"strings"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan"
)

// lanManner is how a neighbour decides what it does on a network. Each function is
// one decision; a fault replaces one or wraps it.
type lanManner struct {
	// wire is how it serves connections.
	wire manner
	// advert has the last word on what it advertises.
	advert func(*neighbour, *lan.Advert)
	// wants tells whether a question is one for its advert.
	wants func(n *neighbour, from netip.AddrPort, name string, kind uint16) bool
	// reply sends the advert to whoever asked.
	reply func(*neighbour, *radio, lan.Packet)
	// hear is all that happens to an answer of others.
	hear func(*neighbour, *radio, lan.Packet)
	// garbage deals with what is no DNS message.
	garbage func(*neighbour, *radio)
	// read takes a sighting out of an instance; not ok means that it says nothing.
	read func(n *neighbour, from lan.Packet, f lan.Found) (sighting, bool)
	// ask tells whether it asks in a round, and announce whether it says that it is
	// there when it starts.
	ask      func(*neighbour) bool
	announce bool
	// found deals with a sighting that was checked.
	found func(*neighbour, sighting)
	// admits tells whether a dialer with a key is let in.
	admits func(*neighbour, ed25519.PublicKey) bool
	// addresses are those at which it tries to reach a peer, in this order.
	addresses func(n *neighbour, p *acquaintance) []netip.AddrPort
	// sweep forgets what has not been heard.
	sweep func(*neighbour)
	// most is the number of daemons that it remembers.
	most int
	// forgetful: what it pins does not outlive it.
	forgetful bool
	// off is whether a discovery that is switched off still listens, and asks.
	offListens, offAsks bool
	// start decides, on a machine without a network to multicast on, whether it
	// starts all the same; giveUp ends discovery at the first failure.
	start  func(*neighbour) error
	giveUp bool
	// complain tells whether it logs that discovery does not work, this time.
	complain func(n *neighbour, times int) bool
}

// correctLAN is the manner of a neighbour without a fault.
func correctLAN() lanManner {
	return lanManner{
		wire:      correct(),
		advert:    func(*neighbour, *lan.Advert) {},
		wants:     wants,
		reply:     reply,
		hear:      hear,
		garbage:   func(*neighbour, *radio) {},
		read:      read,
		ask:       func(*neighbour) bool { return true },
		announce:  true,
		found:     (*neighbour).meet,
		admits:    admitsFound,
		addresses: knownAddresses,
		sweep:     (*neighbour).sweep,
		most:      1000,
		start:     func(*neighbour) error { return nil },
		complain:  func(_ *neighbour, times int) bool { return times == 0 },
	}
}

// wants: a question for the service or for a part of the advert, from this network.
func wants(n *neighbour, from netip.AddrPort, name string, kind uint16) bool {
	return n.onLink(from.Addr()) && asks(n, name, kind)
}

// asks tells whether a name and a type are those of a part of the advert.
func asks(n *neighbour, name string, kind uint16) bool {
	a := n.ownAdvert()
	switch kind {
	case lan.PTR:
		return strings.EqualFold(name, lan.Service)
	case lan.SRV, lan.TXT:
		return strings.EqualFold(name, a.Instance())
	case lan.A:
		return strings.EqualFold(name, a.HostName())
	}
	return false
}

// reply answers to the group, or to whoever asks from a port of his own.
func reply(n *neighbour, r *radio, p lan.Packet) {
	if p.From.Port() == lan.Port {
		r.say(n.ownAdvert())
		return
	}
	replyAlone(n, r, p)
}

func replyAlone(n *neighbour, r *radio, p lan.Packet) {
	b, err := n.ownAdvert().Pack(p.Message.Id, &p.Message.Question[0])
	if err == nil {
		_ = r.network.SendTo(b, p.From)
	}
}

// hear looks at each instance of an answer.
func hear(n *neighbour, _ *radio, p lan.Packet) {
	for _, f := range lan.FoundIn(lan.Service, p) {
		if s, ok := n.manner.read(n, p, f); ok {
			n.observe(s)
		}
	}
}

// read takes what holds together: an instance of the service with a port and an
// address, whose Agent ID derives from its key.
func read(n *neighbour, _ lan.Packet, f lan.Found) (sighting, bool) {
	id, _ := f.Attribute("agent_id")
	key, ok := keyOf(f)
	if !ok || f.Gone || !ofService(f) || !f.HasSRV || f.Port == 0 || len(f.Addresses) == 0 {
		return sighting{}, false
	}
	if !strings.EqualFold(credential.AgentID(key), id) || key.Equal(n.identity.Public()) {
		return sighting{}, false
	}
	return sighting{id: credential.AgentID(key), key: key, at: addressOf(f)}, true
}

func keyOf(f lan.Found) (ed25519.PublicKey, bool) {
	text, times := f.Attribute("pubkey")
	key, err := credential.ParsePublicKey(text)
	return key, times == 1 && err == nil
}

func ofService(f lan.Found) bool {
	return len(f.Labels) == 4 && strings.EqualFold(strings.Join(f.Labels[1:], "."), "_axon._udp.local")
}

func addressOf(f lan.Found) netip.AddrPort { return netip.AddrPortFrom(f.Addresses[0], f.Port) }

// admitsFound: pinned peers, and with automatic trust whoever was found.
func admitsFound(n *neighbour, key ed25519.PublicKey) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.people[credential.AgentID(key)]
	return p != nil && p.key.Equal(key) && (p.pinned || !n.settings.enrolment)
}

// knownAddresses: the pinned one first, then those where it was heard.
func knownAddresses(_ *neighbour, p *acquaintance) []netip.AddrPort {
	var list []netip.AddrPort
	if p.proven.IsValid() {
		list = append(list, p.proven)
	}
	for _, o := range p.heard {
		if !slices.Contains(list, o.at) {
			list = append(list, o.at)
		}
	}
	return list
}
