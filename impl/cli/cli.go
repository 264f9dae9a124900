// Package cli is the command line of axon.
//
// It imports impl/internal/daemon and what that rests on. It serves
// AXON-LEARN-001, -002 and -004.
package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit codes of every command.
const (
	ExitOK      = 0
	ExitFailed  = 1 // a local failure: no daemon, a file, a socket
	ExitUsage   = 2 // wrong usage, a refusal by the daemon, or a remote error
	ExitTimeout = 3
)

// Main runs one command and returns its exit code. args leave out the name of
// the program. A long-running command ends when ctx does.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	fmt.Fprintf(stderr, "axon: %v\n", err)
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "axon",
		Short: "Exchange requests and messages with other agents",
		Long: "axon runs the daemon that speaks the AXON protocol with other agents' daemons,\n" +
			"and talks to it. Start with `axon daemon`.",
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see `%s --help`", err, cmd.CommandPath())
	})
	root.AddCommand(newDaemon(), newVersion())
	return root
}
