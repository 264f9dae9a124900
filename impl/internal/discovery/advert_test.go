package discovery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/miekg/dns"

	"github.com/axonproto/axon/impl/internal/identity"
)

// change returns somebody's announcement with one thing changed.
func change(t *testing.T, f func(*dns.Msg)) []byte {
	t.Helper()
	m := recordsOf(t, somebody(1), 7100, "192.0.2.1", "2001:db8::1").announcement(false)
	f(m)
	return pack(t, m)
}

func record[T dns.RR](m *dns.Msg) T {
	i := slices.IndexFunc(m.Answer, func(rr dns.RR) bool { _, ok := rr.(T); return ok })
	return m.Answer[i].(T)
}

func TestAdvertIsReadBack(t *testing.T) {
	id := somebody(1)
	rename := func(from, to string) func(*dns.Msg) {
		return func(m *dns.Msg) {
			for _, rr := range m.Answer {
				rr.Header().Name = strings.ReplaceAll(rr.Header().Name, from, to)
			}
		}
	}
	for name, f := range map[string]func(*dns.Msg){
		"as we write it":      func(*dns.Msg) {},
		"without a PTR":       func(m *dns.Msg) { m.Answer = m.Answer[1:] },
		"in additionals":      func(m *dns.Msg) { m.Answer, m.Extra = m.Answer[:1], m.Answer[1:] },
		"another instance":    rename("axon-", "Kitchen (2) "),
		"service in capitals": rename("_axon._udp", "_AXON._UDP"),
		"cache flush":         func(m *dns.Msg) { record[*dns.SRV](m).Hdr.Class |= cacheFlush },
		"further strings": func(m *dns.Msg) {
			txt := record[*dns.TXT](m)
			txt.Txt = append([]string{"", "=", "v=1", "flag"}, append(txt.Txt, "agent_id=second")...)
		},
		"agent id in capitals": func(m *dns.Msg) {
			record[*dns.TXT](m).Txt[0] = "AGENT_ID=" + strings.ToUpper(string(id.ID))
		},
		"other services": func(m *dns.Msg) {
			m.Answer = append([]dns.RR{
				&dns.PTR{Hdr: dns.RR_Header{Name: "_http._tcp.local.", Rrtype: dns.TypePTR, Class: dns.ClassINET}, Ptr: "x._http._tcp.local."},
				&dns.SRV{Hdr: dns.RR_Header{Name: "x._http._tcp.local.", Rrtype: dns.TypeSRV, Class: dns.ClassINET}, Target: "x.local."},
			}, m.Answer...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			good, bad := readAdverts(change(t, f))
			if len(good) != 1 || len(bad) != 0 {
				t.Fatalf("%d good, ignored: %v", len(good), bad)
			}
			a := good[0]
			if a.ID != id.ID || !a.Key.Equal(id.Public) || a.Port != 7100 || fmt.Sprint(a.Addrs) != "[192.0.2.1 2001:db8::1]" {
				t.Errorf("read %+v", a)
			}
		})
	}
}

