package lan

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"github.com/axonproto/axon/harness/credential"
)

// ttl of the records of an advert, in seconds.
const ttl = 120

// Advert is the set of records by which a daemon is found, or something near it.
type Advert struct {
	Service   string // "": Service
	Label     string // of the instance, not escaped
	Host      string // "": made from Label
	Port      uint16
	Addresses []netip.Addr // of the host
	Text      []string     // strings of the TXT record
	Gone      bool         // TTL 0: a goodbye
	PTROnly   bool         // the other records are left out
	Flat      bool         // all records are answers, none is an additional one
	Elsewhere string       // full name of the instance that the PTR gives, "": Instance()
}

// Honest is the advert of who holds an identity and listens at an address.
func Honest(id credential.Identity, at netip.AddrPort) Advert {
	return Advert{
		Label: "axon-" + id.AgentID(), Port: at.Port(), Addresses: []netip.Addr{at.Addr()},
		Text: []string{"agent_id=" + id.AgentID(), "pubkey=" + id.PublicBase64()},
	}
}

// Instance is the advert's full name, in the text form of DNS.
func (a Advert) Instance() string { return Escape(a.Label) + "." + a.service() }

func (a Advert) service() string {
	if a.Service == "" {
		return Service
	}
	return dns.Fqdn(a.Service)
}

// HostName is the host's name: of its own for each label, free of dots and long
// labels.
func (a Advert) HostName() string {
	if a.Host != "" {
		return dns.Fqdn(a.Host)
	}
	name := strings.NewReplacer(".", "-", " ", "-").Replace(strings.ToLower(a.Label))
	if len(name) > 60 {
		name = name[:60]
	}
	return "host-" + name[max(0, len(name)-40):] + ".local."
}

// Pack writes the answer that carries the advert. An answer to a resolver with a
// port of its own repeats its id and question.
func (a Advert) Pack(id uint16, question *dns.Question) ([]byte, error) {
	m := new(dns.Msg)
	m.Id, m.Response, m.Authoritative = id, true, true
	if question != nil {
		m.Question = []dns.Question{*question}
	}
	life := uint32(ttl)
	if a.Gone {
		life = 0
	}
	header := func(name string, kind, class uint16) dns.RR_Header {
		return dns.RR_Header{Name: name, Rrtype: kind, Class: class, Ttl: life}
	}
	const flush = dns.ClassINET | 1<<15
	named := a.Instance()
	if a.Elsewhere != "" {
		named = dns.Fqdn(a.Elsewhere)
	}
	m.Answer = append(m.Answer, &dns.PTR{Hdr: header(a.service(), dns.TypePTR, dns.ClassINET), Ptr: named})
	if !a.PTROnly {
		m.Extra = append(m.Extra,
			&dns.SRV{Hdr: header(named, dns.TypeSRV, flush), Port: a.Port, Target: a.HostName()},
			&dns.TXT{Hdr: header(named, dns.TypeTXT, flush), Txt: a.Text})
		for _, ip := range a.Addresses {
			if ip.Is4() {
				m.Extra = append(m.Extra, &dns.A{Hdr: header(a.HostName(), dns.TypeA, flush), A: ip.AsSlice()})
			} else {
				m.Extra = append(m.Extra, &dns.AAAA{Hdr: header(a.HostName(), dns.TypeAAAA, flush), AAAA: ip.AsSlice()})
			}
		}
	}
	if a.Flat {
		m.Answer, m.Extra = append(m.Answer, m.Extra...), nil
	}
	b, err := m.Pack()
	if err != nil {
		return nil, fmt.Errorf("the advert %q: %w", a.Label, err)
	}
	return b, nil
}

// Escape writes a label so that DNS text takes it for one.
func Escape(label string) string {
	var b strings.Builder
	for i := range len(label) {
		switch c := label[i]; {
		case strings.IndexByte(`."\;()@$ `, c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < '!' || c > '~':
			fmt.Fprintf(&b, `\%03d`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape is the way back.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' || i+1 == len(text) {
			b.WriteByte(c)
			continue
		}
		i++
		if i+2 < len(text) && digit(text[i]) && digit(text[i+1]) && digit(text[i+2]) {
			b.WriteByte((text[i]-'0')*100 + (text[i+1]-'0')*10 + text[i+2] - '0')
			i += 2
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
