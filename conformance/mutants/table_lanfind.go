package mutants

import (
	"crypto/ed25519"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan"
	"github.com/axonproto/axon/harness/lan/netns"
)

func disc(numbers ...string) []string {
	var list []string
	for _, n := range numbers {
		list = append(list, "AXON-DISC-"+n)
	}
	return list
}

// lanFindMutants deal wrongly with what others advertise.
func lanFindMutants() []Mutant {
	return []Mutant{
		onLAN("lan-lists-only", "It lists whom it finds, and neither dials nor admits.", `there was no connection`, disc("010"), func(m *lanManner) {
			m.found = func(*neighbour, sighting) {}
			m.admits = admitsPinned
		}).but("DISC-011", "DISC-024").hiding(),
		onLAN("lan-one-newcomer", "It takes up with the first one that it finds.", `there was no connection`, disc("010"), func(m *lanManner) {
			m.most = 2 // the suite and one more
		}).but("DISC-011", "DISC-013", "DISC-019").hiding(),
		onLAN("lan-text-by-position", "It takes the first string of the TXT for the Agent ID and the second for the key.", `there was no connection`, disc("010"),
			readingAdverts(func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				if len(f.Text) != 2 || !strings.HasPrefix(f.Text[0], "agent_id=") {
					return sighting{}, false
				}
				return read(n, p, f)
			})),
		onLAN("lan-id-by-bytes", "It compares Agent IDs byte by byte.", `there was no connection`, disc("010"),
			readingAdverts(func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				s, ok := read(n, p, f)
				id, _ := f.Attribute("agent_id")
				return s, ok && s.id == id
			})),
		onLAN("lan-id-from-instance", "It takes the Agent ID from the name of the instance.", `there was no connection`, disc("010"),
			readingAdverts(func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				s, ok := read(n, p, f)
				return s, ok && strings.EqualFold(f.Labels[0], "axon-"+s.id)
			})),
		onLAN("lan-additional-records-alone", "It looks for SRV and TXT among the additional records alone.", `there was no connection`, disc("010"),
			readingAdverts(func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				s, ok := read(n, p, f)
				return s, ok && len(p.Message.Extra) > 0
			})),
		onLAN("lan-late", "It deals with what it hears after seven seconds.", `it took`, disc("011"), func(m *lanManner) {
			m.hear = func(n *neighbour, r *radio, p lan.Packet) {
				n.work.Go(func() {
					if n.pause(7 * n.settings.second) {
						hear(n, r, p)
					}
				})
			}
		}),
		onLAN("lan-takes-fields-as-they-come", "It does not derive the Agent ID from the key.", `it dialled it|it took the connection`, disc("012"), func(m *lanManner) {
			m.read = func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				if s, ok := read(n, p, f); ok {
					return s, true
				}
				s, ok := believed(f)
				return s, ok && s.id != "" && s.at.Port() > 0 && ofService(f) && !f.Gone && !s.key.Equal(n.identity.Public()) && !n.pinnedID(s.id)
			}
			m.admits = admitsWhom
		}).but("DISC-013"),
		onLAN("lan-derives-half", "It compares all but the last digit of the Agent ID.", `it dialled it|it took the connection`, disc("012"),
			readingAdverts(func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				id, _ := f.Attribute("agent_id")
				key, ok := keyOf(f)
				if ok && len(id) > 1 && strings.HasPrefix(credential.AgentID(key), strings.ToLower(id[:len(id)-1])) {
					f.Text = []string{"agent_id=" + credential.AgentID(key), f.Text[1]}
				}
				return read(n, p, f)
			})),
		onLAN("lan-dies-of-a-missing-key", "An advert without a key ends its listening.", `there was no connection`, disc("013"),
			dyingOf(func(f lan.Found) bool { _, times := f.Attribute("pubkey"); return times == 0 })).but("DISC-010", "DISC-011").hiding(),
		onLAN("lan-dies-of-a-bad-key", "An advert with a key that is not base64 ends its listening.", `there was no connection`, disc("013"),
			dyingOf(func(f lan.Found) bool { k, _ := f.Attribute("pubkey"); return strings.Contains(k, "*") })).but("DISC-010", "DISC-011").hiding(),
		onLAN("lan-dies-of-garbage", "A datagram that is no DNS message ends its listening.", `there was no connection`, disc("013"), func(m *lanManner) {
			m.garbage = func(_ *neighbour, r *radio) { r.dead = true }
		}).but("DISC-001", "DISC-006", "DISC-007", "DISC-010", "DISC-011").hiding(),
		onLAN("lan-key-without-id", "An advert without an Agent ID is taken by its key.", `it dialled it|it took the connection`, disc("013"),
			readingAdverts(func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				if id, _ := f.Attribute("agent_id"); id == "" {
					if key, ok := keyOf(f); ok {
						f.Text = append([]string{"agent_id=" + credential.AgentID(key)}, f.Text...)
						f.Text = slices.DeleteFunc(f.Text, func(s string) bool { return s == "agent_id=" })
					}
				}
				return read(n, p, f)
			})),
		onLAN("lan-port-zero", "The port 0 is taken for the usual one.", `it took the connection|it is listed`, disc("013"),
			readingAdverts(func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				if f.HasSRV && f.Port == 0 {
					f.Port = 7100
				}
				return read(n, p, f)
			})),
		onLAN("lan-any-service", "It does not look at the service type of an instance.", `it dialled it|it took the connection`, disc("013"),
			readingAdverts(func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				f.Labels = []string{f.Labels[0], "_axon", "_udp", "local"}
				return read(n, p, f)
			})),
		onLAN("lan-blind-to-goodbyes", "It does not look at the TTL.", `it dialled it`, disc("014"),
			readingAdverts(func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				f.Gone = false
				return read(n, p, f)
			})),
		onLAN("lan-its-own-peer", "It takes its own advert for another's.", `it dialled it|it is listed`, disc("015"),
			readingAdverts(func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				if key, ok := keyOf(f); ok && key.Equal(n.identity.Public()) && len(f.Addresses) > 0 {
					return sighting{id: n.identity.AgentID(), key: key, at: addressOf(f)}, true
				}
				return read(n, p, f)
			})),
		onLAN("lan-never-forgets", "It remembers whoever was advertised once.", `it is listed at`, disc("016"), func(m *lanManner) {
			m.sweep = func(*neighbour) {}
		}).inMinutes(),
		onLAN("lan-forgets-slowly", "It forgets after two minutes, as the TTL says.", `it is listed at`, disc("016"), func(m *lanManner) {
			m.sweep = func(n *neighbour) {
				n.mu.Lock()
				defer n.mu.Unlock()
				for id, p := range n.people {
					p.heard = slices.DeleteFunc(p.heard, func(o observation) bool { return time.Since(o.last) > 120*n.settings.second })
					if len(p.heard) == 0 && !p.pinned && !p.connected() {
						delete(n.people, id)
					}
				}
			}
		}).inMinutes(),
		onLAN("lan-one-address", "It remembers one address for each peer, the first.", `none arrived`, disc("017"), func(m *lanManner) {
			m.addresses = func(n *neighbour, p *acquaintance) []netip.AddrPort {
				return knownAddresses(n, p)[:min(1, len(knownAddresses(n, p)))]
			}
		}).but("DISC-019"),
		onLAN("lan-first-loss-removes", "It forgets a peer that falls silent at any of its addresses.", `it does not`, disc("017"), func(m *lanManner) {
			m.sweep = func(n *neighbour) {
				n.mu.Lock()
				defer n.mu.Unlock()
				for id, p := range n.people {
					if slices.ContainsFunc(p.heard, func(o observation) bool { return time.Since(o.last) > staleAfter*n.settings.second }) {
						delete(n.people, id)
						n.gone[id] = true
					}
				}
			}
			m.read = func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				s, ok := read(n, p, f)
				n.mu.Lock()
				defer n.mu.Unlock()
				return s, ok && !n.gone[s.id]
			}
		}).inMinutes(),
		onLAN("lan-goodbye-closes", "A goodbye closes the connection.", `it ended`, disc("018"), func(m *lanManner) {
			m.hear = func(n *neighbour, r *radio, p lan.Packet) {
				for _, f := range lan.FoundIn(lan.Service, p) {
					if key, ok := keyOf(f); ok && f.Gone {
						n.hangUp(credential.AgentID(key))
					}
				}
				hear(n, r, p)
			}
		}),
		onLAN("lan-stale-closes", "It closes the connection with a peer that is not heard any more.", `it ended`, disc("018"), func(m *lanManner) {
			m.sweep = func(n *neighbour) {
				n.mu.Lock()
				var gone []string
				for id, p := range n.people {
					if len(p.heard) > 0 && !slices.ContainsFunc(p.heard, func(o observation) bool { return time.Since(o.last) < staleAfter*n.settings.second }) {
						gone = append(gone, id)
					}
				}
				n.mu.Unlock()
				for _, id := range gone {
					n.hangUp(id)
				}
				n.sweep()
			}
		}).inMinutes(),
		onLAN("lan-crowd-ends-it", "More adverts than it has room for end it.", `it ended|no connection|none came|has ended|nothing came`, disc("019"), func(m *lanManner) {
			m.hear = func(n *neighbour, r *radio, p lan.Packet) {
				if n.peer.count("adverts") > 1500 {
					n.peer.die()
					return
				}
				hear(n, r, p)
			}
		}).hiding(),
		onLAN("lan-crowd-fills-it", "What it remembers has a bound, and never goes stale.", `there was no connection`, disc("019"), func(m *lanManner) {
			m.sweep = func(*neighbour) {}
		}).but("DISC-010", "DISC-011").inMinutes().hiding(),
	}
}

