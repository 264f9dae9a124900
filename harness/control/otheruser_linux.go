//go:build linux && (amd64 || arm64)

package control

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
)

// Users to act as: "nobody" on most systems, and another where that one owns the
// socket.
const (
	nobody = 65534
	second = 65533
)

// DialAsOther connects to the socket of a local API as another user than the one
// who owns it, with the owner's right to the file: so it gets through whatever the
// mode of the socket and of the folders above it. Only root may do so; for others
// the error wraps ErrUnsupported.
func DialAsOther(ctx context.Context, socket string) (*Session, error) {
	info, err := os.Stat(socket)
	if err != nil {
		return nil, fmt.Errorf("look at the socket of the local API: %w", err)
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	other := nobody
	if owner == other {
		other = second
	}
	type outcome struct {
		fd  int
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		// The thread takes on another identity, so it must end with this
		// goroutine: it is never unlocked.
		runtime.LockOSThread()
		fd, err := connectAs(owner, other, socket)
		done <- outcome{fd, err}
	}()
	o := <-done // connecting does not block, see connectAs
	if o.err != nil {
		return nil, o.err
	}
	if ctx.Err() != nil {
		_ = syscall.Close(o.fd)
		return nil, ctx.Err()
	}
	file := os.NewFile(uintptr(o.fd), socket)
	defer func() { _ = file.Close() }()
	c, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("use a connection to the local API: %w", err)
	}
	return newSession(c.(*net.UnixConn), true), nil
}

// connectAs changes the effective user of the calling thread to other, which is
// what the kernel tells the listener, and its rights to files to those of owner.
func connectAs(owner, other int, socket string) (int, error) {
	const keep = ^uintptr(0)
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(owner), uintptr(other), keep); e != 0 {
		return 0, fmt.Errorf("%w: acting as another user needs root (%w)", ErrUnsupported, e)
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(owner), 0, 0) // has no error to tell
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, fmt.Errorf("make a socket: %w", err)
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: socket}); err != nil {
		_ = syscall.Close(fd)
		return 0, fmt.Errorf("connect to the local API at %s as user %d: %w", socket, other, err)
	}
	return fd, nil
}

// CanDialAsOther tells whether DialAsOther has a chance.
func CanDialAsOther() bool { return os.Geteuid() == 0 }
