package cli

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/credential"
)

// daemonOf starts the fake daemon with the given fault.
func daemonOf(t *testing.T, how string) (readiness, *child) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{env: Env{Bundled: []string{self, fakeDaemonArgument, how}}}
	ready, c, err := p.startBundled(t.Context(), t.TempDir(), id, "", whereBundled(&suite.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return ready, c
}

func TestChildStopsWhenAsked(t *testing.T) {
	ready, c := daemonOf(t, "")
	if ready.Address != "127.0.0.1:4242" || credential.AgentID(ready.key) != ready.AgentID {
		t.Errorf("got %+v", ready)
	}
	if err := c.alive(); err != nil {
		t.Errorf("it lives, but %v", err)
	}
	c.stop(time.Minute)
	if err := c.alive(); err == nil || !strings.Contains(err.Error(), "exit status 0") {
		t.Errorf("got %v", err)
	}
	c.stop(time.Minute) // harmless
}

func TestChildThatDoesNotStopIsKilled(t *testing.T) {
	_, c := daemonOf(t, "stubborn")
	c.stop(time.Millisecond)
	if err := c.alive(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v", err)
	}
}

func TestChildKeepsItsLastWords(t *testing.T) {
	_, c := daemonOf(t, "crashes")
	<-c.ended
	words := c.alive().Error()
	if !strings.Contains(words, "exit status 3") || !strings.Contains(words, "line 99") || strings.Contains(words, "line 40\n") {
		t.Errorf("got %s", words)
	}
}

func TestChildLogIsBounded(t *testing.T) {
	c := &child{ready: make(chan readiness, 1)}
	long := strings.Repeat("x", 10*longestLine)
	c.readLog(strings.NewReader(long + "\nshort\n" + `{"msg":"ready","address":"h:1"}` + "\nlast"))
	if len(c.lines) != 4 || len(c.lines[0]) > longestLine || c.lines[1] != "short" || c.lines[3] != "last" {
		t.Errorf("got %d lines, the first of %d bytes", len(c.lines), len(c.lines[0]))
	}
	if r := <-c.ready; r.Address != "h:1" {
		t.Errorf("got %+v", r)
	}
}

func TestBundledThatIsNeverReady(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &program{env: Env{Bundled: []string{self, fakeDaemonArgument, "stubborn"}}}
	_, _, err = p.prepareBundled(ctx, &runFlags{}, &suite.Options{})
	// The daemon may have been quicker than the cancelled wait.
	if f, ok := err.(*failure); ok && f.code != report.ExitIncomplete {
		t.Errorf("got %v with code %d", err, f.code)
	}
	if list := names(t, os.Getenv("TMPDIR")); err != nil && len(list) != 0 {
		t.Errorf("left behind: %v", list)
	}
}

func TestChildEnvironment(t *testing.T) {
	t.Setenv("AXON_TOKEN", "secret")
	t.Setenv("XDG_CONFIG_HOME", "/home/someone")
	t.Setenv("KEPT", "yes")
	list := strings.Join(childEnvironment("/away"), "\n")
	for _, want := range []string{"HOME=/away", "AXON_ROOT=/away", "KEPT=yes"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, bad := range []string{"AXON_TOKEN", "XDG_CONFIG_HOME"} {
		if strings.Contains(list, bad) {
			t.Errorf("%s is passed on", bad)
		}
	}
}
