package mutants

import (
	"crypto/ed25519"
	"encoding/hex"
	"net/netip"
	"strings"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan"
)

// onLAN is a fault in discovery, of a neighbour.
func onLAN(name, fault, reason string, made []string, change func(*lanManner)) Mutant {
	return Mutant{Name: name, For: made, Fault: fault, Reason: reason, change: func(*manner) {}, lan: change}
}

// but lists what else a fault breaks.
func (m Mutant) but(also ...string) Mutant {
	m.Also = append(m.Also, ids(also...)...)
	return m
}

// inMinutes is a fault that shows only in the checks that are about minutes.
func (m Mutant) inMinutes() Mutant {
	m.Heavy = true
	return m
}

// hiding is a fault by which other checks cannot be made.
func (m Mutant) hiding() Mutant {
	m.Lost = true
	return m
}

// advertising is a fault in what is advertised.
func advertising(f func(*neighbour, *lan.Advert)) func(*lanManner) {
	return func(m *lanManner) { m.advert = f }
}

// text is a fault in the TXT record: the strings by agent_id and pubkey.
func text(f func(id, key string, public []byte) []string) func(*lanManner) {
	return advertising(func(n *neighbour, a *lan.Advert) {
		a.Text = f(n.identity.AgentID(), n.identity.PublicBase64(), n.identity.Public())
	})
}

