package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
)

// Bounds of the numbers that run takes.
const (
	maxParallel = 64
	maxRepeat   = 100000
	maxTimeout  = time.Hour
)

type runFlags struct {
	selectionFlags
	expected                    baselineFlags
	record                      recordFlags
	target, targetKey, identity string
	ipc, driver, driverConnect  string
	cli, lan                    string
	moreConfig                  string // of the bundled daemon, below its peers
	reports                     []string
	strict, hasHandler, slow    bool
	quiet, verbose              bool
	parallel, repeat            int
	timeout                     time.Duration
}

func (p *program) runCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run",
		Short: "Judge a peer: the bundled daemon, or any other with --target",
		Long: `Meet a peer over real QUIC and judge it, requirement by requirement.

Without --target the daemon that comes with this program is started as a child
process in a throw-away directory and judged like a stranger.

With --target HOST:PORT the peer at that address is judged. It has to admit the
suite's key first: 'axon-conformance identity' prints what to tell it. Its own
key is pinned by --target axon://KEY@HOST:PORT or --target-key, and otherwise
learned in a first handshake; the report says which.

What needs the peer to send, to have a handler, or to show what it delivers is
checked when the suite can make it do so: over AXON's local API (--ipc), or
through a driver, a program of yours that speaks JSON lines with the suite
(--driver, --driver-connect; docs/driver.md). A driver may say where the peer
listens and admit the suite's key, so that --target can be left out.

What a command line promises is checked when --cli names one like AXON's: the
suite runs it as a child process, in folders of its own, with daemons that listen
on ports from 20000 to 31999. The bundled one is checked by default; what is
ADVISORY for others, the section on learnability, is required of it.

Discovery is checked on the network that --lan names, and only there: the suite
multicasts on that interface, and the peer's daemon must run on it with discovery
switched on and trust its default. What needs daemons with other settings, or
more than one start, is checked with the daemons that --cli starts, on private
networks that the suite makes (Linux, as root). docs/lan.md says how to try this
on a private network.

Exit codes:
  0  conformant: every selected check ran and no MUST is broken, or none but those
     that --baseline lists
  1  a MUST is broken (with --strict: or a SHOULD), or the baseline is out of date
  2  the command line, the selection or a feature file is wrong
  3  incomplete: something could not run, and nothing failed
  4  the suite itself is at fault`,
		Example: `  axon-conformance run
  axon-conformance run --target 192.0.2.7:7100
  axon-conformance run --target [2001:db8::7]:7100 --target-key BASE64
  axon-conformance run --target axon://KEY@peer.example:7100 --report json=report.json
  axon-conformance run --driver 'python3 driver.py --port 7100'
  axon-conformance run --target 10.77.1.1:7100 --lan lan0 --cli axon
  axon-conformance run --requirement AXON-DEFERR-003 --verbose`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return p.run(c, f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.target, "target", "", "`ADDRESS` of the peer: HOST:PORT, [IPV6]:PORT or axon://KEY@HOST:PORT (default: the bundled daemon)")
	flags.StringVar(&f.targetKey, "target-key", "", "the peer's public `KEY` in base64; another one is then refused")
	flags.StringVar(&f.identity, "identity", "", "`FILE` that holds the suite's identity; made when it is not there (default: under your configuration directory)")
	flags.StringVar(&f.ipc, "ipc", "", "`SOCKET` of the peer's local API, when it is AXON's: then what needs the peer to send, to have a handler or to show what it delivers is checked too")
	flags.StringVar(&f.driver, "driver", "", "`COMMAND` that starts a driver, which makes the peer act; words are parted by blanks, and quotes keep them together")
	flags.StringVar(&f.driverConnect, "driver-connect", "", "`ADDRESS` of a driver that is running already: unix:PATH or tcp:HOST:PORT")
	flags.StringVar(&f.cli, "cli", "", "`COMMAND` that is the peer's command line, when it is AXON's: COMMAND daemon --state-root DIR starts a daemon")
	flags.StringVar(&f.lan, "lan", "", "`INTERFACE` on which the peer advertises: then discovery is checked, by multicast on that interface")
	flags.BoolVar(&f.slow, "slow", false, "include the checks that take half a minute or more each, since their sentences are about such times")
	f.add(c)
	flags.StringArrayVar(&f.reports, "report", nil, "write a report as `FORMAT=PATH`; text, json, junit, html or markdown; - is standard output; repeatable")
	f.expected.add(c)
	f.record.add(c)
	flags.BoolVar(&f.strict, "strict", false, "a broken SHOULD counts like a broken MUST")
	flags.BoolVar(&f.hasHandler, "has-handler", false, "the peer has an application handler, so it need not give the default error")
	flags.IntVar(&f.parallel, "parallel", 0, "`N` checks at once (default: one, which shows what a peer died of; more for a slow peer)")
	flags.DurationVar(&f.timeout, "timeout", 0, "ceiling of one check, a `DURATION` such as 10s (default: chosen by the suite, 5s or more for a slow peer)")
	flags.IntVar(&f.repeat, "repeat", 1, "run everything `N` times; a check's verdict is the worst that it had, and the report says whether all were the same")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress, and only what is broken and the conclusion")
	flags.BoolVar(&f.verbose, "verbose", false, "a line for each check, whole transcripts, and what was observed")
	_ = c.RegisterFlagCompletionFunc("report", cobra.FixedCompletions([]string{"text=", "json=", "junit=", "html=", "markdown="},
		cobra.ShellCompDirectiveNoSpace|cobra.ShellCompDirectiveNoFileComp))
	c.MarkFlagsMutuallyExclusive("quiet", "verbose")
	c.MarkFlagsMutuallyExclusive("ipc", "driver", "driver-connect")
	return c
}

