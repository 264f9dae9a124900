package ipc

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ChecksUser tells whether this platform says who is at the other end of the
// socket.
const ChecksUser = true

// privateSocket gives the socket its mode before it has a name.
func privateSocket(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = unix.Fchmod(int(fd), 0o600) })
}

func credentials(conn *net.UnixConn) (cred *unix.Ucred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	if e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil {
		return nil, e
	}
	return cred, err
}

func checkUser(conn *net.UnixConn) error {
	cred, err := credentials(conn)
	if err != nil {
		return fmt.Errorf("the user at the other end cannot be told: %w; connect again", err)
	}
	if own := os.Geteuid(); int(cred.Uid) != own {
		return fmt.Errorf("this daemon belongs to the user with id %d and serves no other, and you are %d; run the command as that user", own, cred.Uid)
	}
	return nil
}

func peerPID(conn *net.UnixConn) int {
	cred, err := credentials(conn)
	if err != nil {
		return 0
	}
	return int(cred.Pid)
}
