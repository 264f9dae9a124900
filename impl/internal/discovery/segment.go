package discovery

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

const maxSegments = 32

// segment is a network interface as it was found at one moment.
type segment struct {
	Name     string
	Index    int
	Loopback bool
	Prefixes []netip.Prefix // the interface's own addresses with their networks
}

// key is equal for two findings of an interface between which nothing changed
// that matters here.
func (s segment) key() string { return fmt.Sprint(s.Name, s.Index, s.Loopback, s.Prefixes) }

// addrs returns the interface's addresses.
func (s segment) addrs() []netip.Addr {
	list := make([]netip.Addr, 0, len(s.Prefixes))
	for _, p := range s.Prefixes {
		list = append(list, p.Addr())
	}
	return list
}

// self returns the address to ask from in one family. For IPv6 the link-local
// one comes first, as it is what multicast on a link is sent from.
func (s segment) self(v6 bool) (netip.Addr, bool) {
	var found netip.Addr
	for _, a := range s.addrs() {
		if a.Is6() != v6 {
			continue
		}
		if v6 && a.IsLinkLocalUnicast() {
			return a.WithZone(s.Name), true
		}
		if !found.IsValid() {
			found = a
		}
	}
	return found, found.IsValid()
}

// onLink reports whether the address belongs to a network of this interface.
// What comes from elsewhere is not multicast of this link, whatever it says.
// On loopback all is of this machine, and may show any of its addresses.
func (s segment) onLink(a netip.Addr) bool {
	a = a.WithZone("")
	if s.Loopback || a.IsLinkLocalUnicast() {
		return true
	}
	return slices.ContainsFunc(s.Prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// usable reports whether a peer could be at that address.
func (s segment) usable(a netip.Addr) bool {
	return a.IsValid() && !a.IsUnspecified() && !a.IsMulticast() && a.IsLoopback() == s.Loopback
}

// pick chooses where a peer is reached: the source of its advert when that is
// one of the addresses advertised, for it has just been seen to work; else an
// advertised one of this link. A host on several interfaces may answer with
// the addresses of the wrong one, and a repeater between two links sends
// addresses of the other one: both look the same, direct is false, and the
// table waits before it uses them.
func (s segment) pick(source netip.Addr, advertised []netip.Addr) (addr netip.Addr, direct bool) {
	var usable []netip.Addr
	for _, a := range advertised {
		if s.usable(a) {
			usable = append(usable, a)
		}
	}
	if s.usable(source) && (len(advertised) == 0 || slices.Contains(usable, source.WithZone(""))) {
		return source, true
	}
	for _, a := range usable {
		if s.onLink(a) {
			if a.IsLinkLocalUnicast() && a.Is6() {
				a = a.WithZone(s.Name)
			}
			return a, true
		}
	}
	if len(usable) == 0 {
		return netip.Addr{}, false
	}
	return usable[0], false
}

// chooser says on which interfaces to discover.
type chooser struct {
	only   []string   // names; empty: each that is up, multicasts and is no loopback
	host   netip.Addr // the address that the daemon is bound to; invalid: all
	v4, v6 bool       // the families in which the daemon listens
}

func newChooser(o *Options) chooser {
	c := chooser{only: o.Interfaces, v4: true, v6: true}
	if h := o.Host.Unmap(); h.IsValid() {
		c.v4, c.v6 = h.Is4() || h == netip.IPv6Unspecified(), h.Is6()
		if !h.IsUnspecified() {
			c.host = h
		}
	}
	return c
}

func (c chooser) wants(i net.Interface) bool {
	if i.Flags&net.FlagUp == 0 {
		return false
	}
	if len(c.only) > 0 {
		return slices.Contains(c.only, i.Name)
	}
	return i.Flags&net.FlagMulticast != 0 && i.Flags&net.FlagLoopback == 0
}

// segment makes the segment of an interface; false when the daemon cannot be
// reached there.
func (c chooser) segment(i net.Interface, addrs []net.Addr) (segment, bool) {
	s := segment{Name: i.Name, Index: i.Index, Loopback: i.Flags&net.FlagLoopback != 0}
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		p = netip.PrefixFrom(p.Addr().Unmap().WithZone(""), p.Bits())
		a := p.Addr()
		switch {
		case a.Is4() && !c.v4, a.Is6() && !c.v6, !p.IsValid(), a.IsLoopback() != s.Loopback:
		case c.host.IsValid() && a != c.host.WithZone(""):
		case len(s.Prefixes) < maxAddrs:
			s.Prefixes = append(s.Prefixes, p)
		}
	}
	return s, len(s.Prefixes) > 0
}

// segments lists the machine's interfaces that are wanted, in the order of
// their names.
func (c chooser) segments() ([]segment, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list network interfaces: %w", err)
	}
	slices.SortFunc(all, func(a, b net.Interface) int { return strings.Compare(a.Name, b.Name) })
	var list []segment
	for _, i := range all {
		if !c.wants(i) || len(list) == maxSegments {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			continue // gone between the two calls
		}
		if s, ok := c.segment(i, addrs); ok {
			list = append(list, s)
		}
	}
	return list, nil
}

// Interfaces returns the names of the interfaces on which a daemon that is
// bound to all addresses would discover now. It sends nothing and joins
// nothing.
func Interfaces() ([]string, error) {
	list, err := newChooser(&Options{}).segments()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return names, nil
}
