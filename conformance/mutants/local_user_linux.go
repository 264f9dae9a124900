package mutants

import (
	"net"
	"os"
	"syscall"
)

// sameUser tells whether a connection was made by this process's user.
func sameUser(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	_ = raw.Control(func(fd uintptr) {
		who, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		same = err == nil && int(who.Uid) == os.Geteuid()
	})
	return same
}
