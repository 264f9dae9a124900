package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
)

// programName is how the program calls itself in messages.
const programName = "axon-conformance"

// Env is what main, or a test, gives the command line from outside.
type Env struct {
	// Version of the suite; empty means "devel".
	Version string
	// Program is how this program was started, for commands that reports suggest;
	// empty means "axon-conformance".
	Program string
	// Bundled is the command, and its first arguments, that runs the reference
	// daemon's own command line. Empty: this build has none, and --target is
	// required.
	Bundled []string
	// BarePeer is the command that is the bare peer of bench, see BarePeer.
	BarePeer []string
	// Features are the embedded *.feature files.
	Features fs.FS
	// Engine does the work; its functions may be replaced in tests.
	Engine Engine
	// ConfigDir gives the directory under which the identity is kept; nil means
	// os.UserConfigDir.
	ConfigDir func() (string, error)
	// Getenv looks up an environment variable; nil means os.Getenv.
	Getenv func(string) string
}

// Engine is what the commands call.
type Engine struct {
	// Run judges a target. A *suite.UsageError ends in exit 2, any other error
	// in exit 4; otherwise the report says how to exit.
	Run func(context.Context, suite.Options) (report.Report, error)
	// List tells what a selection would run.
	List func(fs.FS, suite.Selection) ([]suite.Listed, error)
	// Coverage follows the seed's lines to requirements, scenarios and mutants.
	Coverage func(fs.FS) (Coverage, error)
	// Mutants lists the peers that are broken on purpose. Nil: none are shown.
	Mutants func() []Mutant
	// Peer is a peer until its context ends, Faults names the ways in which it can
	// be broken. Nil: not part of this build.
	Peer   func(context.Context, PeerOptions) error
	Faults func() []string
	// SelfTest runs the suite against peers that are broken on purpose. Nil:
	// not part of this build.
	SelfTest func(context.Context, SelfTestOptions) (SelfTestResult, error)
}

// Coverage is the outcome of the coverage command.
type Coverage struct {
	// Text is the table for people.
	Text string
	// Holes are the gaps, each a sentence; none means that all is covered.
	Holes []string
}

// SelfTestOptions says which part of the self test to run.
type SelfTestOptions struct {
	// Features holds the *.feature files.
	Features fs.FS
	// Mutants are names; empty means all.
	Mutants []string
	// Parallel is the number of mutants at once; 0 leaves it to the self test.
	Parallel int
	// Whole runs every check against every mutant, not only those that concern it
	// and a sample of the others.
	Whole bool
	// Verbose asks for a line for each requirement, not only for each mutant.
	Verbose bool
	// Progress, when it is not nil, gets a line for each finished mutant.
	Progress io.Writer
	// Version of the suite.
	Version string
}

// SelfTestResult is the outcome of the self test.
type SelfTestResult struct {
	// Text is the matrix for people.
	Text string
	// Rows is the matrix for programs, to be written as JSON.
	Rows any
	// Survivors are the mutants that were not caught as they should have been,
	// and the allowed oddities that were not passed, each a sentence.
	Survivors []string
}

// failure is an error with the exit code that it ends in.
type failure struct {
	code int
	err  error
	// usage: the command line itself was wrong, so the help is pointed out.
	usage bool
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func usagef(format string, args ...any) error {
	return &failure{code: report.ExitUsage, err: fmt.Errorf(format, args...), usage: true}
}

// exit ends a command with a code after it has said everything itself.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// program carries what the commands share.
type program struct {
	env      Env
	out, err io.Writer
	in       io.Reader
}

// Main runs the command that args (without the program's name) ask for and
// returns the exit code: 0 for success, 1 for a broken MUST (or a hole, or a
// survivor), 2 for usage, 3 for an incomplete run, 4 for a fault of the suite.
// When ctx ends, a run stops and reports what it has; no child is left behind.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer, env Env) int {
	if env.Version == "" {
		env.Version = "devel"
	}
	if env.ConfigDir == nil {
		env.ConfigDir = os.UserConfigDir
	}
	if env.Getenv == nil {
		env.Getenv = os.Getenv
	}
	p := &program{env: env, in: in, out: out, err: errOut}
	root := p.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	called, err := root.ExecuteContextC(ctx)
	return p.end(called, err)
}

// end says what went wrong and picks the exit code.
func (p *program) end(called *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	if code, ok := errors.AsType[exit](err); ok {
		return int(code)
	}
	f, known := errors.AsType[*failure](err)
	if !known {
		// What cobra itself refuses is about the command line.
		f = &failure{code: report.ExitUsage, err: err, usage: true}
	}
	fmt.Fprintf(p.err, "%s: %s\n", programName, report.PrintableLines(strings.TrimSpace(f.Error())))
	if f.usage && called != nil {
		fmt.Fprintf(p.err, "see '%s --help'\n", called.CommandPath())
	}
	return f.code
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   programName,
		Short: "Judge an AXON peer over real QUIC",
		Long: `axon-conformance checks whether an AXON peer keeps to AXON Message Types.
It meets the peer over QUIC like any stranger, does what the protocol allows and
much that it forbids, and says for each numbered requirement whether it holds.

Start with "axon-conformance run": without a --target it judges the daemon that
comes with it.

Exit codes of run:
  0  conformant: every selected check ran and no MUST is broken
  1  a MUST is broken (with --strict: or a SHOULD)
  2  the command line, the selection or a feature file is wrong
  3  incomplete: something could not run, and nothing failed
  4  the suite itself is at fault`,
		Example: `  axon-conformance run
  axon-conformance identity
  axon-conformance run --target 192.0.2.7:7100 --report json=report.json`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usagef("there is no command %q%s", args[0], suggest(args[0], commandNames(c)))
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return usagef("no command is given; the first one to try is '%s run'", programName)
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(p.runCommand(), p.listCommand(), p.explainCommand(), p.identityCommand(), p.coverageCommand(), p.lintCommand(), p.newCommand(),
		p.selfTestCommand(), p.benchCommand(), p.fuzzCommand(), p.peerCommand(), p.sendCommand(), p.versionCommand(), p.completionCommand())
	root.AddCommand(p.reportCommands()...)
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Explain a command",
		Long:  "Explain a command: the same text as COMMAND --help.",
		Example: `  axon-conformance help run
  axon-conformance help identity`,
		RunE: func(_ *cobra.Command, args []string) error {
			at := root
			for _, name := range args {
				subs := at.Commands()
				found := slices.IndexFunc(subs, func(sub *cobra.Command) bool { return sub.Name() == name })
				if found < 0 {
					return usagef("there is no command %q%s", strings.Join(args, " "), suggest(name, commandNames(at)))
				}
				at = subs[found]
			}
			return at.Help()
		},
	})
	return root
}

func commandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	slices.Sort(names)
	return names
}

// noArguments refuses arguments that a command would ignore.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, but %q is given; options start with --", c.CommandPath(), args[0])
	}
	return nil
}