func TestAdvertIsIgnored(t *testing.T) {
	txt := func(list ...string) func(*dns.Msg) { return func(m *dns.Msg) { record[*dns.TXT](m).Txt = list } }
	id, other := somebody(1), somebody(2)
	agent, key := "agent_id="+string(id.ID), "pubkey="+identity.EncodePublicKey(id.Public)
	for name, c := range map[string]struct {
		f    func(*dns.Msg)
		want error // nil: it is passed over in silence
	}{
		"another's key":    {txt(agent, "pubkey="+identity.EncodePublicKey(other.Public)), errNotDerived},
		"no agent id":      {txt(key), errIncomplete},
		"no key":           {txt(agent), errIncomplete},
		"empty strings":    {txt("", ""), errIncomplete},
		"agent id is junk": {txt("agent_id=\x00\xff\n", key), identity.ErrBadAgentID},
		"another prefix":   {txt("agent_id=ed448."+strings.Repeat("0", 32), key), identity.ErrBadAgentID},
		"key is short":     {txt(agent, "pubkey=AAAA"), identity.ErrBadPublicKey},
		"key in base64url": {txt(agent, "pubkey="+strings.Repeat("_", 43)+"="), identity.ErrBadPublicKey},
		"port 0":           {func(m *dns.Msg) { record[*dns.SRV](m).Port = 0 }, errNoPort},
		"too many records": {func(m *dns.Msg) {
			for range maxRecords {
				m.Answer = append(m.Answer, m.Answer[0])
			}
		}, errMalformed},
		"another service": {func(m *dns.Msg) {
			for _, rr := range m.Answer {
				rr.Header().Name = strings.ReplaceAll(rr.Header().Name, "_axon._udp", "_other._udp")
			}
		}, nil},
		"another domain": {func(m *dns.Msg) {
			for _, rr := range m.Answer {
				rr.Header().Name = strings.ReplaceAll(rr.Header().Name, "_udp.local", "_udp.example")
			}
		}, nil},
		"the service itself": {func(m *dns.Msg) {
			for _, rr := range m.Answer[1:] {
				rr.Header().Name = service
			}
		}, nil},
		"a sub-name": {func(m *dns.Msg) {
			for _, rr := range m.Answer[1:] {
				rr.Header().Name = "a." + rr.Header().Name
			}
		}, nil},
		"PTR with TTL 0": {func(m *dns.Msg) { record[*dns.PTR](m).Hdr.Ttl = 0 }, nil},
		"SRV with TTL 0": {func(m *dns.Msg) { record[*dns.SRV](m).Hdr.Ttl = 0 }, nil},
		"TXT with TTL 0": {func(m *dns.Msg) { record[*dns.TXT](m).Hdr.Ttl = 0 }, nil},
		"another class":  {func(m *dns.Msg) { record[*dns.SRV](m).Hdr.Class = dns.ClassCHAOS }, nil},
		"a question":     {func(m *dns.Msg) { m.Response = false }, nil},
		"an error":       {func(m *dns.Msg) { m.Rcode = dns.RcodeServerFailure }, nil},
		"an update":      {func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate }, nil},
		"no SRV":         {func(m *dns.Msg) { m.Answer = slices.Delete(m.Answer, 1, 2) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			good, bad := readAdverts(change(t, c.f))
			if len(good) != 0 {
				t.Errorf("taken: %+v", good)
			}
			if got := errors.Join(bad...); !errors.Is(got, c.want) || len(bad) > 1 {
				t.Errorf("reasons %v, want %v", bad, c.want)
			}
		})
	}
}

// TestManyAdvertsInOneDatagram holds the bound, and that a bad one spoils no other.
func TestManyAdvertsInOneDatagram(t *testing.T) {
	m := recordsOf(t, somebody(0), 1, "192.0.2.1").announcement(false)
	record[*dns.TXT](m).Txt = []string{"junk"}
	for n := 1; n < 2*maxAdverts; n++ {
		more := recordsOf(t, somebody(n), 1, "192.0.2.1").announcement(false).Answer
		m.Answer = append(m.Answer, more...)
	}
	good, bad := advertsOf(m)
	if len(good) != maxAdverts-1 || len(bad) != 1 {
		t.Errorf("%d good, %d ignored", len(good), len(bad))
	}
	if good[0].ID != somebody(1).ID {
		t.Errorf("first is %s", good[0].ID)
	}
}

