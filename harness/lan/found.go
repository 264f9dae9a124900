package lan

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// Found is an instance as the records of some packets show it.
type Found struct {
	// Name is the instance's full name in the text form of DNS, Labels are its
	// labels, no longer escaped.
	Name   string
	Labels []string
	// Port and Host are those of the SRV record; HasSRV: there is one.
	Port   uint16
	Host   string
	HasSRV bool
	// Text are the strings of the TXT record; HasTXT: there is one.
	Text   []string
	HasTXT bool
	// Addresses are those of the host.
	Addresses []netip.Addr
	// Gone: the PTR record has a TTL of 0.
	Gone bool
}

// Attribute is the value of a key of the TXT record, and how often the key stands
// there. Keys know no case.
func (f Found) Attribute(key string) (value string, times int) {
	for _, s := range f.Text {
		k, v, _ := strings.Cut(s, "=")
		if strings.EqualFold(k, key) {
			if times == 0 {
				value = v
			}
			times++
		}
	}
	return value, times
}

// FoundIn gathers the instances of a service from all records of some answers.
func FoundIn(service string, packets ...Packet) []Found {
	var records []dns.RR
	for _, p := range packets {
		if p.Answers() {
			records = append(records, p.Message.Answer...)
			records = append(records, p.Message.Ns...)
			records = append(records, p.Message.Extra...)
		}
	}
	var list []Found
	seen := map[string]bool{}
	for _, rr := range records {
		ptr, ok := rr.(*dns.PTR)
		if !ok || !strings.EqualFold(ptr.Hdr.Name, dns.Fqdn(service)) || seen[strings.ToLower(ptr.Ptr)] {
			continue
		}
		seen[strings.ToLower(ptr.Ptr)] = true
		f := Found{Name: ptr.Ptr, Gone: ptr.Hdr.Ttl == 0}
		for _, l := range dns.SplitDomainName(ptr.Ptr) {
			f.Labels = append(f.Labels, unescape(l))
		}
		f.fill(records)
		list = append(list, f)
	}
	return list
}

// fill reads SRV, TXT and addresses.
func (f *Found) fill(records []dns.RR) {
	for _, rr := range records {
		if !strings.EqualFold(rr.Header().Name, f.Name) {
			continue
		}
		switch r := rr.(type) {
		case *dns.SRV:
			f.HasSRV, f.Port, f.Host = true, r.Port, r.Target
		case *dns.TXT:
			f.HasTXT, f.Text = true, nil
			for _, s := range r.Txt {
				f.Text = append(f.Text, unescape(s))
			}
		}
	}
	seen := map[netip.Addr]bool{}
	for _, rr := range records {
		if !f.HasSRV || !strings.EqualFold(rr.Header().Name, f.Host) {
			continue
		}
		var ip netip.Addr
		switch r := rr.(type) {
		case *dns.A:
			ip, _ = netip.AddrFromSlice(r.A.To4())
		case *dns.AAAA:
			ip, _ = netip.AddrFromSlice(r.AAAA.To16())
		}
		if ip.IsValid() && !seen[ip] {
			seen[ip] = true
			f.Addresses = append(f.Addresses, ip)
		}
	}
}

// Mentions tells whether any record of an answer speaks of an instance, whose full
// name is given in the text form of DNS.
func (p Packet) Mentions(instance string) bool {
	if !p.Answers() {
		return false
	}
	for _, section := range [][]dns.RR{p.Message.Answer, p.Message.Ns, p.Message.Extra} {
		for _, rr := range section {
			if strings.EqualFold(rr.Header().Name, instance) {
				return true
			}
			if ptr, ok := rr.(*dns.PTR); ok && strings.EqualFold(ptr.Ptr, instance) {
				return true
			}
		}
	}
	return false
}
