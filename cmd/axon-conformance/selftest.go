package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/axonproto/axon/cmd/axon-conformance/internal/faulty"
	"github.com/axonproto/axon/conformance/cli"
	"github.com/axonproto/axon/conformance/mutants"
	"github.com/axonproto/axon/conformance/suite"
)

// selfTest lets the suite judge the broken and the odd peers.
func selfTest(ctx context.Context, o cli.SelfTestOptions) (cli.SelfTestResult, error) {
	// Hundreds of runs in one process leave much behind; memory is cheaper here
	// than time.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	// A tenth of the time goes into the key exchange that withstands quantum computers,
	// of which no peer here has anything.
	was := os.Getenv("GODEBUG")
	defer os.Setenv("GODEBUG", was)                                  //nolint:errcheck // it cannot fail for this name
	os.Setenv("GODEBUG", strings.TrimPrefix(was+",tlsmlkem=0", ",")) //nolint:errcheck // nor here
	options := mutants.Options{Features: o.Features, Names: o.Mutants, Whole: o.Whole, Parallel: o.Parallel, Version: o.Version}
	if self, err := os.Executable(); err == nil {
		options.CommandLine = func(fault string) []string { return []string{self, faulty.Argument, fault} }
	}
	if o.Progress != nil {
		options.Progress = func(done, total int, r mutants.Row) {
			fmt.Fprintf(o.Progress, "%d/%d %s %s\n", done, total, r.Name, r.Outcome())
		}
	}
	m, err := mutants.SelfTest(ctx, options)
	if err != nil {
		return cli.SelfTestResult{}, asUsage(err)
	}
	return cli.SelfTestResult{Text: m.Text(o.Verbose), Rows: m.Rows, Survivors: m.Problems()}, nil
}

// asUsage marks a name that no peer has as a mistake of the caller.
func asUsage(err error) error {
	if mutants.IsUnknownName(err) {
		return &suite.UsageError{Problem: err.Error()}
	}
	return err
}