func TestHostileNameIsOneShortLine(t *testing.T) {
	hostile := `evil\010level=ERROR\027[31m\226\128\174`
	_, bad := readAdverts(change(t, func(m *dns.Msg) {
		record[*dns.TXT](m).Txt = []string{"junk"}
		for _, rr := range m.Answer[1:] {
			rr.Header().Name = strings.ReplaceAll(rr.Header().Name, `axon-ed25519\.`, hostile)
		}
	}))
	if len(bad) != 1 {
		t.Fatal(bad)
	}
	text := bad[0].Error()
	if !strings.Contains(text, "evil") || len(text) > 200 {
		t.Errorf("reason %q", text)
	}
	for _, r := range text {
		if r < ' ' || r > '~' {
			t.Errorf("reason holds %q: %q", r, text)
		}
	}
	if got := printable(strings.Repeat("\n", 500)); len(got) > 210 || strings.Contains(got, "\n") {
		t.Errorf("printable gives %q", got)
	}
}

func TestOwnRecords(t *testing.T) {
	id := somebody(1)
	w := recordsOf(t, id, 7100, "192.0.2.1")
	ask := func(name string, kind uint16) *dns.Msg {
		return &dns.Msg{MsgHdr: dns.MsgHdr{Id: 7}, Question: []dns.Question{{Name: name, Qtype: kind, Qclass: dns.ClassINET}}}
	}
	for _, name := range []string{service, "_AXON._udp.LOCAL."} {
		reply := w.answer(ask(name, dns.TypePTR), true)
		if reply == nil || reply.Id != 7 || len(reply.Question) != 1 {
			t.Fatalf("%s: %v", name, reply)
		}
		if good, _ := readAdverts(pack(t, reply)); len(good) != 1 || good[0].ID != id.ID {
			t.Errorf("%s: %v", name, reply)
		}
	}
	reply := w.answer(ask(service, dns.TypePTR), false)
	if reply.Id != 0 || len(reply.Question) != 0 {
		t.Errorf("a multicast answer repeats the question: %v", reply)
	}
	instance := record[*dns.PTR](reply).Ptr
	labels := dns.SplitDomainName(instance)
	if labels[0] != `axon-ed25519\.`+strings.TrimPrefix(string(id.ID), "ed25519.") || len(labels) != 4 {
		t.Errorf("instance %q", labels)
	}
	for name, kind := range map[string]uint16{"_http._tcp.local.": dns.TypePTR, service: dns.TypeA, "other." + service: dns.TypeANY} {
		if reply := w.answer(ask(name, kind), true); reply != nil {
			t.Errorf("%s was answered: %v", name, reply)
		}
	}
	if good, bad := readAdverts(pack(t, w.announcement(true))); len(good)+len(bad) != 0 {
		t.Errorf("a withdrawal is taken for an advert: %v %v", good, bad)
	}
}

// TestAnswersRepeatNothing: a question of many parts is answered as one of each.
func TestAnswersRepeatNothing(t *testing.T) {
	w := recordsOf(t, somebody(1), 7100, "192.0.2.1", "fe80::1")
	instance := record[*dns.PTR](w.announcement(false)).Ptr
	once, often := new(dns.Msg), new(dns.Msg)
	for range 1000 {
		for _, kind := range []uint16{dns.TypePTR, dns.TypeANY, dns.TypeSRV} {
			for _, name := range []string{service, strings.ToUpper(service), instance} {
				often.Question = append(often.Question, dns.Question{Name: name, Qtype: kind, Qclass: dns.ClassINET})
			}
		}
	}
	once.Question = []dns.Question{{Name: service, Qtype: dns.TypePTR, Qclass: dns.ClassINET}}
	if got, want := len(w.answer(often, false).Answer), len(w.answer(once, false).Answer); got != want {
		t.Errorf("%d records, want %d", got, want)
	}
}