// run carries one run out: everything that can be refused is refused before the
// target is met.
func (p *program) run(c *cobra.Command, f *runFlags) (err error) {
	if err := f.check(c); err != nil {
		return err
	}
	files, selection, err := f.read(p)
	if err != nil {
		return err
	}
	outputs, err := parseOutputs(f.reports)
	if err != nil {
		return err
	}
	options := suite.Options{
		Features:   files,
		Select:     selection,
		HasHandler: f.hasHandler,
		Strict:     f.strict,
		Parallel:   f.parallel,
		Timeout:    f.timeout,
		Repeat:     f.repeat,
		Version:    p.env.Version,
		Program:    p.env.Program,
		RerunArgs:  f.rerunArgs(),
	}
	listed, err := p.env.Engine.List(files, selection)
	if err != nil {
		return engineError(err)
	}
	expected, err := f.expected.open(c, outputs)
	if err != nil {
		return err
	}
	defer expected.discard()
	if err := expected.fits(selection.Edition); err != nil {
		return err
	}
	recorded, err := f.record.open(c, &options)
	if err != nil {
		return err
	}
	defer recorded()
	if err := openOutputs(outputs); err != nil {
		return err
	}
	defer discardOutputs(outputs)

	stop, err := p.prepare(c.Context(), f, &options)
	if err != nil {
		return err
	}
	// Also on a panic: the child must not outlive this program.
	defer stop()

	progress := p.newProgress(f, listed)
	options.Progress = progress.show
	result, err := p.env.Engine.Run(c.Context(), options)
	progress.finish()
	stop()
	if err != nil {
		return engineError(err)
	}
	if err := p.hold(expected, &result, files, f.quiet); err != nil {
		return err
	}
	return p.writeReports(f, outputs, result)
}

// check refuses flags that cannot be meant.
func (f *runFlags) check(c *cobra.Command) error {
	for _, name := range []string{"target", "target-key", "identity", "ipc", "driver", "driver-connect", "cli", "lan", "tags", "level", "scenario", "edition", "shard", "features"} {
		if flag := c.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return usagef("--%s is empty; give it a value, or leave it out", name)
		}
	}
	switch {
	case f.shard != "" && f.expected.write != "":
		return usagef("--write-baseline of a part would lack the others; write it with '%s merge' from the reports of all parts", programName)
	case c.Flags().Changed("parallel") && (f.parallel < 1 || f.parallel > maxParallel):
		return usagef("--parallel %d: it takes a number from 1 to %d", f.parallel, maxParallel)
	case f.repeat < 1 || f.repeat > maxRepeat:
		return usagef("--repeat %d: it takes a number from 1 to %d", f.repeat, maxRepeat)
	case c.Flags().Changed("timeout") && (f.timeout <= 0 || f.timeout > maxTimeout):
		return usagef("--timeout %s: it takes a duration above 0 and up to 1h, such as 10s", f.timeout)
	case f.target == "" && f.ipc != "":
		return usagef("--ipc is given without --target; the bundled daemon's own local API is used anyway, so leave it out or name the target")
	case f.target == "" && f.targetKey != "" && !f.driven():
		return usagef("--target-key is given without --target; the bundled daemon has a key of its own, so leave it out or name the target")
	}
	return nil
}

