// Package netns makes private networks on Linux: network namespaces, each a
// machine of its own as far as the network goes, joined by cables. What multicasts
// there reaches nobody else. It needs root and the ip command of iproute2.
//
// It imports the standard library and x/sys only. It serves AXON-DISC-022 to -026,
// and the tests and the self test of all requirements whose need is lan.
package netns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
)

// ErrImpossible is wrapped by the errors that say why no private network can be
// made on this machine.
var ErrImpossible = errors.New("no private network can be made here")

// Possible tells why no private network can be made, nil when one can.
func Possible() error {
	if !supported {
		return fmt.Errorf("%w: it needs Linux", ErrImpossible)
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: it needs root", ErrImpossible)
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return fmt.Errorf("%w: the ip command is missing; install iproute2", ErrImpossible)
	}
	return nil
}

// made counts what this process has made, so that names differ.
var made atomic.Int32

// Namespace is a machine of its own. It begins without any network: even its
// loopback interface is down.
type Namespace struct {
	name string
}

// New makes a namespace. Close it when all that runs there has ended.
func New() (*Namespace, error) {
	if err := Possible(); err != nil {
		return nil, err
	}
	n := &Namespace{name: fmt.Sprintf("axon-suite-%d-%d", os.Getpid(), made.Add(1))}
	if err := ip("netns", "add", n.name); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	return n, nil
}

// Close removes it, and with it the cables that end there.
func (n *Namespace) Close() error { return ip("netns", "delete", n.name) }

// IP runs the ip command inside.
func (n *Namespace) IP(args ...string) error {
	return ip(append([]string{"-netns", n.name}, args...)...)
}

// Wrap turns a command into one that runs inside. The process is that of the
// command itself, so that it can be signalled.
func (n *Namespace) Wrap(command []string) []string {
	return append([]string{"ip", "netns", "exec", n.name}, command...)
}

// DisableIPv6 takes IPv6 away. Where the system has none, nothing is to be done.
func (n *Namespace) DisableIPv6() error {
	return n.Do(func() error {
		const all = "/proc/sys/net/ipv6/conf/all/disable_ipv6"
		if _, err := os.Stat(all); err != nil {
			return nil
		}
		return os.WriteFile(all, []byte("1"), 0)
	})
}

// FarName is the name of a cable's interface inside of a namespace, Bits is the
// length of its network's prefix.
const (
	FarName = "lan0"
	Bits    = 29
)

// Cable joins the machine of the caller with a namespace.
type Cable struct {
	// Near is the name of the caller's end; that inside of the namespace is FarName.
	Near string
	// NearAddr and FarAddr are their addresses, SecondAddr is another one of the
	// near end.
	NearAddr, FarAddr, SecondAddr netip.Addr
	namespace                     *Namespace
}

// Connect lays a cable. With multicast off the far end carries none.
func (n *Namespace) Connect(multicast bool) (*Cable, error) {
	network, err := freeNetwork()
	if err != nil {
		return nil, err
	}
	number := made.Add(1)
	c := &Cable{Near: fmt.Sprintf("axon%d-%d", os.Getpid()%100000, number), namespace: n}
	c.NearAddr = network.Addr().Next()
	c.FarAddr = c.NearAddr.Next()
	c.SecondAddr = c.FarAddr.Next()
	err = ip("link", "add", c.Near, "type", "veth", "peer", "name", FarName, "netns", n.name)
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		ip("address", "add", fmt.Sprintf("%s/%d", c.NearAddr, Bits), "dev", c.Near),
		ip("address", "add", fmt.Sprintf("%s/%d", c.SecondAddr, Bits), "dev", c.Near),
		n.IP("address", "add", fmt.Sprintf("%s/%d", c.FarAddr, Bits), "dev", FarName),
		n.IP("link", "set", "lo", "up"),
		n.IP("link", "set", FarName, "multicast", map[bool]string{true: "on", false: "off"}[multicast]),
		ip("link", "set", c.Near, "up"),
		n.IP("link", "set", FarName, "up"),
	)
	if err == nil && multicast {
		err = c.route()
	}
	if err != nil {
		return nil, errors.Join(err, c.Cut())
	}
	return c, nil
}

// Multicast switches it on or off at the far end.
func (c *Cable) Multicast(on bool) error {
	if !on {
		return c.namespace.IP("link", "set", FarName, "multicast", "off")
	}
	return errors.Join(c.namespace.IP("link", "set", FarName, "multicast", "on"), c.route())
}

// route is for programs that name no interface when they multicast.
func (c *Cable) route() error {
	return c.namespace.IP("route", "replace", "224.0.0.0/4", "dev", FarName)
}

// Cut takes the cable away.
func (c *Cable) Cut() error { return ip("link", "delete", c.Near) }

// freeNetwork finds eight addresses, out of those set aside for such use (RFC 2544),
// that no interface of this machine has.
func freeNetwork() (netip.Prefix, error) {
	taken, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("find a free network: %w", err)
	}
	for range 100 {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, byte(18 + rand.IntN(2)), byte(rand.IntN(256)), byte(8 * rand.IntN(32))}), Bits)
		free := true
		for _, a := range taken {
			if other, err := netip.ParsePrefix(a.String()); err == nil && p.Overlaps(other.Masked()) {
				free = false
			}
		}
		if free {
			return p, nil
		}
	}
	return netip.Prefix{}, errors.New("find a free network: every one in 198.18.0.0/15 is taken")
}

// Furnish gives a machine that has no network an interface with addresses, of the
// form 10.77.1.1/24. It is for processes that Privately started, and refuses to
// touch any other machine.
func Furnish(name string, addresses ...string) error {
	list, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("look at the interfaces: %w", err)
	}
	for _, i := range list {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			return fmt.Errorf("this machine has a network already (%s), so it is none that was made for a test", i.Name)
		}
	}
	errs := []error{
		ip("link", "set", "lo", "up"),
		ip("link", "add", name, "type", "veth", "peer", "name", name+"-end"),
	}
	for _, a := range addresses {
		errs = append(errs, ip("address", "add", a, "dev", name))
	}
	errs = append(errs, ip("link", "set", name, "up"), ip("link", "set", name+"-end", "up"))
	return errors.Join(errs...)
}

// Privately makes a command run in a namespace of its own that has no name and
// vanishes with it. See Furnish.
func Privately(ctx context.Context, command []string) (*exec.Cmd, error) {
	if err := Possible(); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	private(cmd)
	return cmd, nil
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
