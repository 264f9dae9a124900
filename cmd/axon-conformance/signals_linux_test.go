package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/verdict"
)

// underWay starts a run and returns once the first of many checks has ended, with
// the bundled daemon as a descriptor of its process. finish waits for the end of
// the run.
func underWay(t *testing.T, args ...string) (p *program, daemon int, finish func()) {
	t.Helper()
	p = newProgram(t, append([]string{"run", "--repeat", "30", "--verbose", "--requirement", "AXON-DEFERR-001"}, args...)...)
	p.Stderr = nil
	progress, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(progress)
	line, err := reader.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "pass") {
		t.Fatalf("the first line is %q, %v", line, err)
	}
	daemon, err = unix.PidfdOpen(childOf(t, p.Process.Pid), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(daemon) })
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(&p.errOut, reader)
	}()
	finish = sync.OnceFunc(func() {
		<-drained
		_ = p.Wait() // the test looks at the exit code
	})
	t.Cleanup(func() {
		_ = p.Process.Kill()
		finish()
	})
	return p, daemon, finish
}

// childOf finds the one child process of a process.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var children []int
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// PID (NAME) STATE PARENT …, and a name may hold anything.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if parent, err := strconv.Atoi(fields[1]); err == nil && parent == pid {
			child, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil {
				t.Fatal(err)
			}
			children = append(children, child)
		}
	}
	if len(children) != 1 {
		t.Fatalf("%d has the children %v, want one", pid, children)
	}
	return children[0]
}

// ended waits until the process behind a descriptor is no more.
func ended(t *testing.T, descriptor int) {
	t.Helper()
	const ceiling = 10_000
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}, ceiling)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n != 1 {
			t.Fatalf("the bundled daemon lives on (%d, %v)", n, err)
		}
		return
	}
}

func TestSignalReportsWhatHadFinished(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.json")
			p, daemon, finish := underWay(t, "--report", "json="+path)
			if err := p.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			finish()
			ended(t, daemon)
			if code := p.ProcessState.ExitCode(); code != report.ExitIncomplete {
				t.Errorf("exit %d, want %d\n%s", code, report.ExitIncomplete, p.saw())
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r := parse(t, text)
			if r.Complete || r.Conformant || r.Requirements[0].Verdict != verdict.CouldNotRun {
				t.Errorf("got %+v", r)
			}
			if left := p.leftBehind(t); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestKilledRunLeavesNoDaemon: nobody is left who could end it but the kernel.
func TestKilledRunLeavesNoDaemon(t *testing.T) {
	p, daemon, _ := underWay(t)
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ended(t, daemon)
}
