package discovery

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// mdnsPort is where multicast DNS is spoken; an answer to another port is an
// ordinary DNS answer.
const mdnsPort = 5353

var (
	group4 = netip.MustParseAddr("224.0.0.251")
	group6 = netip.MustParseAddr("ff02::fb")
)

// multicast is the medium of the machine's interfaces.
type multicast struct {
	choose chooser
	logger *slog.Logger
}

func (m multicast) segments() ([]segment, error) { return m.choose.segments() }

func (m multicast) join(s segment, records *own, receive func(netip.Addr, []byte)) link {
	l := &udpLink{segment: s, records: records, receive: receive, logger: m.logger, legs: map[bool]*leg{}}
	for _, v6 := range []bool{false, true} {
		if _, ok := s.self(v6); ok {
			l.families = append(l.families, v6)
		}
	}
	return l
}

// udpLink is an interface with a leg for each family. A family that fails is
// closed and opened again in the next round: an IPv6 address, for one, cannot
// be used for about a second after it appears.
type udpLink struct {
	segment  segment
	records  *own
	receive  func(netip.Addr, []byte)
	logger   *slog.Logger
	families []bool        // true: IPv6
	legs     map[bool]*leg // those that are open
}

func (l *udpLink) round() error {
	var errs []error
	for _, v6 := range l.families {
		if err := l.roundOf(v6); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) < len(l.families) {
		return nil
	}
	return fmt.Errorf("interface %s: %w", l.segment.Name, errors.Join(errs...))
}

func (l *udpLink) roundOf(v6 bool) error {
	g := l.legs[v6]
	if g == nil {
		var err error
		if g, err = openLeg(l, v6); err != nil {
			return err
		}
		l.legs[v6] = g
	}
	err := g.send(g.shared, l.records.announcement(false), g.group)
	if err == nil {
		err = g.send(g.private, question(), g.group)
	}
	if err != nil {
		g.close()
		delete(l.legs, v6)
	}
	return err
}

func (l *udpLink) leave() {
	for _, g := range l.legs {
		_ = g.send(g.shared, l.records.announcement(true), g.group)
		g.close()
	}
	clear(l.legs)
}

// leg is one family on one interface. Questions go out from a port of our own,
// to which answers come back even where another program has the mDNS port;
// announcements go out from the mDNS port, as others demand.
type leg struct {
	link    *udpLink
	group   netip.AddrPort
	private *socket
	shared  *socket
	done    chan struct{} // closed: the readers end
	readers sync.WaitGroup
}

func openLeg(l *udpLink, v6 bool) (*leg, error) {
	group := netip.AddrPortFrom(group4, mdnsPort)
	if v6 {
		group = netip.AddrPortFrom(group6.WithZone(l.segment.Name), mdnsPort)
	}
	self, _ := l.segment.self(v6)
	private, err := openPrivate(l.segment, self)
	if err != nil {
		return nil, fmt.Errorf("open a socket at %s: %w", self, err)
	}
	shared, err := openShared(l.segment, group)
	if err != nil {
		private.close()
		return nil, fmt.Errorf("join %s: %w", group.Addr(), err)
	}
	g := &leg{link: l, group: group, private: private, shared: shared, done: make(chan struct{})}
	g.readers.Go(func() { g.read(private) })
	g.readers.Go(func() { g.read(shared) })
	return g, nil
}

func (g *leg) close() {
	close(g.done)
	g.private.close()
	g.shared.close()
	g.readers.Wait()
}

func (g *leg) send(from *socket, m *dns.Msg, to netip.AddrPort) error {
	data, err := m.Pack()
	if err != nil {
		return fmt.Errorf("write a DNS message: %w", err)
	}
	return from.write(data, to)
}

// maxDatagram is what multicast DNS allows; more is not looked at.
const maxDatagram = 9000

// read takes datagrams in until the leg is closed.
func (g *leg) read(s *socket) {
	buf := make([]byte, maxDatagram+1)
	for {
		n, at, from, err := s.read(buf)
		switch {
		case err != nil:
			// Some systems report here what became of earlier datagrams.
			// The pause keeps a lasting error from taking a whole core.
			select {
			case <-g.done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		case n > maxDatagram:
		case s == g.shared && at != 0 && at != g.link.segment.Index:
			// Sockets that share a port see one another's interfaces.
		case isResponse(buf[:n]):
			g.link.receive(from.Addr(), buf[:n])
		case s == g.shared:
			g.answer(from, buf[:n])
		}
	}
}

// isResponse looks at the one bit that tells answers from questions.
func isResponse(data []byte) bool { return len(data) > 2 && data[2]&0x80 != 0 }

// answer answers hosts on the link only: the port is open to the world on a
// public address, and answers are larger than questions.
func (g *leg) answer(from netip.AddrPort, data []byte) {
	if !g.link.segment.onLink(from.Addr()) {
		return
	}
	var query dns.Msg
	if query.Unpack(data) != nil || !isQuestion(&query) {
		return
	}
	legacy := from.Port() != mdnsPort
	reply := g.link.records.answer(&query, legacy)
	if reply == nil {
		return
	}
	to := from
	if !legacy && !wantsUnicast(&query) {
		to = g.group
	}
	if err := g.send(g.shared, reply, to); err != nil {
		g.link.logger.Debug("a question could not be answered", "from", from.String(), "error", err)
	}
}

// wantsUnicast looks at the bit that multicast DNS borrows from the class.
func wantsUnicast(m *dns.Msg) bool {
	for _, q := range m.Question {
		if q.Qclass&cacheFlush == 0 {
			return false
		}
	}
	return true
}
