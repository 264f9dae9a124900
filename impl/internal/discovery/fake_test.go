package discovery

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
)

// fakeNet is a link-local network in memory: what one daemon announces all
// others receive at once, and what it asks all others answer.
type fakeNet struct {
	mu    sync.Mutex // guards all below and the fields of its mediums
	links []*fakeLink
	cut   map[string]bool // names of daemons that are not heard
}

// fakeMedium is one daemon's view of it.
type fakeMedium struct {
	net    *fakeNet
	name   string
	have   []segment
	broken error // what every round reports
	rounds int
	joined int
	closed int
}

type fakeLink struct {
	medium  *fakeMedium
	segment segment
	records *own
	receive func(netip.Addr, []byte)
}

func newFakeNet() *fakeNet { return &fakeNet{cut: map[string]bool{}} }

// daemon makes the view of a daemon with one interface.
func (n *fakeNet) daemon(name string, prefix string) *fakeMedium {
	return &fakeMedium{net: n, name: name, have: []segment{segmentOf("eth0", prefix)}}
}

func segmentOf(name string, prefixes ...string) segment {
	s := segment{Name: name, Index: 2}
	for _, p := range prefixes {
		s.Prefixes = append(s.Prefixes, netip.MustParsePrefix(p))
	}
	return s
}

func (m *fakeMedium) change(f func()) {
	m.net.mu.Lock()
	defer m.net.mu.Unlock()
	f()
}

// count returns one of the counters.
func (m *fakeMedium) count(n *int) int {
	m.net.mu.Lock()
	defer m.net.mu.Unlock()
	return *n
}

func (m *fakeMedium) segments() ([]segment, error) {
	m.net.mu.Lock()
	defer m.net.mu.Unlock()
	return slices.Clone(m.have), nil
}

func (m *fakeMedium) join(s segment, records *own, receive func(netip.Addr, []byte)) link {
	l := &fakeLink{m, s, records, receive}
	m.change(func() { m.joined++; m.net.links = append(m.net.links, l) })
	return l
}

func (l *fakeLink) leave() {
	l.medium.change(func() {
		l.medium.closed++
		n := l.medium.net
		n.links = slices.DeleteFunc(n.links, func(x *fakeLink) bool { return x == l })
	})
}

func (l *fakeLink) round() error {
	n := l.medium.net
	n.mu.Lock()
	l.medium.rounds++
	err := l.medium.broken
	others := slices.Clone(n.links)
	cut := n.cut[l.medium.name]
	heard := slices.DeleteFunc(slices.Clone(others), func(x *fakeLink) bool { return n.cut[x.medium.name] })
	n.mu.Unlock()
	if err != nil {
		return err
	}
	if cut {
		return nil
	}
	for _, x := range heard {
		x.receive(l.segment.Prefixes[0].Addr(), mustPack(l.records))
		l.receive(x.segment.Prefixes[0].Addr(), mustPack(x.records))
	}
	return nil
}

func mustPack(w *own) []byte {
	data, err := w.announcement(false).Pack()
	if err != nil {
		panic(err)
	}
	return data
}

var errNoMulticast = errors.New("network is unreachable")
