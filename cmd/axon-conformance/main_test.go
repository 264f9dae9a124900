package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/axonproto/axon/cmd/axon-conformance/internal/nopath"
	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/schemas"
)

// asProgram makes the test binary be the program itself.
const asProgram = "CONFORMANCE_AS_PROGRAM"

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == playArgument {
		os.Exit(playDriver(os.Args[2], os.Args[3]))
	}
	// A run starts this binary again with the hidden first argument.
	if len(os.Args) > 1 && os.Args[1] == bundled || os.Getenv(asProgram) != "" {
		os.Exit(run(os.Args[1:]))
	}
	nopath.Restore()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		removeMinimalPeer()
		os.Exit(code)
	}))
}

// program is a call of axon-conformance in a process of its own.
type program struct {
	*exec.Cmd
	dir         string // configuration and temporary files of the call
	out, errOut bytes.Buffer
}

func newProgram(t *testing.T, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{Cmd: exec.CommandContext(t.Context(), self, args...), dir: t.TempDir()}
	p.Env = append(os.Environ(), asProgram+"=1", "GORACE=atexit_sleep_ms=0", "COLUMNS=200",
		"HOME="+p.dir, "XDG_CONFIG_HOME="+filepath.Join(p.dir, "config"), "AppData="+p.dir, "TMPDIR="+p.dir, "TMP="+p.dir)
	p.Stdout, p.Stderr = &p.out, &p.errOut
	return p
}

// code waits for the end of the call.
func (p *program) code(t *testing.T) int {
	t.Helper()
	err := p.Run()
	if left, ok := errors.AsType[*exec.ExitError](err); ok {
		return left.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// saw describes the call for a failed test.
func (p *program) saw() string {
	return fmt.Sprintf("standard output\n%s\nstandard error\n%s", p.out.String(), p.errOut.String())
}

// leftBehind are the directories of bundled daemons that are still there.
func (p *program) leftBehind(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(p.dir, "axon-[0-9]*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func parse(t *testing.T, text []byte) report.Report {
	t.Helper()
	if err := schemas.MustCompile("report/report").Validate(text); err != nil {
		t.Errorf("the report does not keep to its schema: %v", err)
	}
	r, err := report.ReadJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunOfTheBundledDaemon(t *testing.T) {
	p := newProgram(t, "run", "--requirement", "AXON-DEFERR-001,AXON-TLS-001,AXON-KIND-001", "--report", "json=-")
	if code := p.code(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.saw())
	}
	r := parse(t, p.out.Bytes())
	if !r.Conformant || !r.Complete || r.Target.KeySource != report.KeyBundled || r.Summary.Must.Pass != 3 {
		t.Errorf("got %+v", r)
	}
	if !strings.Contains(p.errOut.String(), "CONFORMANT: ") {
		t.Errorf("no summary: %s", p.saw())
	}
	if left := p.leftBehind(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "config", "axon-conformance")); err == nil {
		t.Error("a run of the bundled daemon made an identity of the user's")
	}
}

// TestRerunCommand takes the command from a report and runs it.
func TestRerunCommand(t *testing.T) {
	p := newProgram(t, "run", "--requirement", "AXON-DEFERR-003", "--report", "json=-")
	if code := p.code(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.saw())
	}
	first := parse(t, p.out.Bytes()).Requirements[0].Scenarios[0]
	// The program of a test lies where that of `go run` does.
	arguments, found := strings.CutPrefix(first.Rerun, "go run ./cmd/axon-conformance ")
	if !found {
		t.Fatalf("the rerun command is %q", first.Rerun)
	}
	again := newProgram(t, append(strings.Fields(arguments), "--report", "json=-")...)
	if code := again.code(t); code != 0 {
		t.Fatalf("%q: exit %d\n%s", first.Rerun, code, again.saw())
	}
	for _, q := range parse(t, again.out.Bytes()).Requirements {
		if len(q.Scenarios) != 1 || q.Scenarios[0].Location != first.Location {
			t.Errorf("%q ran %+v", first.Rerun, q.Scenarios)
		}
	}
}

func TestListCoversWhatRuns(t *testing.T) {
	p := newProgram(t, "list", "--json")
	if code := p.code(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.saw())
	}
	var listed []struct{ Location string }
	if err := json.Unmarshal(p.out.Bytes(), &listed); err != nil || len(listed) < 50 {
		t.Errorf("%d scenarios, %v", len(listed), err)
	}
}

func TestRepeatSaysWhetherAllWereTheSame(t *testing.T) {
	p := newProgram(t, "run", "--requirement", "AXON-DEFERR-003", "--repeat", "3")
	if code := p.code(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.saw())
	}
	if !strings.Contains(p.out.String(), "identical") {
		t.Errorf("nothing about the repetitions: %s", p.saw())
	}
}

// runAgainst judges an address behind which there is no AXON peer.
func runAgainst(t *testing.T, address string) (*program, report.Report) {
	t.Helper()
	// The ceiling is what the suite has to wait for: nothing ever answers.
	p := newProgram(t, "run", "--target", address, "--timeout", "500ms", "--report", "json=-")
	started := time.Now()
	code := p.code(t)
	if code != report.ExitIncomplete {
		t.Errorf("exit %d, want %d\n%s", code, report.ExitIncomplete, p.saw())
	}
	if took := time.Since(started); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	r := parse(t, p.out.Bytes())
	if r.Conformant || r.Complete {
		t.Errorf("conformant %t, complete %t", r.Conformant, r.Complete)
	}
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			if s.Verdict == verdict.Pass || s.Verdict == verdict.Observed || q.Verdict == verdict.Pass {
				t.Errorf("%s %s: %s", q.ID, s.Location, s.Verdict)
			}
		}
	}
	return p, r
}

// TestNoOtherProgramIsStarted: a library asks a go command for its tools, unless
// it is kept from finding one.
func TestNoOtherProgramIsStarted(t *testing.T) {
	p := newProgram(t, "run", "--requirement", "AXON-DEFERR-001", "--quiet")
	tools := t.TempDir()
	marker := filepath.Join(tools, "called")
	script := "#!/bin/sh\necho called >" + marker + "\n"
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p.Env = append(p.Env, "PATH="+tools)
	if code := p.code(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.saw())
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a go command was started")
	}
}
