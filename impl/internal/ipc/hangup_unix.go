//go:build unix

package ipc

import (
	"net"

	"golang.org/x/sys/unix"
)

// hungUp tells a client that is gone from one that only has nothing more to
// say and still listens.
func hungUp(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		list := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(list, 0)
		gone = err == nil && n > 0 && list[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
	})
	return gone || err != nil
}
