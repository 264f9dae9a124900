// Package cli is the command line of axon.
//
// It imports impl/client, the packages below impl/cli/internal, and of
// impl/internal what a command without a daemon needs. It serves
// AXON-LEARN-001 to -007 and the area AXON-CLI.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/cli/internal/screen"
	"github.com/axonproto/axon/impl/client"
)

// Main runs one command and returns its exit code. args leave out the name of
// the program. A long-running command ends when ctx does, or at SIGINT or
// SIGTERM; a second signal ends the program at once.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := newRoot(args)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	fmt.Fprintf(stderr, "axon: %s\n", errorText(err))
	return exitCode(err)
}

// app is what all commands share.
type app struct {
	args []string // of the command line, without the program's name
	root string   // --state-root, as given
}

func newRoot(args []string) *cobra.Command {
	p := &app{args: args}
	root := &cobra.Command{
		Use:   "axon",
		Short: "Exchange requests and messages with other agents",
		Long: paragraphs(
			"axon lets agents ask each other things. Each agent has a daemon (`axon daemon`), which proves who it is, finds the daemons of other agents and carries what they say. The other commands talk to the daemon on this machine.",
			"There are four kinds of envelopes: a request is answered by a response or an error, and a message is told without an answer. That is the whole protocol.",
			"Start with `axon daemon` in one terminal, then try `axon peers` and `axon examples --run` in another.",
			"Exit codes: 0 success; 1 a local failure (no daemon, a file, a socket); 2 wrong usage, a refusal by the daemon, or an error from the peer; 3 time-out."),
		Example: lines("axon daemon", "axon peers", `axon request alice "What is on the calendar this week?"`,
			`axon serve --command './answer.py'`, "axon examples --run"),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&p.root, "state-root", "", "folder of the daemon's state (default $AXON_ROOT, else ~/.axon)")
	root.AddCommand(
		newDaemon(p), newRequest(p), newNotify(p), newServe(p), newListen(p),
		newPeers(p), newStatus(p), newWhoAmI(p), newIdentity(p), newConnect(p), newForget(p),
		newDoctor(p), newConfig(p), newExamples(p), newVersion(), newCompletion(),
	)
	root.SetHelpCommand(newHelp(root))
	// Help is a flag of every command; its default text has no verb.
	for _, c := range append(root.Commands(), root) {
		c.Flags().BoolP("help", "h", false, "show this help")
	}
	return root
}

func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show the help of a command",
		Long:    paragraphs("Show the help of a command, as `axon COMMAND --help` does.") + arguments("COMMAND", "the command to explain; without it all commands are listed"),
		Example: lines("axon help request"),
		RunE: func(_ *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err != nil || found == nil {
				return unknownCommand(root, args)
			}
			if len(rest) > 0 {
				return unknownCommand(found, rest)
			}
			return found.Help()
		},
	}
}

// stateRoot applies the order flag, environment, home.
func (p *app) stateRoot() (string, error) {
	if p.root != "" {
		return filepath.Abs(p.root)
	}
	return client.DefaultStateRoot()
}

// Help texts are written as paragraphs and lists, and folded here.

const helpWidth = 80

// paragraphs folds each text to the width of the help, with blank lines between.
func paragraphs(texts ...string) string {
	folded := make([]string, len(texts))
	for i, t := range texts {
		folded[i] = screen.Fold(t, "", "", helpWidth)
	}
	return strings.Join(folded, "\n\n")
}

// arguments lists names and what they mean, to follow paragraphs.
func arguments(pairs ...string) string {
	width := 0
	for i := 0; i < len(pairs); i += 2 {
		width = max(width, len(pairs[i]))
	}
	var b strings.Builder
	b.WriteString("\n\nArguments:")
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString("\n" + screen.Fold(pairs[i+1], fmt.Sprintf("  %-*s  ", width, pairs[i]), strings.Repeat(" ", width+4), helpWidth))
	}
	return b.String()
}

// lines are examples, one a line.
func lines(texts ...string) string { return "  " + strings.Join(texts, "\n  ") }