// rerunArgs are the arguments that a command needs to meet the same target in
// the same way.
func (f *runFlags) rerunArgs() string {
	var args []string
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, shellQuote(value))
		}
	}
	add("--target", f.target)
	add("--target-key", f.targetKey)
	add("--identity", f.identity)
	add("--ipc", f.ipc)
	add("--driver", f.driver)
	add("--driver-connect", f.driverConnect)
	add("--cli", f.cli)
	add("--lan", f.lan)
	if f.slow {
		args = append(args, "--slow")
	}
	add("--edition", f.edition)
	add("--features", f.features)
	if f.hasHandler {
		args = append(args, "--has-handler")
	}
	if f.timeout > 0 {
		add("--timeout", f.timeout.String())
	}
	return strings.Join(args, " ")
}

// prepareTarget fills in whom to meet and as whom. The function that it returns
// ends what was started; it may be called more than once.
func (p *program) prepareTarget(ctx context.Context, f *runFlags, o *suite.Options) (stop func(), err error) {
	switch {
	case f.target != "":
		o.Address, o.Key, err = parseTarget(f.target, f.targetKey)
	case !f.driven():
		_, stop, err := p.prepareBundled(ctx, f, o)
		return stop, err
	case f.targetKey != "":
		o.Key, err = parseKey(f.targetKey)
	}
	if err != nil {
		return nil, err
	}
	id, path, created, err := p.identity(f.identity)
	if err != nil {
		return nil, err
	}
	o.Identity = id
	o.IdentityHint = programName + " identity"
	if f.identity != "" {
		o.IdentityHint += " --identity " + shellQuote(filepath.Clean(f.identity))
	}
	if created && !f.quiet && !f.driven() {
		fmt.Fprintf(p.err, "made a new identity in %s; the target has to admit it: '%s' says how\n", path, o.IdentityHint)
	}
	// The driver may tell the key as well.
	defer func() {
		o.KeySource = report.KeyLearned
		if o.Key != nil {
			o.KeySource = report.KeyPinned
		}
	}()
	if f.driven() {
		if err := attachDriver(ctx, f, o); err != nil {
			return nil, err
		}
		return func() { _ = o.Control.Close() }, nil
	}
	if f.ipc == "" {
		return func() {}, nil
	}
	if err := attachIPC(ctx, f.ipc, o); err != nil {
		return nil, &failure{code: report.ExitIncomplete, err: fmt.Errorf("%w; --ipc names the socket of the target's own daemon, for AXON's <state root>/axon.sock", err)}
	}
	return func() { _ = o.Control.Close() }, nil
}

// writeReports writes the summary and all that --report asked for.
func (p *program) writeReports(f *runFlags, outputs []*output, r report.Report) error {
	human := p.out
	for _, o := range outputs {
		if o.path != "-" {
			continue
		}
		human = p.err
		if o.format == "text" {
			// The summary itself was asked for, and is not written twice.
			human = nil
		}
	}
	var first error
	for _, o := range outputs {
		if err := o.write(r, p.out, p.textOptions(f, p.out)); err != nil && first == nil {
			first = err
		}
	}
	if human != nil {
		if err := report.WriteText(human, r, p.textOptions(f, human)); err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		return &failure{code: report.ExitHarnessError, err: first}
	}
	if r.ExitCode != report.ExitConformant {
		return exit(r.ExitCode)
	}
	return nil
}

func (p *program) textOptions(f *runFlags, w io.Writer) report.TextOptions {
	t := p.terminalOf(w)
	width := t.width
	if columns, err := strconv.Atoi(p.env.Getenv("COLUMNS")); err == nil && columns > 0 && width == 0 {
		width = min(columns, 1000)
	}
	return report.TextOptions{Colour: t.colour, Verbose: f.verbose, Quiet: f.quiet, Width: width}
}