// dyingOf is a fault by which an instance ends all listening.
func dyingOf(what func(lan.Found) bool) func(*lanManner) {
	return func(m *lanManner) {
		m.hear = func(n *neighbour, r *radio, p lan.Packet) {
			for _, f := range lan.FoundIn(lan.Service, p) {
				if what(f) {
					// Questions are another task's.
					n.peer.count("deaf")
				}
			}
			n.peer.mu.Lock()
			deaf := n.peer.notes["deaf"] > 0
			n.peer.mu.Unlock()
			if !deaf {
				hear(n, r, p)
			}
		}
		m.admits = admitsFound
	}
}

func admitsPinned(n *neighbour, key ed25519.PublicKey) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.people[credential.AgentID(key)]
	return p != nil && p.pinned
}

func (n *neighbour) pinnedID(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.people[id]
	return p != nil && p.pinned
}

// hangUp closes the connection with a peer.
func (n *neighbour) hangUp(id string) {
	n.mu.Lock()
	p := n.people[id]
	n.mu.Unlock()
	if p != nil && p.conn != nil {
		_ = p.conn.Close(0, "the peer is gone")
	}
}

// lanTrustMutants believe adverts too much.
func lanTrustMutants() []Mutant {
	return []Mutant{
		onLAN("lan-replaces-a-pin", "An advert under the name of a pinned peer replaces its key.", `it is not|it took the connection|it dialled it`, disc("020"), func(m *lanManner) {
			m.read = func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				if s, ok := believed(f); ok && n.pinnedID(s.id) {
					return s, true
				}
				return read(n, p, f)
			}
			m.found = func(n *neighbour, s sighting) {
				n.mu.Lock()
				if p := n.people[s.id]; p != nil {
					p.key = s.key
				}
				n.mu.Unlock()
				n.meet(s)
			}
			m.admits = admitsWhom
		}),
		onLAN("lan-replaces-by-address", "An advert with the address of a pinned peer replaces its key.", `it took the connection|it is not|none arrived`, disc("020"), func(m *lanManner) {
			m.read = func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				s, ok := read(n, p, f)
				if ok {
					n.mu.Lock()
					for id, p := range n.people {
						if p.pinned && p.proven == s.at && id != s.id {
							delete(n.people, id)
						}
					}
					n.mu.Unlock()
				}
				return s, ok
			}
		}),
		onLAN("lan-newest-address", "An advert's address takes the place of the proven one.", `none arrived`, disc("021"), func(m *lanManner) {
			m.addresses = func(n *neighbour, p *acquaintance) []netip.AddrPort {
				if len(p.heard) > 0 {
					return []netip.AddrPort{p.heard[len(p.heard)-1].at}
				}
				return knownAddresses(n, p)
			}
		}).but("DISC-017"),
		onLAN("lan-admits-candidates", "Trust by enrolment keeps it from dialling, not from admitting.", `it took the connection`, disc("022"), func(m *lanManner) {
			m.admits = admitsWhom
		}),
		onLAN("lan-dials-candidates", "It dials those who wait for their enrolment.", `it dialled it|status "connected"|trust "trusted"`, disc("022"), func(m *lanManner) {
			m.found = func(n *neighbour, s sighting) {
				n.work.Go(func() {
					if c, err := n.dial(n.ctx, s.id, s.key, s.at); err == nil && n.settings.enrolment {
						_ = c.Close(0, "only a look")
					}
				})
				n.meet(s)
			}
		}),
		onLAN("lan-hides-candidates", "It does not list those who wait for their enrolment.", `it is listed with status ""`, disc("022"), func(m *lanManner) {
			m.read = func(n *neighbour, p lan.Packet, f lan.Found) (sighting, bool) {
				s, ok := read(n, p, f)
				return s, ok && !n.settings.enrolment
			}
		}),
		onLAN("lan-pins-in-memory", "What it pinned is gone with its process.", `is admitted|alert|closed|handshake`, disc("023"), func(m *lanManner) {
			m.forgetful = true
		}),
	}
}

