//go:build !unix

package ipc

import "net"

// hungUp takes a client that has nothing more to say for one that is gone.
func hungUp(*net.UnixConn) bool { return true }
