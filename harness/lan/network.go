package lan

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// Port is that of multicast DNS.
const Port = 5353

// Group is where multicast DNS over IPv4 is spoken.
var Group = netip.MustParseAddr("224.0.0.251")

var groupIPv6 = netip.MustParseAddr("ff02::fb")

// maxSent bounds what is remembered of the own packets that have not come back.
const maxSent = 8192

// ErrInterface is wrapped by the errors about an interface that cannot be used.
var ErrInterface = errors.New("the interface cannot be used for multicast DNS")

// Network is one interface with the multicast DNS that is spoken there. It is safe
// for concurrent use. Close it when done.
type Network struct {
	ear // what others said to the group

	iface     net.Interface
	addresses []netip.Addr
	v4        *ipv4.PacketConn
	sockets   []net.PacketConn
	readers   sync.WaitGroup

	mu   sync.Mutex // guards what follows
	sent map[[sha256.Size]byte]int
	free []*Announcer // those that still speak
}

// Open begins to listen on an interface. Errors about the interface itself wrap
// ErrInterface.
func Open(name string) (*Network, error) {
	iface, addresses, err := usable(name)
	if err != nil {
		return nil, err
	}
	n := &Network{iface: iface, addresses: addresses, sent: map[[sha256.Size]byte]int{}}
	n.ear.init()
	socket, err := net.ListenMulticastUDP("udp4", &n.iface, &net.UDPAddr{IP: Group.AsSlice(), Port: Port})
	if err != nil {
		return nil, fmt.Errorf("listen for multicast DNS on %s: %w; is port %d held by a program that does not share it?", name, err, Port)
	}
	n.sockets = append(n.sockets, socket)
	n.v4 = ipv4.NewPacketConn(socket)
	if err := prepare(n.v4, &n.iface); err != nil {
		_ = n.Close()
		return nil, fmt.Errorf("prepare multicast DNS on %s: %w", name, err)
	}
	n.readers.Go(n.readIPv4)
	// A machine without IPv6 is heard over IPv4 alone.
	if socket, err := net.ListenMulticastUDP("udp6", &n.iface, &net.UDPAddr{IP: groupIPv6.AsSlice(), Port: Port}); err == nil {
		n.sockets = append(n.sockets, socket)
		v6 := ipv6.NewPacketConn(socket)
		_ = v6.SetControlMessage(ipv6.FlagInterface|ipv6.FlagDst, true)
		n.readers.Go(func() { n.readIPv6(v6) })
	}
	return n, nil
}

// prepare has a socket speak on the interface alone, and to programs of the same
// machine too.
func prepare(c *ipv4.PacketConn, iface *net.Interface) error {
	return errors.Join(
		c.SetMulticastInterface(iface),
		c.SetMulticastLoopback(true),
		c.SetMulticastTTL(255),
		c.SetControlMessage(ipv4.FlagInterface|ipv4.FlagDst, true),
	)
}

// usable looks an interface up and tells what is wrong with it.
func usable(name string) (net.Interface, []netip.Addr, error) {
	bad := func(format string, args ...any) (net.Interface, []netip.Addr, error) {
		return net.Interface{}, nil, fmt.Errorf("%w: %s", ErrInterface, fmt.Sprintf(format, args...))
	}
	found, err := net.InterfaceByName(name)
	if err != nil {
		return bad("there is no interface %q; there are: %s", name, strings.Join(names(), ", "))
	}
	switch {
	case found.Flags&net.FlagUp == 0:
		return bad("%s is down; bring it up first (ip link set %s up)", name, name)
	case found.Flags&net.FlagMulticast == 0:
		return bad("%s carries no multicast; choose another one of: %s", name, strings.Join(names(), ", "))
	}
	list, err := found.Addrs()
	if err != nil {
		return bad("the addresses of %s cannot be read: %v", name, err)
	}
	var v4, v6 []netip.Addr
	for _, a := range list {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		if prefix.Addr().Is4() {
			v4 = append(v4, prefix.Addr())
		} else {
			v6 = append(v6, prefix.Addr().WithZone(zoneOf(prefix.Addr(), name)))
		}
	}
	if len(v4) == 0 {
		return bad("%s has no IPv4 address; give it one (ip address add 10.77.1.2/24 dev %s)", name, name)
	}
	return *found, append(v4, v6...), nil
}