// lanNetworkMutants do not stand a network that does not help.
func lanNetworkMutants() []Mutant {
	usable := func(n *neighbour) error {
		return n.machine.Do(func() error {
			network, err := lan.Open(netns.FarName)
			if err == nil {
				err = network.Close()
			}
			return err
		})
	}
	return []Mutant{
		onLAN("lan-needs-a-network", "Without a network it does not start.", `the interface cannot be used`, disc("024"), func(m *lanManner) {
			m.start = usable
		}).but("DISC-025").hiding(),
		onLAN("lan-gives-up", "Once there was no network it never looks for one again.", `there was no connection`, disc("024"), func(m *lanManner) {
			m.giveUp = true
		}),
		onLAN("lan-dies-without-multicast", "It ends where it cannot multicast.", `it did not|has ended`, disc("024"), func(m *lanManner) {
			m.complain = func(n *neighbour, _ int) bool {
				n.peer.die()
				return true
			}
			m.giveUp = true
		}).but("DISC-025").hiding(),
		onLAN("lan-warns-each-round", "It says in each round that discovery does not work.", `there are \d+, such as`, disc("025"), func(m *lanManner) {
			m.complain = func(*neighbour, int) bool { return true }
		}),
		onLAN("lan-off-answers", "Switched off it still answers.", `an answer with`, disc("026"), func(m *lanManner) {
			m.offListens = true
		}),
		onLAN("lan-off-asks", "Switched off it still asks.", `a question for`, disc("026"), func(m *lanManner) {
			m.offAsks = true
		}),
	}
}

