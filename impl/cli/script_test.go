package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"axon":    func() { os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"handler": handler,
	})
}

// leakChecked fails when goroutines are left behind.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	// The runtime's signal loop starts with the first Notify and never ends.
	err := goleak.Find(goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreAnyFunction("os/signal.loop"))
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// handler is a program for serve --command; its argument says what it does.
func handler() {
	in, _ := io.ReadAll(os.Stdin)
	switch os.Args[1] {
	case "answer":
		var e struct{ From, Kind string }
		if json.Unmarshal(in, &e) != nil || e.From != os.Getenv("AXON_FROM") || os.Getenv("AXON_REQUEST_ID") == "" {
			fmt.Fprintln(os.Stderr, "the envelope and the environment do not fit")
			os.Exit(1)
		}
		fmt.Printf("{\n  \"answer\": %q,\n  \"words\": %q\n}\n", e.Kind+" from "+e.From, strings.Join(os.Args[2:], "|"))
	case "decline":
		fmt.Fprintln(os.Stderr, "no\x1b[2Jthanks")
		os.Exit(3)
	case "array":
		fmt.Println("[]")
	case "flood":
		fmt.Printf("{\"a\":%q}", strings.Repeat("x", 70000))
	case "almost":
		fmt.Printf("{\"a\":%q}", strings.Repeat("x", 65500))
	case "hang":
		fmt.Fprintln(os.Stderr, "hanging")
		time.Sleep(time.Minute) // bounded, should the test itself be killed
	}
}

// ceiling ends a script that hangs; no passing one waits for it.
const ceiling = 30 * time.Second

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "scripts"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("USERPROFILE", env.WorkDir)
			env.Setenv("AXON_ROOT", "")
			// Under the race detector each program would rest for a second at
			// its end.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Values[jobsKey{}] = map[string]*job{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "agents": scriptAgents, "background": scriptBackground, "begin": scriptBegin,
			"awaits": scriptAwaits, "interrupt": scriptInterrupt, "finished": scriptFinished, "isjson": scriptIsJSON,
			"takeaddress": scriptTakeAddress, "taketoken": scriptTakeToken, "takeid": scriptTakeID, "glob": scriptGlob, "kill9": scriptKill,
		},
	})
}

// exits CODE PROGRAM ARGS...: the program ends with the code.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	checkExit(ts, args[0], err)
}

func checkExit(ts *testscript.TestScript, want string, err error) {
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// isjson FILE MEMBER...: FILE holds one line, a JSON object with these members.
func scriptIsJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: isjson FILE MEMBER...")
	}
	text := ts.ReadFile(args[0])
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil || strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("%s is not one line of JSON (%v): %s", args[0], err, text)
	}
	for _, name := range args[1:] {
		if _, ok := members[name]; !ok {
			ts.Fatalf("%s has no member %s: %s", args[0], name, text)
		}
	}
}

type jobsKey struct{}

// job is a program that runs in the background of a script.
type job struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error

	mu      sync.Mutex // guards what follows
	out     map[string]*bytes.Buffer
	changed chan struct{} // closed and replaced at each change
}

func jobs(ts *testscript.TestScript) map[string]*job { return ts.Value(jobsKey{}).(map[string]*job) }

func find(ts *testscript.TestScript, name string) *job {
	j := jobs(ts)[name]
	if j == nil {
		ts.Fatalf("nothing runs as %s", name)
	}
	return j
}

// background NAME PATTERN PROGRAM ARGS...: starts it and goes on once a line of
// its output matches.
func scriptBackground(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: background NAME PATTERN PROGRAM ARGS...")
	}
	start(ts, args[0], args[2:])
	await(ts, args[0], args[1])
}

// begin NAME PROGRAM ARGS...: starts it and goes on at once.
func scriptBegin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: begin NAME PROGRAM ARGS...")
	}
	start(ts, args[0], args[1:])
}

func start(ts *testscript.TestScript, name string, args []string) {
	// The programs of this test are found by the script's PATH.
	path := args[0]
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if found, err := exec.LookPath(filepath.Join(dir, args[0])); err == nil {
			path = found
			break
		}
	}
	j := &job{
		cmd: exec.Command(path, args[1:]...), ended: make(chan struct{}),
		out: map[string]*bytes.Buffer{"out": {}, "err": {}}, changed: make(chan struct{}),
	}
	j.cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "USERPROFILE", "AXON_ROOT", "TMPDIR", "SystemRoot", "GORACE"} {
		j.cmd.Env = append(j.cmd.Env, name+"="+ts.Getenv(name))
	}
	var readers sync.WaitGroup
	for which, pipe := range map[string]func() (io.ReadCloser, error){"out": j.cmd.StdoutPipe, "err": j.cmd.StderrPipe} {
		r, err := pipe()
		ts.Check(err)
		readers.Go(func() {
			for in := bufio.NewReader(r); ; {
				line, err := in.ReadBytes('\n')
				j.mu.Lock()
				j.out[which].Write(line)
				close(j.changed)
				j.changed = make(chan struct{})
				j.mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	ts.Check(j.cmd.Start())
	jobs(ts)[name] = j
	go func() {
		readers.Wait()
		j.err = j.cmd.Wait()
		close(j.ended)
	}()
	ts.Defer(func() {
		_ = j.cmd.Process.Kill()
		<-j.ended
	})
}

// awaits NAME PATTERN: goes on once a line of the output matches.
func scriptAwaits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: awaits NAME PATTERN")
	}
	await(ts, args[0], args[1])
}

func await(ts *testscript.TestScript, name, pattern string) string {
	j := find(ts, name)
	re, err := regexp.Compile(pattern)
	ts.Check(err)
	late := time.NewTimer(ceiling)
	defer late.Stop()
	for ended := false; ; {
		j.mu.Lock()
		text := j.out["out"].String() + j.out["err"].String()
		changed := j.changed
		j.mu.Unlock()
		for line := range strings.Lines(text) {
			if re.MatchString(line) {
				return line
			}
		}
		if ended {
			ts.Fatalf("%s ended (%v) without %q:\n%s", name, j.err, pattern, text)
		}
		select {
		case <-changed:
		case <-j.ended:
			ended = true
		case <-late.C:
			ts.Fatalf("%s did not print %q in time:\n%s", name, pattern, text)
		}
	}
}

// interrupt NAME [CODE]: interrupts it, checks the exit code (default 0), and leaves
// its output in the files NAME.out and NAME.err.
func scriptInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	j := find(ts, args[0])
	ts.Check(j.cmd.Process.Signal(os.Interrupt))
	scriptFinished(ts, neg, args)
}

// finished NAME [CODE]: the same, without interrupting it.
func scriptFinished(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: interrupt or finished NAME [CODE]")
	}
	j := find(ts, args[0])
	delete(jobs(ts), args[0])
	select {
	case <-j.ended:
	case <-time.After(ceiling):
		ts.Fatalf("%s does not end", args[0])
	}
	for which, text := range j.out {
		ts.Check(os.WriteFile(ts.MkAbs(args[0]+"."+which), text.Bytes(), 0o600))
	}
	want := "0"
	if len(args) == 2 {
		want = args[1]
	}
	checkExit(ts, want, j.err)
}
