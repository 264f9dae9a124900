//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestQuickStart runs exactly the lines of docs/quick-start.md, which are those of
// the README. Where a person
// would look at the screen before going on, it waits for the daemon's word.
func TestQuickStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build with")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "quick-start.md"))
	if err != nil {
		t.Fatal(err)
	}
	first, second := shellLines(t, string(text), "## Terminal 1"), shellLines(t, string(text), "## Terminal 2")
	if len(first)+len(second) != 5 {
		t.Errorf("%d commands, want five", len(first)+len(second))
	}
	want := block(t, string(text), "## Terminal 2", "json")
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if both := "# terminal 1\n" + strings.Join(first, "\n") + "\n\n# terminal 2\n" + strings.Join(second, "\n") + "\n"; !strings.Contains(string(readme), both) {
		t.Errorf("the README has other lines than the quick start:\n%s", both)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := shell{t: t, ctx: ctx, dir: t.TempDir(), ready: notifications(t)}
	// The clone, of which the lines need these parts.
	for _, name := range []string{"go.mod", "go.sum", "cmd", "impl"} {
		from, err := filepath.Abs(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(s.dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "NOTIFY_SOCKET=" + s.ready.LocalAddr().String()}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		s.env = append(s.env, name+"="+strings.TrimSpace(string(value)))
	}

	for i, line := range first {
		switch background, ok := strings.CutSuffix(line, " &"); {
		case ok:
			s.background(background, "")
		case i == len(first)-1:
			s.background(line, "answering requests")
		default:
			s.foreground(line)
		}
	}
	var got string
	for _, line := range second {
		got = s.foreground(line)
	}
	if strings.TrimSpace(got) != want {
		t.Errorf("the quick start ends with %q, the page promises %q", got, want)
	}
}

// block returns the first fenced block of a language after a heading.
func block(t *testing.T, text, heading, language string) string {
	t.Helper()
	_, after, ok := strings.Cut(text, heading+"\n")
	_, after, found := strings.Cut(after, "```"+language+"\n")
	inside, _, closed := strings.Cut(after, "\n```")
	if !ok || !found || !closed {
		t.Fatalf("no %s block after %q", language, heading)
	}
	return inside
}

func shellLines(t *testing.T, text, heading string) []string {
	t.Helper()
	return strings.Split(block(t, text, heading, "sh"), "\n")
}

// notifications is where daemons say that they are ready.
func notifications(t *testing.T) *net.UnixConn {
	t.Helper()
	dir, err := os.MkdirTemp("", "axon-") //nolint:usetesting // the path of t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

type shell struct {
	t     *testing.T
	ctx   context.Context
	dir   string
	env   []string
	ready *net.UnixConn
}

func (s *shell) command(line string) *exec.Cmd {
	cmd := exec.CommandContext(s.ctx, "sh", "-c", "exec "+line)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

func (s *shell) foreground(line string) string {
	s.t.Helper()
	cmd := s.command(line)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", line, err, errs.String())
	}
	return string(out)
}

// background starts a daemon and waits until it is ready and has said word.
func (s *shell) background(line, word string) {
	s.t.Helper()
	cmd := s.command(line)
	cmd.WaitDelay = 10 * time.Second
	log, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	said, read := make(chan struct{}), make(chan struct{})
	var once sync.Once
	go func() {
		defer close(read)
		for in := bufio.NewScanner(log); in.Scan(); {
			if word != "" && strings.Contains(in.Text(), word) {
				once.Do(func() { close(said) })
			}
		}
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-read
		_ = cmd.Wait()
	})
	deadline, _ := s.ctx.Deadline()
	_ = s.ready.SetReadDeadline(deadline)
	buffer := make([]byte, 100)
	if n, err := s.ready.Read(buffer); err != nil || string(buffer[:n]) != "READY=1" {
		s.t.Fatalf("%s: %q, %v", line, buffer[:n], err)
	}
	if word == "" {
		return
	}
	select {
	case <-said:
	case <-read:
		s.t.Fatalf("%s: ended without %q", line, word)
	case <-s.ctx.Done():
		s.t.Fatalf("%s: did not say %q in time", line, word)
	}
}
