package probe

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
)

// maxMuted bounds the list of muted connection IDs; the oldest are forgotten.
const maxMuted = 1024

// socket is a UDP socket that can stop sending for single connections: packets
// towards a muted connection ID are dropped as if the network had lost them.
type socket struct {
	*net.UDPConn
	mu    sync.Mutex
	muted atomic.Pointer[[][]byte] // replaced as a whole, under mu
}

func (s *socket) mute(connectionID []byte) {
	if len(connectionID) == 0 { // nothing to tell its packets by
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list [][]byte
	if old := s.muted.Load(); old != nil {
		list = append(list, *old...)
	}
	list = append(list, bytes.Clone(connectionID))
	if len(list) > maxMuted {
		list = list[len(list)-maxMuted:]
	}
	s.muted.Store(&list)
}

// drops tells whether packet goes to a muted connection. A buffer of several
// packets belongs to one connection: the first one decides.
func (s *socket) drops(packet []byte) bool {
	list := s.muted.Load()
	if list == nil || len(packet) < 7 {
		return false
	}
	destination, exact := packet[1:], false
	if packet[0]&0x80 != 0 { // long header: version, then the length of the ID
		destination, exact = packet[6:], true
	}
	for _, id := range *list {
		if exact && int(packet[5]) != len(id) {
			continue
		}
		if bytes.HasPrefix(destination, id) {
			return true
		}
	}
	return false
}

// WriteMsgUDP sends unless the packet is muted.
func (s *socket) WriteMsgUDP(b, oob []byte, addr *net.UDPAddr) (n, oobn int, err error) {
	if s.drops(b) {
		return len(b), len(oob), nil
	}
	return s.UDPConn.WriteMsgUDP(b, oob, addr)
}

// WriteTo sends unless the packet is muted.
func (s *socket) WriteTo(b []byte, addr net.Addr) (int, error) {
	if s.drops(b) {
		return len(b), nil
	}
	return s.UDPConn.WriteTo(b, addr)
}
