package discovery

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
)

func TestPick(t *testing.T) {
	s := segmentOf("eth0", "192.0.2.1/24", "2001:db8::1/64")
	for name, c := range map[string]struct {
		source     string
		advertised []string
		want       string
		direct     bool
	}{
		"source is advertised":    {"192.0.2.2", []string{"198.51.100.1", "192.0.2.3", "192.0.2.2"}, "192.0.2.2", true},
		"nothing is advertised":   {"192.0.2.2", nil, "192.0.2.2", true},
		"another of the link":     {"192.0.2.2", []string{"198.51.100.1", "192.0.2.3"}, "192.0.2.3", true},
		"link-local with a zone":  {"fe80::2%eth0", []string{"2001:db8::2", "fe80::2"}, "fe80::2%eth0", true},
		"link-local gets a zone":  {"192.0.2.2", []string{"fe80::2"}, "fe80::2%eth0", true},
		"none of the link":        {"192.0.2.2", []string{"198.51.100.1", "203.0.113.1"}, "198.51.100.1", false},
		"only nonsense":           {"192.0.2.2", []string{"0.0.0.0", "224.0.0.1", "127.0.0.1", "::", "::1"}, "invalid IP", false},
		"nonsense and a good one": {"192.0.2.2", []string{"127.0.0.1", "192.0.2.3"}, "192.0.2.3", true},
		"source is nonsense":      {"0.0.0.0", nil, "invalid IP", false},
	} {
		var list []netip.Addr
		for _, a := range c.advertised {
			list = append(list, netip.MustParseAddr(a))
		}
		got, direct := s.pick(netip.MustParseAddr(c.source), list)
		if got.String() != c.want || direct != c.direct {
			t.Errorf("%s: %s, %v; want %s, %v", name, got, direct, c.want, c.direct)
		}
	}
	lo := segmentOf("lo", "127.0.0.1/8")
	lo.Loopback = true
	if got, _ := lo.pick(netip.MustParseAddr("192.0.2.1"), []netip.Addr{netip.MustParseAddr("127.0.0.1")}); got.String() != "127.0.0.1" {
		t.Errorf("on loopback, from another address of this machine: %s", got)
	}
	home := netip.MustParseAddr("127.0.0.1")
	if got, direct := lo.pick(home, []netip.Addr{home}); got != home || !direct {
		t.Errorf("on loopback: %s, %v", got, direct)
	}
}

func TestChooser(t *testing.T) {
	up := net.FlagUp | net.FlagMulticast
	eth0 := net.Interface{Index: 2, Name: "eth0", Flags: up}
	lo := net.Interface{Index: 1, Name: "lo", Flags: net.FlagUp | net.FlagLoopback}
	addrs := []net.Addr{mustNet("192.0.2.1/24"), mustNet("2001:db8::1/64"), mustNet("fe80::1/64"), &net.UnixAddr{Name: "odd"}}
	with := func(host string, only ...string) chooser {
		o := Options{Interfaces: only}
		if host != "" {
			o.Host = netip.MustParseAddr(host)
		}
		return newChooser(&o)
	}
	for name, c := range map[string]struct {
		choose chooser
		i      net.Interface
		want   bool
	}{
		"a network":           {with(""), eth0, true},
		"loopback":            {with(""), lo, false},
		"loopback by name":    {with("", "lo"), lo, true},
		"not named":           {with("", "eth1"), eth0, false},
		"down":                {with("", "eth0"), net.Interface{Name: "eth0", Flags: net.FlagMulticast}, false},
		"without multicast":   {with(""), net.Interface{Name: "tun0", Flags: net.FlagUp}, false},
		"named, all the same": {with("", "tun0"), net.Interface{Name: "tun0", Flags: net.FlagUp}, true},
	} {
		if got := c.choose.wants(c.i); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for host, want := range map[string]string{
		"":            "[192.0.2.1/24 2001:db8::1/64 fe80::1/64]",
		"::":          "[192.0.2.1/24 2001:db8::1/64 fe80::1/64]",
		"0.0.0.0":     "[192.0.2.1/24]",
		"192.0.2.1":   "[192.0.2.1/24]",
		"2001:db8::1": "[2001:db8::1/64]",
		"192.0.2.2":   "[]",
	} {
		s, ok := with(host).segment(eth0, addrs)
		if fmt.Sprint(s.Prefixes) != want || ok != (want != "[]") {
			t.Errorf("bound to %q: %v, %v", host, s.Prefixes, ok)
		}
	}
	s, _ := with("").segment(eth0, addrs)
	v4, _ := s.self(false)
	v6, _ := s.self(true)
	if v4.String() != "192.0.2.1" || v6.String() != "fe80::1%eth0" {
		t.Errorf("asks from %s and %s", v4, v6)
	}
	if _, ok := segmentOf("x", "192.0.2.1/24").self(true); ok {
		t.Error("an IPv6 address out of nowhere")
	}
}

func TestInterfacesLeavesLoopbackOut(t *testing.T) {
	names, err := Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if i, err := net.InterfaceByName(n); err == nil && i.Flags&net.FlagLoopback != 0 {
			t.Errorf("%s is loopback", n)
		}
	}
}

func mustNet(text string) net.Addr {
	ip, n, err := net.ParseCIDR(text)
	if err != nil {
		panic(err)
	}
	return &net.IPNet{IP: ip, Mask: n.Mask}
}
