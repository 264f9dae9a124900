//go:build linux && (amd64 || arm64)

package control

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestDialAsOther: the listener is told of another user, and the file's mode does not
// stop it; this process stays who it is.
func TestDialAsOther(t *testing.T) {
	l, path := listen(t)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := DialAsOther(soon(t), path)
	if !CanDialAsOther() {
		if !errors.Is(err, ErrUnsupported) {
			t.Errorf("got %v", err)
		}
		t.Skip("only root can act as another user")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	peer, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := peer.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		who, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		if err != nil || who.Uid != nobody {
			t.Errorf("the listener is told of %+v, %v", who, err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		t.Error("this process has become another")
	}
	if err := peer.Close(); err != nil {
		t.Error(err)
	}
	if err := s.AwaitEnd(soon(t)); err != nil {
		t.Error(err)
	}
}
