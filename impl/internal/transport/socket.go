package transport

import (
	"errors"
	"net"
	"slices"
	"syscall"
)

// socket is the UDP socket of an endpoint. A packet that the network does not take at the
// moment counts as lost, and QUIC sends it again: quic-go ends a connection at such an
// error, also when an interface is only between two addresses, or a firewall was touched.
type socket struct{ *net.UDPConn }

func (s socket) WriteMsgUDP(b, oob []byte, addr *net.UDPAddr) (n, oobn int, err error) {
	n, oobn, err = s.UDPConn.WriteMsgUDP(b, oob, addr)
	if passing(err) {
		return len(b), len(oob), nil
	}
	return n, oobn, err
}

func (s socket) WriteTo(b []byte, addr net.Addr) (int, error) {
	n, err := s.UDPConn.WriteTo(b, addr)
	if passing(err) {
		return len(b), nil
	}
	return n, err
}

// passing tells of an error in sending that may be over with the next packet.
func passing(err error) bool {
	var number syscall.Errno
	return errors.As(err, &number) && slices.Contains(passingErrors, number)
}

// route asks the system whether it knows a way to an address, so that a dial that has
// none fails at once. Nothing is sent.
func route(addr *net.UDPAddr) error {
	c, err := net.DialUDP("udp", nil, addr)
	if err != nil {
		return err
	}
	return c.Close()
}
