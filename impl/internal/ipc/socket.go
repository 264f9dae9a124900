package ipc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/axonproto/axon/impl/internal/stateroot"
)

// SocketFile is the name of the socket in the state root.
const SocketFile = "axon.sock"

// maxPath is the longest path that every platform takes for a socket.
const maxPath = 103

// bind makes the socket, in place of one that a daemon left behind.
func bind(root string) (*net.UnixListener, string, error) {
	path := filepath.Join(root, SocketFile)
	if len(path) > maxPath {
		return nil, "", fmt.Errorf("the path of the local socket, %s, has %d bytes and may have %d; choose a shorter folder with --state-root", path, len(path), maxPath)
	}
	if err := clear(path); err != nil {
		return nil, "", err
	}
	config := net.ListenConfig{Control: privateSocket}
	listener, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, "", fmt.Errorf("open the local socket: %w; make the state root writable, or choose another folder with --state-root", err)
	}
	// Where the mode could not be set before the bind, it is set now; until
	// then the check of the user at the other end does the work alone.
	if err := os.Chmod(path, 0o600); err != nil {
		_ = listener.Close()
		return nil, "", fmt.Errorf("keep others from the local socket: %w; choose a folder on another file system with --state-root", err)
	}
	return listener.(*net.UnixListener), path, nil
}

// clear removes a socket that nobody serves. Anything else is left alone.
func clear(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the local socket: %w; choose another folder with --state-root", err)
	}
	if info.Mode().IsRegular() || info.IsDir() {
		return fmt.Errorf("%s is no socket; move it away, the daemon makes its socket there", path)
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).Dial("unix", path)
	if err == nil {
		pid := peerPID(conn.(*net.UnixConn))
		_ = conn.Close()
		return &stateroot.InUseError{PID: pid}
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, syscall.EAGAIN) {
		return &stateroot.InUseError{}
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove the socket that a daemon left behind: %w; make the state root writable", err)
	}
	return nil
}
