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

func privateSocket(_, _ string, _ syscall.RawConn) error { return nil }

func checkUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Xucred
	if e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	}); e != nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("the user at the other end cannot be told: %w; connect again", err)
	}
	if own := os.Geteuid(); int(cred.Uid) != own {
		return fmt.Errorf("this daemon belongs to the user with id %d and serves no other, and you are %d; run the command as that user", own, cred.Uid)
	}
	return nil
}

func peerPID(conn *net.UnixConn) int {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if n, err := unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID); err == nil {
			pid = n
		}
	})
	return pid
}
