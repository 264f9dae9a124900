package discovery

import (
	"errors"
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// socket is a UDP socket that sends and receives on one interface, as far as
// the system can hold it to that.
type socket struct {
	conn *net.UDPConn
	v4   *ipv4.PacketConn // one of these two is set
	v6   *ipv6.PacketConn
}

const hopLimit = 255 // as multicast DNS demands

// openPrivate opens a socket at an address of the interface, on any free port.
func openPrivate(s segment, self netip.Addr) (*socket, error) {
	network := "udp4"
	if self.Is6() {
		network = "udp6"
	}
	conn, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(netip.AddrPortFrom(self, 0)))
	if err != nil {
		return nil, err
	}
	return newSocket(conn, s, self.Is6())
}

// openShared opens a socket on the port of the group, which other programs of
// this machine may use at the same time, and joins the group.
func openShared(s segment, group netip.AddrPort) (*socket, error) {
	network := "udp4"
	if group.Addr().Is6() {
		network = "udp6"
	}
	conn, err := net.ListenMulticastUDP(network, &net.Interface{Index: s.Index, Name: s.Name}, net.UDPAddrFromAddrPort(group))
	if err != nil {
		return nil, err
	}
	return newSocket(conn, s, group.Addr().Is6())
}

func newSocket(conn *net.UDPConn, s segment, v6 bool) (*socket, error) {
	k := &socket{conn: conn}
	iface := &net.Interface{Index: s.Index, Name: s.Name}
	var err error
	// Looped back, so that daemons of one machine find each other. The control
	// message is left out where a system has none.
	if v6 {
		k.v6 = ipv6.NewPacketConn(conn)
		_ = k.v6.SetControlMessage(ipv6.FlagInterface, true)
		err = errors.Join(k.v6.SetMulticastInterface(iface), k.v6.SetMulticastLoopback(true), k.v6.SetMulticastHopLimit(hopLimit))
	} else {
		k.v4 = ipv4.NewPacketConn(conn)
		_ = k.v4.SetControlMessage(ipv4.FlagInterface, true)
		err = errors.Join(k.v4.SetMulticastInterface(iface), k.v4.SetMulticastLoopback(true), k.v4.SetMulticastTTL(hopLimit))
	}
	if err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

// read returns the length of a datagram, the index of the interface on which
// it came (0: the system does not say) and its source.
func (k *socket) read(buf []byte) (n, at int, from netip.AddrPort, err error) {
	var source net.Addr
	if k.v6 != nil {
		var cm *ipv6.ControlMessage
		if n, cm, source, err = k.v6.ReadFrom(buf); cm != nil {
			at = cm.IfIndex
		}
	} else {
		var cm *ipv4.ControlMessage
		if n, cm, source, err = k.v4.ReadFrom(buf); cm != nil {
			at = cm.IfIndex
		}
	}
	if err != nil {
		return 0, 0, netip.AddrPort{}, err
	}
	udp, ok := source.(*net.UDPAddr)
	if !ok {
		return 0, 0, netip.AddrPort{}, errors.New("a datagram without a source")
	}
	from = udp.AddrPort()
	return n, at, netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), nil
}

func (k *socket) write(data []byte, to netip.AddrPort) error {
	_, err := k.conn.WriteToUDPAddrPort(data, to)
	return err
}

func (k *socket) close() { _ = k.conn.Close() }
