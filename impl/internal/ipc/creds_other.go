//go:build !linux && !darwin

package ipc

import (
	"net"
	"syscall"
)

// ChecksUser tells whether this platform says who is at the other end of the
// socket. Here the mode of the socket, or the access list of the state root,
// keeps other users out alone.
const ChecksUser = false

func privateSocket(_, _ string, _ syscall.RawConn) error { return nil }

func checkUser(*net.UnixConn) error { return nil }

func peerPID(*net.UnixConn) int { return 0 }
