package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/fuzz"
	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
)

// fuzzFlags are those of fuzz.
type fuzzFlags struct {
	target, key, identity             string
	seed                              uint64
	duration, timeout                 time.Duration
	inputs, pid, memory               int
	hasHandler, strict, asJSON, quiet bool
}

func (p *program) fuzzCommand() *cobra.Command {
	var f fuzzFlags
	c := &cobra.Command{
		Use:   "fuzz",
		Short: "Send a peer inputs that nobody wrote, and find what it does wrong",
		Long: `Send a peer valid and invalid envelopes that follow from a seed: made by a grammar or
taken from the features, then changed as JSON, as UTF-8, in size, and in how they go
over their streams. Each is held against the sentences of the specification; where
these leave open what a peer does, nothing is judged. Without --target it fuzzes the
bundled daemon.

What looks wrong is repeated by itself on a new connection, made smaller while it
still fails, and printed as a scenario that can be pasted into a feature file and run
by 'axon-conformance run --features DIRECTORY'. The target must admit the suite, see
'axon-conformance identity'. With the same seed and number the inputs are the same.

Exit codes:
  0  nothing found that breaks a MUST (with --strict: nor a SHOULD)
  1  something was found
  2  the command line is wrong
  3  the target cannot be met, or is gone`,
		Example: `  axon-conformance fuzz
  axon-conformance fuzz --target 127.0.0.1:7100 --pid 4242 --duration 10m
  axon-conformance fuzz --target 127.0.0.1:7100 --seed 7 --inputs 5000 --json`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return p.fuzz(c, &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.target, "target", "", "`ADDRESS` of the peer: HOST:PORT or axon://KEY@HOST:PORT (default: the bundled daemon)")
	flags.StringVar(&f.key, "target-key", "", "the target must hold this public `KEY`, in base64")
	flags.Uint64Var(&f.seed, "seed", 0, "`NUMBER` that the inputs follow from (default: a new one, which is printed)")
	flags.DurationVar(&f.duration, "duration", 30*time.Second, "begin nothing new after this `DURATION`; 0 for no end but that of --inputs")
	flags.IntVar(&f.inputs, "inputs", 0, "send this `NUMBER` of inputs; without --duration no matter how long it takes")
	flags.IntVar(&f.pid, "pid", 0, "`NUMBER` of the target's process, whose memory is watched (Linux)")
	flags.IntVar(&f.memory, "max-memory", 512, "the target may grow by this number of `MEGABYTES`")
	flags.BoolVar(&f.hasHandler, "has-handler", false, "the target has an application that answers requests, so it need not give the default error")
	flags.DurationVar(&f.timeout, "timeout", 0, "`CEILING` of one answer (default: 5s)")
	flags.BoolVar(&f.strict, "strict", false, "what breaks a SHOULD counts as well")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object")
	flags.BoolVar(&f.quiet, "quiet", false, "show the outcome only")
	flags.StringVar(&f.identity, "identity", "", "`FILE` that holds the suite's identity; made when it is not there (default: under your configuration directory)")
	return c
}

func (p *program) fuzz(c *cobra.Command, f *fuzzFlags) error {
	if !c.Flags().Changed("seed") {
		f.seed = rand.Uint64() >> 32 // short enough to be typed
	}
	if f.inputs > 0 && !c.Flags().Changed("duration") {
		f.duration = 0
	}
	if f.memory < 1 {
		return usagef("--max-memory %d: it takes a number of megabytes from 1 on", f.memory)
	}
	o := fuzz.Options{
		Seed: f.seed, Duration: f.duration, Inputs: f.inputs, Ceiling: f.timeout, HasHandler: f.hasHandler,
		PID: f.pid, MaxMemory: int64(f.memory) << 20, Features: p.env.Features,
	}
	if err := o.Check(); err != nil {
		return usagef("%w", err)
	}
	stop, err := p.fuzzTarget(c.Context(), f, &o)
	if err != nil {
		return err
	}
	defer stop()
	if !f.quiet {
		fmt.Fprintf(p.err, "fuzzing %s with seed %d\n", o.Address, o.Seed)
		o.Progress = p.fuzzProgress()
	}
	r, err := fuzz.Run(c.Context(), o)
	r.Suite = p.env.Version
	write := fuzz.WriteText
	if f.asJSON {
		write = fuzz.WriteJSON
	}
	if writeErr := write(p.out, r); writeErr != nil {
		return writeErr
	}
	switch {
	case r.Broken(f.strict):
		if err != nil {
			fmt.Fprintf(p.err, "%s: the run ended early: %s\n", programName, report.Printable(err.Error()))
		}
		return exit(report.ExitBroken)
	case errors.Is(err, context.Canceled):
		return &failure{code: report.ExitIncomplete, err: errors.New("interrupted; what was found until then is shown")}
	case err != nil:
		return &failure{code: report.ExitIncomplete, err: err}
	}
	return nil
}

// fuzzProgress says now and then how far it is, and each finding at once.
func (p *program) fuzzProgress() func(fuzz.Progress) {
	last := time.Now()
	return func(s fuzz.Progress) {
		switch {
		case s.Finding != nil:
			fmt.Fprintf(p.err, "found: %s\n", report.Printable(s.Finding.Title))
		case time.Since(last) > 5*time.Second:
			last = time.Now()
			fmt.Fprintf(p.err, "%d inputs\n", s.Inputs)
		}
	}
}

// fuzzTarget finds the target, or starts the bundled daemon.
func (p *program) fuzzTarget(ctx context.Context, f *fuzzFlags, o *fuzz.Options) (stop func(), err error) {
	if f.target == "" {
		if f.key != "" || f.pid != 0 || f.hasHandler {
			return nil, usagef("--target-key, --pid and --has-handler belong to a --target")
		}
		var s suite.Options
		daemon, stop, err := p.prepareBundled(ctx, &runFlags{identity: f.identity}, &s)
		if err != nil {
			return nil, err
		}
		o.Address, o.Key, o.Identity, o.PID = s.Address, s.Key, s.Identity, daemon.command.Process.Pid
		return stop, nil
	}
	if o.Address, o.Key, err = parseTarget(f.target, f.key); err != nil {
		return nil, err
	}
	o.Identity, _, _, err = p.identity(f.identity)
	return func() {}, err
}
