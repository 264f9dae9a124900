package launch

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/lan/netns"
)

// how makes the test binary be a program in place of a daemon.
const how = "LAUNCH_TEST_HOW"

func TestMain(m *testing.M) {
	switch os.Getenv(how) {
	case "":
		goleak.VerifyTestMain(m)
	case "fails":
		os.Stderr.WriteString("the port is taken\n")
		os.Exit(3)
	case "talks":
		for range 3 * keptLines {
			os.Stdout.WriteString("a line\n")
		}
		os.Stdout.WriteString(strings.Repeat("x", 3*longestLine) + "\nthe last line\n")
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, os.Interrupt)
		<-asked
	}
}

const ceiling = 20 * time.Second

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), ceiling)
	t.Cleanup(cancel)
	return ctx
}

func self(t *testing.T, what string) (command, environment []string) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path}, append(os.Environ(), how+"="+what)
}

func TestLogIsBoundedAndTheProcessEnds(t *testing.T) {
	for _, kill := range []bool{true, false} {
		p, err := startProcess(self(t, "talks"))
		if err != nil {
			t.Fatal(err)
		}
		for ctx := within(t); !strings.HasSuffix(strings.Join(p.log(), "\n"), "the last line"); {
			select {
			case <-ctx.Done():
				t.Fatal("its last line did not come")
			case <-time.After(time.Millisecond):
			}
		}
		if n := len(p.log()); n > keptLines {
			t.Errorf("%d lines are kept", n)
		}
		if err := p.alive(); err != nil {
			t.Error(err)
		}
		if err := p.end(within(t), kill); err != nil {
			t.Error(err)
		}
		if err := p.alive(); err == nil || !strings.Contains(err.Error(), "the last line") {
			t.Errorf("after its end: %v", err)
		}
	}
}

func TestProgramThatCannotBeStarted(t *testing.T) {
	if _, err := startProcess([]string{"/nowhere/axon"}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := New(nil); err == nil {
		t.Error("no command is taken for one")
	}
	p, err := New([]string{"axon"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Launch(t.Context(), control.Launch{}); err == nil {
		t.Error("a daemon was started nowhere")
	}
}

func TestDaemonThatDoesNotStartLeavesItsLastWords(t *testing.T) {
	machine, err := netns.New()
	if err != nil {
		if os.Getenv("AXON_REQUIRE_NETNS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer machine.Close()
	t.Setenv("TMPDIR", t.TempDir())
	command, _ := self(t, "")
	p, err := New(append([]string{"env", how + "=fails"}, command...))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Launch(within(t), control.Launch{Machine: machine, Port: 7100})
	if err == nil || !strings.Contains(err.Error(), "the port is taken") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
