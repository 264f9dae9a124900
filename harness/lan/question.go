package lan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"

	"github.com/miekg/dns"
	"golang.org/x/net/ipv4"
)

// Service is the name under which AXON daemons are found.
const Service = "_axon._udp.local."

// ErrNotPermitted says that the system does not let this program send from
// addresses that are not its own.
var ErrNotPermitted = errors.New("packets with another machine's address can be sent by root alone; run the suite as root")

// Question is what is asked.
type Question struct {
	Name string // in the text form of DNS: dots inside of a label are escaped
	Type uint16 // 0: PTR
}

func (q Question) pack(id uint16) ([]byte, error) {
	m := new(dns.Msg)
	m.Id = id
	kind := q.Type
	if kind == 0 {
		kind = dns.TypePTR
	}
	m.Question = []dns.Question{{Name: dns.Fqdn(q.Name), Qtype: kind, Qclass: dns.ClassINET}}
	b, err := m.Pack()
	if err != nil {
		return nil, fmt.Errorf("the question for %q: %w", q.Name, err)
	}
	return b, nil
}

// Ask multicasts a question from port 5353, as daemons do; answers come to the
// group.
func (n *Network) Ask(q Question) error {
	b, err := q.pack(0)
	if err != nil {
		return err
	}
	return n.Send(b, netip.Addr{})
}

// AskAs multicasts a question in the name of somebody else: the packet has the
// given source. It needs the right to send raw packets, and fails with
// ErrNotPermitted where there is none.
func (n *Network) AskAs(source netip.AddrPort, q Question) error {
	b, err := q.pack(0)
	if err != nil {
		return err
	}
	raw, err := net.ListenPacket("ip4:udp", n.addresses[0].String())
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			err = ErrNotPermitted
		}
		return fmt.Errorf("ask in another's name: %w", err)
	}
	defer func() { _ = raw.Close() }()
	c, err := ipv4.NewRawConn(raw)
	if err != nil {
		return fmt.Errorf("ask in another's name: %w", err)
	}
	if err := errors.Join(c.SetMulticastInterface(&n.iface), c.SetMulticastLoopback(true)); err != nil {
		return fmt.Errorf("ask in another's name: %w", err)
	}
	segment := udp(source.Port(), b)
	header := &ipv4.Header{
		Version: ipv4.Version, Len: ipv4.HeaderLen, TotalLen: ipv4.HeaderLen + len(segment), TTL: 255, Protocol: 17,
		Src: source.Addr().AsSlice(), Dst: Group.AsSlice(),
	}
	if err := c.WriteTo(header, segment, &ipv4.ControlMessage{IfIndex: n.iface.Index}); err != nil {
		return fmt.Errorf("ask in another's name: %w", err)
	}
	return nil
}

// udp puts the header of UDP before a payload that goes to port 5353. Without a
// checksum, which IPv4 allows.
func udp(from uint16, payload []byte) []byte {
	size := 8 + len(payload)
	return append([]byte{byte(from >> 8), byte(from), Port >> 8, Port & 0xff, byte(size >> 8), byte(size), 0, 0}, payload...)
}

// Asker asks from a port of its own, as small resolvers do, and hears what comes
// back to that port. Close it when done.
type Asker struct {
	ear
	network *Network
	socket  *net.UDPConn
	conn    *ipv4.PacketConn
	reader  sync.WaitGroup
}

// Asker opens a port.
func (n *Network) Asker() (*Asker, error) {
	socket, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(n.addresses[0], 0)))
	if err != nil {
		return nil, fmt.Errorf("a port to ask from on %s: %w", n.iface.Name, err)
	}
	a := &Asker{network: n, socket: socket, conn: ipv4.NewPacketConn(socket)}
	a.ear.init()
	if err := errors.Join(a.conn.SetMulticastInterface(&n.iface), a.conn.SetMulticastLoopback(true), a.conn.SetMulticastTTL(255)); err != nil {
		_ = socket.Close()
		return nil, fmt.Errorf("a port to ask from on %s: %w", n.iface.Name, err)
	}
	a.reader.Go(func() {
		buffer := make([]byte, maxDatagram)
		for {
			size, from, err := socket.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			a.ear.hear(buffer[:size], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), false)
		}
	})
	return a, nil
}

// Ask multicasts a question from the asker's port.
func (a *Asker) Ask(q Question) error {
	b, err := q.pack(uint16(rand.IntN(1 << 16)))
	if err != nil {
		return err
	}
	a.network.remember(b)
	to := net.UDPAddrFromAddrPort(netip.AddrPortFrom(Group, Port))
	if _, err := a.conn.WriteTo(b, &ipv4.ControlMessage{IfIndex: a.network.iface.Index}, to); err != nil {
		return fmt.Errorf("ask on %s: %w", a.network.iface.Name, err)
	}
	return nil
}

// Close gives the port back.
func (a *Asker) Close() error {
	err := a.socket.Close()
	a.reader.Wait()
	a.ear.end()
	return err
}

// Types of records that are asked for.
const (
	PTR  = dns.TypePTR
	SRV  = dns.TypeSRV
	TXT  = dns.TypeTXT
	A    = dns.TypeA
	AAAA = dns.TypeAAAA
)