func zoneOf(a netip.Addr, name string) string {
	if a.IsLinkLocalUnicast() {
		return name
	}
	return ""
}

// names are the interfaces of the machine.
func names() []string {
	list, err := net.Interfaces()
	if err != nil || len(list) == 0 {
		return []string{"none"}
	}
	var all []string
	for _, i := range list {
		all = append(all, i.Name)
	}
	return all
}

// Name is that of the interface.
func (n *Network) Name() string { return n.iface.Name }

// Addresses are the interface's own, IPv4 first; there is at least one of those.
func (n *Network) Addresses() []netip.Addr { return slices.Clone(n.addresses) }

// Close ends all that was begun here and waits for it.
func (n *Network) Close() error {
	n.mu.Lock()
	talking := n.free
	n.free = nil
	n.mu.Unlock()
	for _, a := range talking {
		a.Stop()
	}
	var errs []error
	for _, s := range n.sockets {
		errs = append(errs, s.Close())
	}
	n.readers.Wait()
	n.ear.end()
	return errors.Join(errs...)
}

// Send multicasts a datagram as it is, from port 5353 and from the given address of
// the interface; from the zero Addr the system chooses one.
func (n *Network) Send(datagram []byte, from netip.Addr) error {
	return n.send(datagram, from, netip.AddrPortFrom(Group, Port))
}

// SendTo is Send to one listener alone.
func (n *Network) SendTo(datagram []byte, to netip.AddrPort) error {
	return n.send(datagram, netip.Addr{}, to)
}

func (n *Network) send(datagram []byte, from netip.Addr, to netip.AddrPort) error {
	if !to.Addr().Is4() {
		return nil // questions over IPv6 are left to others
	}
	control := &ipv4.ControlMessage{IfIndex: n.iface.Index}
	if from.Is4() {
		control.Src = from.AsSlice()
	}
	n.remember(datagram)
	if _, err := n.v4.WriteTo(datagram, control, net.UDPAddrFromAddrPort(to)); err != nil {
		return fmt.Errorf("send on %s: %w", n.iface.Name, err)
	}
	return nil
}

// remember marks a datagram as an own one: the system gives it back.
func (n *Network) remember(datagram []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.sent) >= maxSent {
		clear(n.sent)
	}
	n.sent[sha256.Sum256(datagram)]++
}

// isOwn tells whether a datagram that came is one that was sent here.
func (n *Network) isOwn(from netip.Addr, datagram []byte) bool {
	if !slices.Contains(n.addresses, from) {
		return false
	}
	sum := sha256.Sum256(datagram)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sent[sum] == 0 {
		return false
	}
	if n.sent[sum]--; n.sent[sum] == 0 {
		delete(n.sent, sum)
	}
	return true
}

// maxDatagram is as much as UDP carries.
const maxDatagram = 64 << 10

func (n *Network) readIPv4() {
	buffer := make([]byte, maxDatagram)
	for {
		size, control, from, err := n.v4.ReadFrom(buffer)
		if err != nil {
			return
		}
		// The socket gets what any interface brings for the group.
		if control != nil && control.IfIndex != n.iface.Index {
			continue
		}
		n.take(buffer[:size], addrPort(from), control == nil || control.Dst.IsMulticast())
	}
}

func (n *Network) readIPv6(c *ipv6.PacketConn) {
	buffer := make([]byte, maxDatagram)
	for {
		size, control, from, err := c.ReadFrom(buffer)
		if err != nil {
			return
		}
		if control != nil && control.IfIndex != n.iface.Index {
			continue
		}
		n.take(buffer[:size], addrPort(from), control == nil || control.Dst.IsMulticast())
	}
}

func (n *Network) take(datagram []byte, from netip.AddrPort, group bool) {
	if n.isOwn(from.Addr(), datagram) {
		return
	}
	n.ear.hear(datagram, from, group)
}

func addrPort(a net.Addr) netip.AddrPort {
	udp, ok := a.(*net.UDPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := udp.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

// add keeps an announcer, so that Close can end it.
func (n *Network) add(a *Announcer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.free = append(n.free, a)
}

func (n *Network) drop(a *Announcer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.free = slices.DeleteFunc(n.free, func(b *Announcer) bool { return a == b })
}
