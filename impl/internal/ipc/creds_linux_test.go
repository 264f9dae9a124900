package ipc

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const otherUsersSocket = "AXON_TEST_OTHER_USERS_SOCKET"

// TestAsOtherUser is no test: it is what TestOtherUserIsRefused runs.
func TestAsOtherUser(t *testing.T) {
	path := os.Getenv(otherUsersSocket)
	if path == "" {
		t.Skip("runs as the child of TestOtherUserIsRefused alone")
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(ceiling))
	_, _ = io.WriteString(conn, `{"cmd":"whoami"}`+"\n")
	got, err := io.ReadAll(conn)
	t.Logf("GOT %s %v", got, err)
}

// TestOtherUserIsRefused opens the mode of the socket to everybody: the check
// of the user is what is left.
func TestOtherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user; run this test as root")
	}
	f := newFixture(t, nil)
	for path, mode := range map[string]os.FileMode{f.server.o.StateRoot: 0o755, f.server.Path(): 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	// The test program lies where only root may look.
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(f.server.o.StateRoot, "program")
	if err := os.WriteFile(copied, program, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "-test.run=^TestAsOtherUser$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{otherUsersSocket + "=" + f.server.Path()}
	const nobody = 65534
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := string(out); strings.Contains(got, string(f.own.ID)) || !strings.Contains(got, `GOT {"ok":false,"error":"invalid_command","message":"this daemon belongs to the user with id 0`) {
		t.Errorf("%s", got)
	}
	f.client().ask(`{"cmd":"status"}`)
}