// FuzzReadAdverts: what is taken from a datagram can be true and is bounded; what is
// said of the rest is one short line.
func FuzzReadAdverts(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(advertisement(f, somebody(1), 7100, "192.0.2.1", "fe80::1"))
	f.Add(pack(f, question()))
	f.Add(pack(f, recordsOf(f, somebody(2), 1, "192.0.2.1").announcement(true)))
	f.Add([]byte("\x00\x00\x84\x00\x00\x00\x00\x01\x00\x00\x00\x00\xc0\x0c\x00\x0c\x00\x01\x00\x00\x00\x01\x00\x02\xc0\x0c"))
	for _, texts := range [][]string{{"agent_id=\x1b[31m", "pubkey=x"}, {"AGENT_ID=" + string(somebody(1).ID), "pubkey=" + identity.EncodePublicKey(somebody(2).Public)}, {"pubkey"}} {
		m := recordsOf(f, somebody(1), 7100, "192.0.2.1").announcement(false)
		record[*dns.TXT](m).Txt = texts
		f.Add(pack(f, m))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		good, bad := readAdverts(data)
		if len(good)+len(bad) > maxAdverts {
			t.Errorf("%d adverts", len(good)+len(bad))
		}
		for _, a := range good {
			if identity.DeriveAgentID(a.Key) != a.ID || a.Port == 0 || len(a.Addrs) > maxAddrs {
				t.Errorf("taken: %+v", a)
			}
			for _, addr := range a.Addrs {
				if !addr.IsValid() || addr.Zone() != "" || addr.Is4In6() {
					t.Errorf("taken: %v", addr)
				}
			}
		}
		for _, err := range bad {
			if text := err.Error(); len(text) > 2000 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("said: %q", text)
			}
		}
	})
}

// FuzzAnswer: whatever is asked, the answer fits into a datagram, repeats nothing, and
// tells of this daemon alone.
func FuzzAnswer(f *testing.F) {
	me := recordsOf(f, somebody(1), 7100, "192.0.2.1", "fe80::1")
	instance := record[*dns.PTR](me.announcement(false)).Ptr
	asked := func(names ...string) []byte {
		var m dns.Msg
		for i, name := range names {
			kinds := []uint16{dns.TypePTR, dns.TypeANY, dns.TypeSRV, dns.TypeTXT, dns.TypeA, dns.TypeAAAA}
			m.Question = append(m.Question, dns.Question{Name: name, Qtype: kinds[i%len(kinds)], Qclass: dns.ClassINET})
		}
		m.Compress = true
		return pack(f, &m)
	}
	host := record[*dns.SRV](me.announcement(false)).Target
	f.Add(asked(service), false)
	f.Add(asked(service, instance, instance, instance, host, host), true)
	f.Add(asked(slices.Repeat([]string{service}, 600)...), false)
	f.Add(asked(slices.Repeat([]string{strings.ToUpper(service), instance}, 300)...), true)
	f.Add(asked("_services._dns-sd._udp.local.", "other.local.", "."), true)
	f.Fuzz(func(t *testing.T, data []byte, legacy bool) {
		var query dns.Msg
		if query.Unpack(data) != nil || !isQuestion(&query) {
			t.Skip()
		}
		reply := me.answer(&query, legacy)
		if reply == nil {
			return
		}
		if !reply.Response || legacy && reply.Id != query.Id || !legacy && (reply.Id != 0 || len(reply.Question) > 0) {
			t.Fatalf("%v: %v", &query, reply)
		}
		seen := map[string]bool{}
		for _, rr := range reply.Answer {
			if seen[rr.String()] {
				t.Fatalf("%v: %v stands twice", &query, rr)
			}
			seen[rr.String()] = true
		}
		packed, err := reply.Pack()
		if err != nil || len(packed) > 1400+len(data) {
			t.Fatalf("%v: %d bytes, %v", &query, len(packed), err)
		}
		good, bad := readAdverts(packed)
		for _, a := range good {
			if a.ID != somebody(1).ID || a.Port != 7100 {
				t.Fatalf("%v: advert %+v", &query, a)
			}
		}
		if len(good) > 1 || len(bad) > 0 {
			t.Fatalf("%v: %v, %v", &query, good, bad)
		}
	})
}
