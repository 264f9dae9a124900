package control

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen makes a socket in a folder of the test's own.
func listen(t *testing.T) (*net.UnixListener, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "axon.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, path
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestReadLineTakesOneLine: what follows stays where it is, so that the other end
// finds its client not reading.
func TestReadLineTakesOneLine(t *testing.T) {
	l, path := listen(t)
	s, err := DialUnread(soon(t), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	peer, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	if _, err := peer.Write([]byte("{\"ok\":true}\r\nhello\n")); err != nil {
		t.Fatal(err)
	}
	line, err := s.ReadLine(soon(t))
	if ok, n := line.Value.Get("ok"); err != nil || n != 1 || !ok.Bool {
		t.Errorf("got %q, %v", line.Raw, err)
	}
	s.Read()
	if next, _, err := s.Find(soon(t), 0, func(Line) bool { return true }); err != nil || string(next.Raw) != "hello" || next.Err == nil {
		t.Errorf("then %q, %v, %v", next.Raw, next.Err, err)
	}
}

func TestReadLineEndsWithItsContext(t *testing.T) {
	l, path := listen(t)
	s, err := DialUnread(soon(t), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	peer, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ReadLine(ctx); err == nil {
		t.Error("no error")
	}
}
