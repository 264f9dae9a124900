package steps

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan"
	"github.com/axonproto/axon/harness/probe"
)

func init() {
	define(`the network is asked for "([^"]+)"( from a port of its own)?`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.askNetwork(a[0], a[1] != "")
	})
	define(`an answer names an instance of the target`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		_, err := s.answeredByTarget(ctx)
		return err
	})
	define(`the answer comes to that port and names an instance of the target`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		_, err := s.answeredByTarget(ctx)
		return err
	})
	define(`the same question is answered (\d+) times more`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		for range n {
			if err := s.scene.asked(); err != nil {
				return err
			}
			if _, err := s.answeredByTarget(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	define(`the answer brings SRV, TXT and addresses along`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		p, err := s.answeredByTarget(ctx)
		if err != nil {
			return err
		}
		for _, f := range lan.FoundIn(lan.Service, p) {
			if s.isTarget(f) && f.HasSRV && f.HasTXT && len(f.Addresses) > 0 {
				return nil
			}
		}
		return fail(nil, "one answer with the PTR, SRV and TXT records and an address", "it holds %s", recordsOf(p))
	})
	define(`the target's advert`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		_, err := s.targetAdvert(ctx)
		return err
	})
	define(`its TXT holds the target's Agent ID and its public key in standard base64, each once`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.textOfAdvert(ctx)
	})
	define(`a connection to the port of its SRV shows the key of its TXT`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.portOfAdvert(ctx)
	})
	define(`the target is reached at one of its addresses, and none of them is a loopback address`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.addressesOfAdvert(ctx)
	}).bars()
	define(`its instance is one label, "axon-" and the target's Agent ID`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		f, err := s.targetAdvert(ctx)
		if err != nil {
			return err
		}
		want := "axon-" + s.Target.AgentID
		if len(f.Labels) != 4 || !strings.EqualFold(f.Labels[0], want) {
			return fail(nil, fmt.Sprintf("the label %q in front of %s", want, lan.Service), "the instance has the labels %q", f.Labels)
		}
		return nil
	})
	define(`no answer names an instance of the target when the network is asked for "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.notAnswered(ctx, "a question for "+a[0], func(n *lan.Network, _ *lan.Asker) error {
			return n.Ask(lan.Question{Name: a[0]})
		}, func(_ *lan.Network, own *lan.Asker) error {
			return own.Ask(lan.Question{Name: a[0]})
		})
	}).bars()
	define(`no answer names an instance of the target when the network is asked in the name of (\S+), which is elsewhere`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		source, err := netip.ParseAddr(a[0])
		if err != nil {
			return err
		}
		return s.notAnswered(ctx, "a question that comes from "+a[0], func(n *lan.Network, _ *lan.Asker) error {
			return n.AskAs(netip.AddrPortFrom(source, lan.Port), lan.Question{Name: lan.Service})
		})
	}).bars()
}

func sameID(a, b string) bool { return b != "" && strings.EqualFold(a, b) }

func containsID(text, id string) bool {
	return id != "" && strings.Contains(strings.ToLower(text), strings.ToLower(id))
}

func keyText(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }

// askNetwork asks, and keeps the question for repeating.
func (s *Scenario) askNetwork(name string, alone bool) error {
	sc, err := s.lan()
	if err != nil {
		return err
	}
	a, err := sc.openAsker()
	if err != nil {
		return err
	}
	sc.alone = alone
	sc.asked = func() error {
		if !alone {
			sc.from = sc.network.Mark()
			return sc.network.Ask(lan.Question{Name: name})
		}
		sc.from = a.Mark()
		return a.Ask(lan.Question{Name: name})
	}
	return sc.asked()
}

// answeredByTarget waits for an answer to the last question, where it has to come,
// and asks again when none has come for a second: packets of multicast may be lost.
func (s *Scenario) answeredByTarget(ctx context.Context) (lan.Packet, error) {
	sc := s.scene
	names := func(p lan.Packet) bool {
		return slices.ContainsFunc(lan.FoundIn(lan.Service, p), func(f lan.Found) bool { return s.isTarget(f) || s.onlyOne(f) })
	}
	for i := range rounds {
		if i > 0 {
			if err := sc.asked(); err != nil {
				return lan.Packet{}, err
			}
		}
		await := sc.network.Await
		if sc.alone {
			await = sc.asker.Await
		}
		round, cancel := context.WithTimeout(ctx, s.seconds(1))
		p, _, err := await(round, sc.from, names)
		cancel()
		if err == nil {
			return p, nil
		}
	}
	where := "on " + sc.network.Name()
	if sc.alone {
		where = "at the port that it came from"
	}
	return lan.Packet{}, fail(nil, "an answer that names an instance of the target", "none came %s to %d questions within %s", where, rounds, s.seconds(rounds))
}

// onlyOne tells whether an instance of which a single packet does not show whose it
// is has the name of the target's advert.
func (s *Scenario) onlyOne(f lan.Found) bool {
	if f.HasTXT || f.HasSRV {
		return false
	}
	_, packets, _ := s.scene.heard(s)
	for _, other := range lan.FoundIn(lan.Service, packets...) {
		if strings.EqualFold(other.Name, f.Name) && s.isTarget(other) {
			return true
		}
	}
	return false
}

// recordsOf names the kinds of records in a packet.
func recordsOf(p lan.Packet) string {
	found := lan.FoundIn(lan.Service, p)
	if len(found) == 0 {
		return "no PTR record"
	}
	var words []string
	for _, f := range found {
		words = append(words, fmt.Sprintf("PTR (SRV: %t, TXT: %t, addresses: %d)", f.HasSRV, f.HasTXT, len(f.Addresses)))
	}
	return strings.Join(words, ", ")
}

func (s *Scenario) textOfAdvert(ctx context.Context) error {
	f, err := s.targetAdvert(ctx)
	if err != nil {
		return err
	}
	expected := fmt.Sprintf("the TXT strings agent_id=%s and pubkey=%s", s.Target.AgentID, keyText(s.Target.Key))
	id, ids := f.Attribute("agent_id")
	key, keys := f.Attribute("pubkey")
	if ids != 1 || keys != 1 {
		return fail(nil, expected, "agent_id stands there %d times and pubkey %d times: %q", ids, keys, f.Text)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(key)
	switch {
	case err != nil || len(raw) != ed25519.PublicKeySize:
		return fail(nil, expected, "pubkey=%s is not 32 bytes of standard base64", key)
	case !bytes.Equal(raw, s.Target.Key):
		return fail(nil, expected, "pubkey=%s is another key than the one that the target shows", key)
	case !sameID(id, credential.AgentID(raw)):
		return fail(nil, expected, "agent_id=%s does not derive from pubkey=%s", id, key)
	}
	return nil
}

// reachPatience is how long one address may take to answer a dial.
const reachPatience = time.Second

// reach dials an address as the suite, on whatever interface leads there.
func (s *Scenario) reach(ctx context.Context, address netip.AddrPort) (ed25519.PublicKey, error) {
	listen := "0.0.0.0:0"
	if address.Addr().Is6() {
		listen = "[::]:0"
	}
	e, err := probe.New(probe.Options{Identity: s.Target.Identity, Log: s.log, Listen: listen})
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }()
	ctx, cancel := context.WithTimeout(ctx, reachPatience)
	defer cancel()
	c, err := e.Dial(ctx, probe.DialOptions{Address: address.String(), ServerName: s.Target.AgentID})
	if err != nil {
		return nil, err
	}
	return c.PeerKey(), nil
}

// targetAddrPort is where the suite itself meets the target.
func (s *Scenario) targetAddrPort() (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(s.Target.Address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return netip.AddrPort{}, err
	}
	ips, err := net.LookupIP(host)
	if err != nil {
		return netip.AddrPort{}, blocked("the target's host %s cannot be resolved: %v", host, err)
	}
	ip, _ := netip.AddrFromSlice(ips[0])
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), nil
}

func (s *Scenario) portOfAdvert(ctx context.Context) error {
	f, err := s.targetAdvert(ctx)
	if err != nil {
		return err
	}
	at, err := s.targetAddrPort()
	if err != nil {
		return err
	}
	expected := fmt.Sprintf("the port at which the target is met, %d for instance", at.Port())
	if !f.HasSRV {
		return fail(nil, expected, "there is no SRV record: %s", describeFound(f))
	}
	key, err := s.reach(ctx, netip.AddrPortFrom(at.Addr(), f.Port))
	if err != nil {
		return fail(nil, expected, "the SRV record says %d, where nobody takes a connection: %v", f.Port, err)
	}
	if text, _ := f.Attribute("pubkey"); keyText(key) != text {
		if parsed, err := credential.ParsePublicKey(text); err != nil || !parsed.Equal(key) {
			return fail(nil, expected, "the port of the SRV record, %d, shows the key %s, and the TXT names %q", f.Port, keyText(key), text)
		}
	}
	return nil
}

func (s *Scenario) addressesOfAdvert(ctx context.Context) error {
	f, err := s.targetAdvert(ctx)
	if err != nil {
		return err
	}
	const expected = "an address at which the target is reached from this network, and no loopback address"
	for _, ip := range f.Addresses {
		if ip.IsLoopback() {
			return fail(nil, expected, "%s is advertised on %s", ip, s.scene.network.Name())
		}
	}
	at, err := s.targetAddrPort()
	if err != nil {
		return err
	}
	// The port of the SRV record is the business of another sentence.
	var last error
	for _, ip := range f.Addresses {
		if ip.IsLinkLocalUnicast() && ip.Is6() {
			ip = ip.WithZone(s.scene.network.Name())
		}
		key, err := s.reach(ctx, netip.AddrPortFrom(ip, at.Port()))
		if err == nil && key.Equal(s.Target.Key) {
			return nil
		}
		last = err
	}
	return fail(nil, expected, "the addresses are %v, and the target is reached at none of them (%v)", f.Addresses, last)
}

// delay is how long an answer to the group may take: RFC 6762 section 6 has
// responders wait up to 120 ms, and they have work to do as well.
func (s *Scenario) delay() time.Duration { return 3 * s.seconds(1) / 10 }

// silentRounds without an answer show that there is none.
const silentRounds = 2

// notAnswered asks and sees that the target's instance is in no answer. What it
// says to the group at that moment for another reason is told from an answer by
// asking again: it counts when answers outnumber silence.
func (s *Scenario) notAnswered(ctx context.Context, what string, ways ...func(*lan.Network, *lan.Asker) error) error {
	f, err := s.targetAdvert(ctx)
	if err != nil {
		return err
	}
	sc := s.scene
	for _, ask := range ways {
		answered, silent := 0, 0
		for answered < rounds && silent < silentRounds {
			own, err := sc.network.Asker()
			if err != nil {
				return err
			}
			mark := sc.network.Mark()
			if err := ask(sc.network, own); err != nil {
				_ = own.Close()
				return inapplicableHere(err)
			}
			// An answer cannot be told from its absence in any other way than by
			// waiting for as long as it may take.
			ended := !rest(ctx, s.delay())
			heard := append(sc.network.Since(mark), own.Since(0)...)
			_ = own.Close()
			if ended {
				return ctx.Err()
			}
			if !slices.ContainsFunc(heard, func(p lan.Packet) bool { return p.Mentions(f.Name) }) {
				silent++
			} else {
				answered++
			}
		}
		if answered == rounds {
			return fail(nil, what+" is not answered with the target's instance", "%d of %d were answered with %q", answered, answered+silent, f.Labels)
		}
	}
	// The target still answers what it should, so its silence means something.
	sc.advert, sc.mark = nil, sc.network.Mark()
	_ = sc.asker.Close()
	sc.asker = nil
	_, err = s.targetAdvert(ctx)
	return err
}
