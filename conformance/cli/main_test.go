package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/axonproto/axon/harness/credential"
)

// fakeDaemonArgument makes the test binary play the bundled daemon.
const fakeDaemonArgument = "play-the-daemon"

// barePeerArgument makes it play the bare peer of bench.
const barePeerArgument = "play-the-bare-peer"

// checkedMain looks for goroutines that are left behind.
type checkedMain struct{ m *testing.M }

func (c checkedMain) Run() int {
	code := c.m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == fakeDaemonArgument {
		os.Exit(playDaemon(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == barePeerArgument {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := BarePeer(ctx, os.Stderr)
		stop()
		os.Exit(code)
	}
	testscript.Main(checkedMain{m}, map[string]func(){
		programName: func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			code := Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, scriptEnv())
			stop()
			os.Exit(code)
		},
	})
}

// scriptEnv is the environment of a program in a script: everything as in the
// real one, but for an engine whose outcome the script chooses.
func scriptEnv() Env {
	env := Env{
		Version:  "1.2.3",
		Features: fstest.MapFS{"kinds.feature": {Data: []byte(kindsFeature)}},
		Engine:   fakeEngine(os.Getenv("OUTCOME")),
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	env.BarePeer = []string{self, barePeerArgument}
	if os.Getenv("BUNDLED") != "none" {
		env.Bundled = []string{self, fakeDaemonArgument, os.Getenv("BUNDLED")}
	}
	return env
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			// The configuration directory of each platform, inside the script's own.
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("COLUMNS", "500")
			// Under the race detector each program would wait a second at its end.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("AppData", filepath.Join(e.WorkDir, "config"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// exits CODE PROGRAM ARG... runs a program and demands its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		left, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = left.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// playDaemon is the bundled daemon as far as the command line can tell. The
// first argument says how it goes wrong.
func playDaemon(args []string) int {
	how, root := args[0], ""
	for i, a := range args {
		if a == "--state-root" {
			root = args[i+1]
		}
	}
	if os.Getenv("HOME") != root || os.Getenv("AXON_ROOT") != root {
		fmt.Fprintf(os.Stderr, "HOME is %s and AXON_ROOT is %s\n", os.Getenv("HOME"), os.Getenv("AXON_ROOT"))
		return 1
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	if how == "dies" {
		fmt.Fprintln(os.Stderr, `{"level":"ERROR","msg":"the port is taken"}`)
		return 7
	}
	id, err := credential.New()
	if err != nil {
		panic(err)
	}
	agent := id.AgentID()
	if how == "lies" {
		agent = "ed25519.00000000000000000000000000000000"
	}
	if err := os.WriteFile(filepath.Join(root, "identity.pub"), []byte(id.PublicBase64()+"\n"), 0o600); err != nil {
		panic(err)
	}
	for i := range 100 {
		fmt.Fprintf(os.Stderr, "line %d\n", i)
	}
	fmt.Fprintf(os.Stderr, `{"level":"INFO","msg":"ready","address":"127.0.0.1:4242","agent_id":%q}`+"\n", agent)
	switch how {
	case "stubborn":
		time.Sleep(time.Hour) // ended by the one who started it
	case "crashes":
		return 3
	}
	<-terminated
	return 0
}

// kindsFeature is all that the fake suite has to show.
const kindsFeature = `Feature: kinds
  @AXON-KIND-002
  Scenario: A request is answered on its own stream
    Given a connection to the target
    When the probe sends a request
    Then its own stream carries exactly one reply, a response or an error
`