// lanAdvertMutants advertise themselves wrongly.
func lanAdvertMutants() []Mutant {
	const pubkey, id = "pubkey=", "agent_id="
	stranger, _ := credential.New()
	return []Mutant{
		onLAN("lan-mute", "It announces itself when it starts, and answers no question for AXON's service.", `none came`, disc("001"), func(m *lanManner) {
			m.wants = func(*neighbour, netip.AddrPort, string, uint16) bool { return false }
		}).but("DISC-006", "DISC-007").hiding(),
		onLAN("lan-service-tcp", "It advertises itself under _axon._tcp.", `none came`, disc("001"), func(m *lanManner) {
			m.advert = func(_ *neighbour, a *lan.Advert) { a.Service = "_axon._tcp.local." }
		}).but("DISC-006", "DISC-007").hiding(),
		onLAN("lan-key-in-hex", "The key in its advert is written in hexadecimal.", `not 32 bytes of standard base64`, disc("002"),
			text(func(i, _ string, public []byte) []string {
				return []string{id + i, pubkey + hex.EncodeToString(public)}
			})).but("DISC-003"),
		onLAN("lan-key-without-padding", "The key in its advert lacks the padding of base64.", `not 32 bytes of standard base64`, disc("002"),
			text(func(i, key string, _ []byte) []string { return []string{id + i, pubkey + strings.TrimRight(key, "=")} })),
		onLAN("lan-id-of-another-key", "Its advert gives the Agent ID of an earlier key.", `does not derive`, disc("002"),
			text(func(_, key string, _ []byte) []string { return []string{id + stranger.AgentID(), pubkey + key} })),
		onLAN("lan-key-of-another", "Its advert gives Agent ID and key of an earlier identity.", `another key than the one that the target shows`, disc("002"),
			text(func(string, string, []byte) []string {
				return []string{id + stranger.AgentID(), pubkey + stranger.PublicBase64()}
			})).but("DISC-003", "DISC-015"),
		onLAN("lan-no-agent-id", "Its advert gives the key alone.", `agent_id stands there 0 times`, disc("002"),
			text(func(_, key string, _ []byte) []string { return []string{pubkey + key} })),
		onLAN("lan-one-string", "Agent ID and key stand in one string of the TXT.", `pubkey 0 times`, disc("002"),
			text(func(i, key string, _ []byte) []string { return []string{id + i + " " + pubkey + key} })).but("DISC-003"),
		onLAN("lan-default-port", "It advertises the usual port, and listens on another.", `where nobody takes a connection`, disc("003"),
			advertising(func(n *neighbour, a *lan.Advert) { a.Port = uint16(n.settings.port) + 99 })),
		onLAN("lan-loopback-too", "It advertises its loopback address beside the right one.", `127\.0\.0\.1 is advertised`, disc("004"),
			advertising(func(_ *neighbour, a *lan.Advert) {
				a.Addresses = append(a.Addresses, netip.MustParseAddr("127.0.0.1"))
			})),
		onLAN("lan-address-elsewhere", "It advertises the address of another interface.", `reached at none of them`, disc("004"),
			advertising(func(_ *neighbour, a *lan.Advert) { a.Addresses = []netip.Addr{netip.MustParseAddr("203.0.113.9")} })),
		onLAN("lan-no-address", "It advertises no address at all.", `reached at none of them`, disc("004"),
			advertising(func(_ *neighbour, a *lan.Advert) { a.Addresses = nil })).but("DISC-006"),
		onLAN("lan-two-labels", "The dot of its Agent ID parts the instance in two labels.", `has the labels \["axon-ed25519" `, disc("005"),
			advertising(func(n *neighbour, a *lan.Advert) { a.Elsewhere = "axon-" + n.identity.AgentID() + "." + lan.Service })),
		onLAN("lan-instance-by-name", "Its instance is the name of the machine.", `has the labels \["kitchen"`, disc("005"),
			advertising(func(_ *neighbour, a *lan.Advert) { a.Label = "kitchen" })),
		onLAN("lan-pointer-alone", "Its answer holds the PTR record alone; each other record is asked for.", `SRV: false`, disc("006"), func(m *lanManner) {
			m.reply = func(n *neighbour, r *radio, p lan.Packet) {
				a := n.ownAdvert()
				a.PTROnly = p.Message.Question[0].Qtype == lan.PTR
				sayTo(r, p, a)
			}
		}),
		onLAN("lan-case-sensitive", "It knows the name of the service in lower case alone.", `none came`, disc("007"), func(m *lanManner) {
			m.wants = func(n *neighbour, from netip.AddrPort, name string, kind uint16) bool {
				return wants(n, from, name, kind) && name == strings.ToLower(name)
			}
		}),
		onLAN("lan-answers-the-group-alone", "It answers to the group, whoever asks.", `none came at the port`, disc("007"), func(m *lanManner) {
			m.reply = func(n *neighbour, r *radio, _ lan.Packet) { r.say(n.ownAdvert()) }
		}).but("DISC-006"),
		onLAN("lan-answers-five-times", "It answers each asker's first five questions.", `none came at the port`, disc("007"), func(m *lanManner) {
			m.reply = func(n *neighbour, r *radio, p lan.Packet) {
				if p.From.Port() == lan.Port || n.peer.count(p.From.String()) <= 5 {
					reply(n, r, p)
				}
			}
		}),
		onLAN("lan-answers-anything", "It answers whatever is asked.", `3 of [34] were answered`, disc("008"), func(m *lanManner) {
			m.wants = func(n *neighbour, from netip.AddrPort, _ string, _ uint16) bool { return n.onLink(from.Addr()) }
		}),
		onLAN("lan-answers-similar-names", "It compares the beginning of the name alone.", `3 of [34] were answered`, disc("008"), func(m *lanManner) {
			m.wants = func(n *neighbour, from netip.AddrPort, name string, kind uint16) bool {
				return wants(n, from, name, kind) || n.onLink(from.Addr()) && strings.HasPrefix(strings.ToLower(name), "_axon")
			}
		}),
		onLAN("lan-answers-strangers", "It does not look where a question comes from.", `3 of [34] were answered`, disc("009"), func(m *lanManner) {
			m.wants = func(n *neighbour, _ netip.AddrPort, name string, kind uint16) bool { return asks(n, name, kind) }
		}),
	}
}

// sayTo sends an advert to who asked, or to the group when it is of its kind.
func sayTo(r *radio, p lan.Packet, a lan.Advert) {
	if p.From.Port() == lan.Port {
		r.say(a)
		return
	}
	if b, err := a.Pack(p.Message.Id, &p.Message.Question[0]); err == nil {
		_ = r.network.SendTo(b, p.From)
	}
}

// reading is a fault in what is made of an instance that was heard.
func readingAdverts(f func(n *neighbour, p lan.Packet, found lan.Found) (sighting, bool)) func(*lanManner) {
	return func(m *lanManner) { m.read = f }
}

// believed is a sighting that was not checked: what the fields say.
func believed(f lan.Found) (sighting, bool) {
	id, _ := f.Attribute("agent_id")
	key, ok := keyOf(f)
	if !ok || !f.HasSRV || len(f.Addresses) == 0 {
		return sighting{}, false
	}
	return sighting{id: strings.ToLower(id), key: key, at: addressOf(f)}, true
}

// admitsWhom admits whoever holds a key that was found, under whatever name.
func admitsWhom(n *neighbour, key ed25519.PublicKey) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.people {
		if p.key.Equal(key) {
			return true
		}
	}
	return false
}
