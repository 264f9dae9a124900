// Command axon-conformance judges an AXON peer over real QUIC. Its commands are
// in conformance/cli.
//
// It is the one program that holds both sides: started with the hidden first
// argument "axon" it is the reference daemon. That is how a run without --target
// gets a daemon to judge, as a child process that it meets like any other peer. With
// "faulty-axon" and the name of a fault it is that daemon's command line with a fault,
// for the self test.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/axonproto/axon/cmd/axon-conformance/internal/faulty"
	"github.com/axonproto/axon/cmd/axon-conformance/internal/nopath"
	"github.com/axonproto/axon/conformance/cli"
	"github.com/axonproto/axon/conformance/mutants"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/features"
	axon "github.com/axonproto/axon/impl/cli"
)

// The hidden first arguments: the daemon, and bench's bare peer.
const (
	bundled = "axon"
	bare    = "bare-peer"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	nopath.Restore()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The first signal ends the work in good order; a second one ends the program.
	context.AfterFunc(ctx, stop)
	if len(args) > 0 && args[0] == bundled {
		return axon.Main(ctx, args[1:], os.Stdin, os.Stdout, os.Stderr)
	}
	if len(args) > 1 && args[0] == faulty.Argument {
		return faulty.Main(ctx, args[1], args[2:], os.Stdin, os.Stdout, os.Stderr)
	}
	if len(args) > 0 && args[0] == bare {
		return cli.BarePeer(ctx, os.Stderr)
	}
	// A run is short and makes much garbage; collecting less often saves a quarter of
	// its time. The daemon above keeps Go's default.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	return cli.Main(ctx, args, os.Stdin, os.Stdout, os.Stderr, environment())
}

func environment() cli.Env {
	env := cli.Env{
		Version:  version(),
		Features: features.FS(),
		Engine: cli.Engine{
			Run: suite.Run, List: suite.List, Coverage: coverage, Mutants: listMutants, SelfTest: selfTest,
			Peer: playPeer, Faults: mutants.Faults,
		},
	}
	if self, err := os.Executable(); err == nil {
		env.Bundled, env.BarePeer = []string{self, bundled}, []string{self, bare}
		if strings.Contains(filepath.ToSlash(self), "/go-build") {
			env.Program = "go run ./cmd/axon-conformance"
		}
	}
	return env
}

// version is the module's version where the program was installed by one.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
