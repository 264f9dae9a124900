package discovery

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"github.com/axonproto/axon/impl/internal/identity"
)

// service is what adverts are listed under.
const service = "_axon._udp.local."

// Bounds of what one datagram may make us look at.
const (
	maxRecords = 256
	maxAdverts = 32
	maxAddrs   = 16 // of one host
)

// Why an advert or a datagram is ignored.
var (
	errMalformed  = errors.New("malformed datagram")
	errIncomplete = errors.New("advert lacks agent_id or pubkey")
	errNotDerived = errors.New("agent_id does not derive from pubkey")
	errNoPort     = errors.New("advert has port 0")
)

// advert is one daemon's advert as it came, with all that can be checked
// without asking the daemon itself.
type advert struct {
	ID    identity.AgentID
	Key   ed25519.PublicKey
	Port  uint16
	Addrs []netip.Addr // as advertised; may be empty, may be nonsense
}

// parts collects the records of one instance.
type parts struct {
	srv   *dns.SRV
	txt   *dns.TXT
	ended bool // a record with TTL 0: the advert is being taken back
}

// readAdverts returns the adverts of a datagram, and for each one that is
// ignored the reason. Questions, answers about other services and adverts that
// are being taken back (TTL 0) give neither.
func readAdverts(data []byte) ([]advert, []error) {
	var msg dns.Msg
	if err := msg.Unpack(data); err != nil {
		return nil, []error{fmt.Errorf("%w: %w", errMalformed, err)}
	}
	return advertsOf(&msg)
}

func advertsOf(msg *dns.Msg) (good []advert, bad []error) {
	if !msg.Response || msg.Opcode != dns.OpcodeQuery || msg.Rcode != dns.RcodeSuccess {
		return nil, nil
	}
	if len(msg.Answer)+len(msg.Extra) > maxRecords {
		return nil, []error{fmt.Errorf("%w: more than %d records", errMalformed, maxRecords)}
	}
	var order []string
	instances := map[string]*parts{}
	hosts := map[string][]netip.Addr{}
	instance := func(name string) *parts {
		name = strings.ToLower(name)
		if !strings.HasSuffix(name, "."+service) || dns.CountLabel(name) != dns.CountLabel(service)+1 {
			return &parts{} // of another service: collected to be forgotten
		}
		if instances[name] == nil {
			instances[name] = &parts{}
			order = append(order, name)
		}
		return instances[name]
	}
	host := func(name string, ttl uint32, ip []byte) {
		name = strings.ToLower(name)
		addr, ok := netip.AddrFromSlice(ip)
		if ok && ttl > 0 && len(hosts[name]) < maxAddrs {
			hosts[name] = append(hosts[name], addr.Unmap())
		}
	}
	for _, section := range [][]dns.RR{msg.Answer, msg.Extra} {
		for _, rr := range section {
			h := rr.Header()
			if h.Class&^cacheFlush != dns.ClassINET {
				continue
			}
			switch rr := rr.(type) {
			case *dns.PTR:
				if strings.EqualFold(h.Name, service) && h.Ttl == 0 {
					instance(rr.Ptr).ended = true
				}
			case *dns.SRV:
				p := instance(h.Name)
				p.ended = p.ended || h.Ttl == 0
				if p.srv == nil {
					p.srv = rr
				}
			case *dns.TXT:
				p := instance(h.Name)
				p.ended = p.ended || h.Ttl == 0
				if p.txt == nil {
					p.txt = rr
				}
			case *dns.A:
				host(h.Name, h.Ttl, rr.A)
			case *dns.AAAA:
				host(h.Name, h.Ttl, rr.AAAA)
			}
		}
	}
	for _, name := range order {
		p := instances[name]
		if p.ended || p.srv == nil || p.txt == nil {
			continue
		}
		if len(good)+len(bad) == maxAdverts {
			break
		}
		a, err := p.check()
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", printable(name), err))
			continue
		}
		a.Addrs = hosts[strings.ToLower(p.srv.Target)]
		good = append(good, a)
	}
	return good, bad
}

// cacheFlush is the bit that multicast DNS borrows from the class of a record.
const cacheFlush = 1 << 15

func (p *parts) check() (advert, error) {
	idText, keyText := txtValue(p.txt, "agent_id"), txtValue(p.txt, "pubkey")
	if idText == "" || keyText == "" {
		return advert{}, errIncomplete
	}
	id, err := identity.ParseAgentID(idText)
	if err != nil {
		return advert{}, err
	}
	key, err := identity.ParsePublicKey(keyText)
	if err != nil {
		return advert{}, err
	}
	switch {
	case identity.DeriveAgentID(key) != id:
		return advert{}, errNotDerived
	case p.srv.Port == 0:
		return advert{}, errNoPort
	}
	return advert{ID: id, Key: key, Port: p.srv.Port}, nil
}

// txtValue returns the value of the first string with that key, "" without one.
func txtValue(txt *dns.TXT, key string) string {
	for _, s := range txt.Txt {
		name, value, _ := strings.Cut(s, "=")
		if strings.EqualFold(name, key) {
			return value
		}
	}
	return ""
}

// printable makes a name from the network fit for a log: one line, ASCII, short.
func printable(name string) string {
	const most = 100
	cut := name
	if len(cut) > most {
		cut = cut[:most] + "..."
	}
	return strconv.QuoteToASCII(cut)
}
