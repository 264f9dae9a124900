package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/verdict"
)

// The examples under conformance/examples are run by the suite like anybody's
// implementation, and pass all that they claim: so that what docs/driver.md says is
// known to work, and two implementations are always under test.

const examples = "../../conformance/examples"

// minimalPeerDir holds the example peer, once it is built.
var minimalPeerDir string

// minimalPeer builds the example peer, once.
var minimalPeer = sync.OnceValues(func() (name string, err error) {
	if minimalPeerDir, err = os.MkdirTemp("", "example-"); err != nil {
		return "", err
	}
	name = filepath.Join(minimalPeerDir, "minimal-peer")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	build := exec.Command("go", "build", "-o", name, "./"+filepath.ToSlash(filepath.Join(examples, "minimal-peer")))
	build.Stderr = os.Stderr
	return name, build.Run()
})

func removeMinimalPeer() {
	if minimalPeerDir != "" {
		_ = os.RemoveAll(minimalPeerDir)
	}
}

func buildMinimalPeer(t *testing.T) string {
	t.Helper()
	name, err := minimalPeer()
	if err != nil {
		t.Fatalf("build the example: %v", err)
	}
	return name
}

// background starts a program that runs until the test ends, and waits until its
// standard error has a line that matches; the groups are returned.
func background(t *testing.T, ready string, command ...string) []string {
	t.Helper()
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	pipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan []string, 1)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(found)
		lines := bufio.NewScanner(pipe)
		for expr, done := regexp.MustCompile(ready), false; lines.Scan(); {
			if match := expr.FindStringSubmatch(lines.Text()); match != nil && !done {
				done = true
				found <- match
			}
		}
	})
	t.Cleanup(func() {
		_ = c.Process.Kill()
		reading.Wait()
		_ = c.Wait()
	})
	match, ok := <-found
	if !ok {
		t.Fatalf("%q ended before it was ready", command)
	}
	return match
}

// passesAllThatItClaims demands a complete and conformant report, with nothing left
// out that a driver can serve.
func passesAllThatItClaims(t *testing.T, p *program, name string) {
	t.Helper()
	if code := p.code(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.saw())
	}
	r := parse(t, p.out.Bytes())
	if r.Target.Name != name || r.Summary.Must.Pass < 70 {
		t.Errorf("target %+v, summary %+v", r.Target, r.Summary)
	}
	if !slices.Equal(r.Target.Capabilities, []string{"wire", "quiet", "drive", "handle", "observe"}) {
		t.Errorf("it offers %q", r.Target.Capabilities)
	}
	if strings.Contains(strings.Join(r.Notes, "\n"), "driver") {
		t.Errorf("notes %q", r.Notes)
	}
	for _, id := range []string{"AXON-KIND-001", "AXON-DEFERR-007", "AXON-FWD-003", "AXON-PAY-001", "AXON-TLS-008"} {
		i := slices.IndexFunc(r.Requirements, func(q report.Requirement) bool { return q.ID == id })
		if i < 0 || r.Requirements[i].Verdict != verdict.Pass {
			t.Errorf("%s did not pass", id)
		}
	}
}

func TestExampleMinimalPeer(t *testing.T) {
	p := newProgram(t, "run", "--driver", "'"+buildMinimalPeer(t)+"'", "--report", "json=-")
	passesAllThatItClaims(t, p, "minimal-peer")
}

// TestExampleAttached: the same peer, with a driver that runs already.
func TestExampleAttached(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "driver")
	background(t, `listens at`, buildMinimalPeer(t), "--driver-listen", socket)
	for range 2 { // it is still there for the next run
		p := newProgram(t, "run", "--driver-connect", "unix:"+socket, "--requirement", "AXON-KIND-001,AXON-DEFERR-007", "--report", "json=-")
		if code := p.code(t); code != 0 {
			t.Fatalf("exit %d\n%s", code, p.saw())
		}
	}
}

func TestExamplePythonDriver(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	match := background(t, `"msg":"ready","address":"([^"]+)"`, self, bundled, "daemon", "--state-root", root,
		"--port", "0", "--listen", "127.0.0.1", "--disable-mdns", "--log-format", "json")
	driver := "'" + python + "' " + filepath.ToSlash(filepath.Join(examples, "python-driver", "driver.py")) +
		" --socket '" + filepath.Join(root, "axon.sock") + "' --address " + match[1]
	p := newProgram(t, "run", "--driver", driver, "--report", "json=-")
	passesAllThatItClaims(t, p, "axon")
}
