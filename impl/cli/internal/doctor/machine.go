package doctor

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/discovery"
	"github.com/axonproto/axon/impl/internal/stateroot"
)

// timeNow is the clock where none is given.
func timeNow() time.Time { return time.Now() }

func (x *exam) daemon() []Finding {
	const check = "daemon"
	socket := filepath.Join(x.root, client.SocketFile)
	switch {
	case x.dialErr == nil:
		return one(check, OK, "", "version %s is running, for %s", x.self.Version, x.self.Uptime().Round(time.Second))
	case !errors.Is(x.dialErr, client.ErrNoDaemon):
		return one(check, Problem, "stop the daemon that uses this state root, and start it again", "%v", x.dialErr)
	}
	if _, err := os.Lstat(socket); errors.Is(err, fs.ErrNotExist) {
		return one(check, Note, "start one with `axon daemon`", "none is running")
	}
	// The lock tells a daemon that is starting from one that was killed.
	lock, err := stateroot.Acquire(x.root)
	if err != nil {
		return one(check, Problem, "wait for it to be ready, or stop it and start it again", "%s does not answer, and %v", client.SocketFile, err)
	}
	defer lock.Release()
	if !x.fix {
		return one(check, Note, "start one with `axon daemon`", "none is running; the last one was killed and left %s behind, which the next one replaces", client.SocketFile)
	}
	if err := os.Remove(socket); err != nil {
		return one(check, Problem, "remove it by hand", "%v", err)
	}
	return one(check, Fixed, "start a daemon with `axon daemon`", "removed %s, which a daemon that was killed had left behind", client.SocketFile)
}

func (x *exam) port() []Finding {
	const check = "port"
	switch {
	case x.self != nil:
		return one(check, Skipped, "", "the running daemon has it")
	case x.confErr != nil:
		return one(check, Skipped, "", "the configuration cannot be read")
	}
	addr := net.JoinHostPort(x.conf.ListenAddr, strconv.Itoa(x.conf.Port))
	c, err := net.ListenPacket("udp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return one(check, Problem, "stop the program that uses it, or choose another port with `axon config port NUMBER`", "UDP port %d is in use", x.conf.Port)
	case err != nil:
		return one(check, Problem, "choose another address with `axon config listen_addr HOST`, or another port with `axon config port NUMBER`", "UDP %s cannot be used: %v", addr, err)
	}
	_ = c.Close()
	return one(check, OK, "", "UDP %s is free", addr)
}

// clock looks at what a wrong clock would show in. Peers do not compare clocks,
// but logs and backups carry times.
func (x *exam) clock() []Finding {
	const check = "clock"
	now := x.now()
	if now.Year() < 2025 {
		return one(check, Warning, "set the clock, or have it set by a time service", "it says %s", now.Format(time.RFC3339))
	}
	entries, _ := os.ReadDir(x.root) // told of by the check of the state root
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(now.Add(time.Minute)) {
			return one(check, Warning, "set the clock, or have it set by a time service", "it says %s, and %s is from later, %s",
				now.Format(time.RFC3339), e.Name(), info.ModTime().Format(time.RFC3339))
		}
	}
	return one(check, OK, "", "%s", now.Format(time.RFC3339))
}

// wantedBuffer is what the QUIC library asks for, in bytes; with less it works,
// and drops packets under load.
const wantedBuffer = 7 << 20

func buffers() []Finding {
	const check = "UDP buffers"
	if runtime.GOOS != "linux" {
		return one(check, Skipped, "", "this platform does not tell its limits in a way known here; the daemon warns when its buffers are small")
	}
	var small []string
	for _, name := range []string{"rmem_max", "wmem_max"} {
		text, err := os.ReadFile("/proc/sys/net/core/" + name)
		if err != nil {
			return one(check, Skipped, "", "%v", err)
		}
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n < wantedBuffer {
			small = append(small, "net.core."+name+" is "+strconv.Itoa(n))
		}
	}
	if len(small) > 0 {
		return one(check, Warning, "for many peers or much traffic run `sysctl -w net.core.rmem_max=7500000 net.core.wmem_max=7500000`",
			"%s, and %d bytes are wanted", strings.Join(small, ", "), wantedBuffer)
	}
	return one(check, OK, "", "the limits are %d bytes or more", wantedBuffer)
}

func (x *exam) multicast() []Finding {
	const check = "multicast"
	if x.confErr == nil && !x.conf.Discovery {
		return one(check, Skipped, "", "discovery is disabled by the configuration")
	}
	found, err := discovery.Interfaces()
	switch {
	case err != nil:
		return one(check, Warning, "connect to other daemons with `axon connect TOKEN`", "discovery cannot look at the network interfaces: %v", err)
	case len(found) == 0:
		return one(check, Warning, "connect to a network, or to other daemons with `axon connect TOKEN`", "no network interface can multicast; daemons on the local network are not discovered")
	}
	return one(check, OK, "", "daemons are discovered on %s", strings.Join(found, ", "))
}

func platform() []Finding {
	const check = "platform"
	gaps := stateroot.Gaps()
	if len(gaps) == 0 {
		return one(check, OK, "", "%s/%s lacks nothing", runtime.GOOS, runtime.GOARCH)
	}
	var list []Finding
	for _, gap := range gaps {
		list = append(list, one(check, Note, "", "%s", gap)...)
	}
	return list
}