// lanOddities do what is allowed.
func lanOddities() []Oddity {
	odd := func(name, what string, warns []string, change func(*lanManner)) Oddity {
		return Oddity{Name: name, What: what, Warns: warns, change: func(*manner) {}, lan: change}
	}
	return []Oddity{
		{Name: "lan-plain", What: "The neighbour without a fault.", change: func(*manner) {}, lan: func(*lanManner) {}, minutes: true},
		odd("lan-never-dials", "It admits whom it finds, and leaves dialling to them.", nil, func(m *lanManner) {
			m.found = func(n *neighbour, s sighting) {
				n.mu.Lock()
				p := n.people[s.id]
				again := p != nil && p.pinned && (p.proven.IsValid() || p.conn != nil)
				n.mu.Unlock()
				if again {
					n.meet(s)
				}
			}
		}),
		odd("lan-answers-all-in-one", "All of its records stand among the answers.", nil, func(m *lanManner) {
			m.advert = func(_ *neighbour, a *lan.Advert) { a.Flat = true }
		}),
		odd("lan-says-more", "Its TXT holds more than is asked for, and its answers go to the group as well.", nil, func(m *lanManner) {
			m.advert = func(_ *neighbour, a *lan.Advert) { a.Text = append([]string{"version=1"}, a.Text...) }
			m.reply = func(n *neighbour, r *radio, p lan.Packet) {
				r.say(n.ownAdvert())
				if p.From.Port() != lan.Port {
					replyAlone(n, r, p)
				}
			}
		}),
		odd("lan-announces-nothing", "It says nothing unless it is asked.", nil, func(m *lanManner) { m.announce = false }),
	}
}
