// Package lantest gives tests two network namespaces joined by a cable, where
// multicast can be tried without letting any of it out. It needs Linux, root
// and the ip command; tests skip with a message where one of them is missing.
//
// It imports nothing of this module and is imported by tests only.
package lantest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// Host is a network namespace: a machine of its own as far as the network goes.
type Host struct {
	t    testing.TB
	name string // of the namespace
}

// made counts namespaces, so that their names differ within the process.
var made atomic.Int32

// Hosts returns two hosts that nothing joins yet; they vanish with the test.
func Hosts(t testing.TB) (a, b *Host) {
	t.Helper()
	switch _, err := exec.LookPath("ip"); {
	case runtime.GOOS != "linux":
		lacking(t, "network namespaces need Linux")
	case os.Geteuid() != 0:
		lacking(t, "network namespaces need root; run the tests as root to include this one")
	case err != nil:
		lacking(t, "the ip command is missing; install iproute2 to include this test")
	}
	return host(t), host(t)
}

// lacking skips a test, or fails it where AXON_REQUIRE_NETNS is set, as in CI.
func lacking(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("AXON_REQUIRE_NETNS") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func host(t testing.TB) *Host {
	t.Helper()
	h := &Host{t, fmt.Sprintf("axon-test-%d-%d", os.Getpid(), made.Add(1))}
	if out, err := exec.Command("ip", "netns", "add", h.name).CombinedOutput(); err != nil {
		lacking(t, "no network namespace can be made here: "+strings.TrimSpace(string(out)))
	}
	t.Cleanup(func() {
		if out, err := exec.Command("ip", "netns", "delete", h.name).CombinedOutput(); err != nil {
			t.Errorf("remove the namespace %s: %s", h.name, out)
		}
	})
	h.IP("link", "set", "lo", "up")
	return h
}

// Join puts a cable between two hosts: interface name on both, the addresses
// 10.77.number.1 and .2, multicast and IPv6 on.
func Join(a, b *Host, name string, number int) {
	a.t.Helper()
	a.IP("link", "add", name, "type", "veth", "peer", "name", name, "netns", b.name)
	for i, h := range []*Host{a, b} {
		h.IP("address", "add", Addr(number, i)+"/24", "dev", name)
		h.IP("link", "set", name, "up")
	}
	for _, h := range []*Host{a, b} {
		// Programs that name no interface multicast over the last one joined.
		h.IP("route", "replace", "224.0.0.0/4", "dev", name)
	}
}

// Addr returns the address of the first (0) or second (1) host on a cable.
func Addr(number, which int) string { return fmt.Sprintf("10.77.%d.%d", number, which+1) }

// IP runs the ip command inside the host.
func (h *Host) IP(args ...string) {
	h.t.Helper()
	if out, err := exec.Command("ip", append([]string{"-netns", h.name}, args...)...).CombinedOutput(); err != nil {
		h.t.Fatalf("ip %s: %s", strings.Join(args, " "), strings.TrimSpace(string(out)))
	}
}

// DisableIPv6 takes IPv6 away from the host.
func (h *Host) DisableIPv6() {
	h.t.Helper()
	const all = "/proc/sys/net/ipv6/conf/all/disable_ipv6"
	cmd := h.Command(h.t.Context(), "sh", "-c", "if [ -e "+all+" ]; then echo 1 >"+all+"; fi")
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Skipf("IPv6 cannot be switched off here: %s", out)
	}
}

// Command makes a command that runs inside the host. Its process is that of
// the program itself, so that it can be killed.
func (h *Host) Command(ctx context.Context, path string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", h.name, path}, args...)...)
}
