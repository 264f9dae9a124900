package netns_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/axonproto/axon/harness/lan/netns"
)

func namespace(t *testing.T) *netns.Namespace {
	t.Helper()
	if err := netns.Possible(); err != nil {
		if os.Getenv("AXON_REQUIRE_NETNS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	n, err := netns.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func TestCableCarriesPackets(t *testing.T) {
	n := namespace(t)
	if err := n.DisableIPv6(); err != nil {
		t.Fatal(err)
	}
	c, err := n.Connect(false)
	if err != nil {
		t.Fatal(err)
	}
	var far net.PacketConn
	err = n.Do(func() (err error) {
		far, err = net.ListenPacket("udp4", c.FarAddr.String()+":0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	near, err := net.Dial("udp4", far.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	if _, err := near.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 10)
	size, from, err := far.ReadFrom(buffer)
	if err != nil || string(buffer[:size]) != "hello" || from.String() != near.LocalAddr().String() {
		t.Errorf("got %q from %v, %v", buffer[:size], from, err)
	}
	if err := c.Multicast(true); err != nil {
		t.Error(err)
	}
	if err := c.Cut(); err != nil {
		t.Error(err)
	}
	if _, err := net.InterfaceByName(c.Near); err == nil {
		t.Error("the cable is still there")
	}
}

func TestCommandsRunInside(t *testing.T) {
	n := namespace(t)
	command := n.Wrap([]string{"ip", "-brief", "link", "show", "up"})
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil || len(out) != 0 {
		t.Errorf("a new machine has a network: %s, %v", out, err)
	}
}

func TestFurnishTouchesNoOtherMachine(t *testing.T) {
	n := namespace(t)
	if _, err := n.Connect(true); err != nil {
		t.Fatal(err)
	}
	if err := n.Do(func() error { return netns.Furnish("lan0", "10.77.1.1/24") }); err == nil {
		t.Error("it gave an interface to a machine that has a network")
	}
	cmd, err := netns.Privately(context.Background(), []string{"ip", "-brief", "link", "show", "up"})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("a private process has a network: %s, %v", out, err)
	}
}
