package discovery

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/hashicorp/mdns"
	"github.com/miekg/dns"

	"github.com/axonproto/axon/impl/internal/identity"
)

// own holds the records by which this daemon is found on one interface.
type own struct{ service *mdns.MDNSService }

// newOwn makes the records. The addresses are those of the interface on which
// they are shown, and of no other.
func newOwn(o *Options, addrs []netip.Addr) (*own, error) {
	if len(addrs) == 0 {
		return nil, errors.New("no address to advertise") // the library would look some up
	}
	ips := make([]net.IP, len(addrs))
	for i, a := range addrs {
		ips[i] = a.AsSlice()
	}
	id := string(o.ID)
	instance := "axon-" + strings.ReplaceAll(id, ".", `\.`) // one label, its dot escaped
	host := strings.ReplaceAll(id, ".", "-") + ".local."
	kind := strings.TrimSuffix(service, ".local.")
	txt := []string{"agent_id=" + id, "pubkey=" + identity.EncodePublicKey(o.PublicKey)}
	s, err := mdns.NewMDNSService(instance, kind, "local.", host, o.Port, ips, txt)
	if err != nil {
		return nil, fmt.Errorf("make mDNS records: %w", err)
	}
	return &own{s}, nil
}

// answer returns what to send back to a question, nil for none. legacy is for
// askers that do not use the mDNS port: plain resolvers that want their
// question and its number back. What is asked for twice is told once, so that no
// question makes an answer larger than all that there is to tell.
func (w *own) answer(query *dns.Msg, legacy bool) *dns.Msg {
	type subject struct {
		name string
		kind uint16
	}
	asked := map[subject]bool{}
	var records []dns.RR
	for _, q := range query.Question {
		q.Name = strings.ToLower(q.Name)
		if about := (subject{q.Name, q.Qtype}); !asked[about] {
			asked[about] = true
			for _, rr := range w.service.Records(q) {
				if !slices.ContainsFunc(records, func(told dns.RR) bool { return dns.IsDuplicate(told, rr) }) {
					records = append(records, rr)
				}
			}
		}
	}
	if len(records) == 0 {
		return nil
	}
	reply := response(records)
	if legacy {
		reply.Id, reply.Question = query.Id, query.Question
	}
	return reply
}

// announcement is an answer that nobody asked for. A TTL of 0 takes it back.
func (w *own) announcement(end bool) *dns.Msg {
	records := w.service.Records(dns.Question{Name: service, Qtype: dns.TypePTR, Qclass: dns.ClassINET})
	if end {
		for _, rr := range records {
			rr.Header().Ttl = 0
		}
	}
	return response(records)
}

func response(records []dns.RR) *dns.Msg {
	return &dns.Msg{MsgHdr: dns.MsgHdr{Response: true, Authoritative: true}, Compress: true, Answer: records}
}

func question() *dns.Msg {
	q := dns.Question{Name: service, Qtype: dns.TypePTR, Qclass: dns.ClassINET}
	return &dns.Msg{Question: []dns.Question{q}}
}

// isQuestion reports whether the message asks something that may be answered.
func isQuestion(m *dns.Msg) bool {
	return !m.Response && m.Opcode == dns.OpcodeQuery && m.Rcode == dns.RcodeSuccess && !m.Truncated
}
