package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/fuzz"
	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/credential"
)

// fuzzFlags are those of fuzz.
type fuzzFlags struct {
	target, key, identity string
	seed                  uint64
	duration              time.Duration
	inputs, parallel, pid int
	hasHandler, asJSON    bool
	strict                bool
}

// fuzzCeiling bounds one input and its judgement.
const fuzzCeiling = 5 * time.Second

func (p *program) fuzzCommand() *cobra.Command {
	var f fuzzFlags
	c := &cobra.Command{
		Use:   "fuzz",
		Short: "Send a peer inputs that nobody wrote down, and judge what comes of them",
		Long: `Send a peer envelopes that are made by a grammar and then damaged: members missing,
twice, of another type or under another name, broken JSON, broken UTF-8, odd ids and
kinds, deep nesting, white space, sizes about the limit. What has to come of each
input follows from its bytes, and where the text leaves it open, only the connection
has to survive. Without --target it is the bundled daemon.

What does not come out as it should is tried again, made as short as it can be, and
printed as a scenario that 'axon-conformance run --features DIR' can repeat. A run
ends at --duration or --inputs, or when it has found ten things. The same seed gives
the same inputs.

The target must admit the suite, see 'axon-conformance identity'.

Exit codes:
  0  no MUST was found broken
  1  a MUST was found broken; with --strict: or a SHOULD
  2  the command line is wrong
  3  the target could not be reached, or not any more`,
		Example: `  axon-conformance fuzz
  axon-conformance fuzz --target 127.0.0.1:7100 --pid 4242 --duration 10m
  axon-conformance fuzz --target 127.0.0.1:7100 --seed 7 --inputs 5000 --json`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return p.fuzz(c, &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.target, "target", "", "`ADDRESS` of the peer: HOST:PORT or axon://KEY@HOST:PORT (default: the bundled daemon)")
	flags.StringVar(&f.key, "target-key", "", "the target must hold this public `KEY`, in base64")
	flags.IntVar(&f.pid, "pid", 0, "`NUMBER` of the target's process, whose memory is watched (Linux)")
	flags.Uint64Var(&f.seed, "seed", 0, "`NUMBER` from which the inputs follow (default: any, which is printed)")
	flags.DurationVar(&f.duration, "duration", 10*time.Second, "length of the run, a `DURATION`; 0: until --inputs")
	flags.IntVar(&f.inputs, "inputs", 0, "end after `N` inputs, whatever the duration")
	flags.IntVar(&f.parallel, "parallel", 0, "`N` connections at a time (default: 1; 4 for the bundled daemon)")
	flags.BoolVar(&f.hasHandler, "has-handler", false, "an application answers at the target")
	flags.BoolVar(&f.strict, "strict", false, "a broken SHOULD counts like a broken MUST")
	flags.BoolVar(&f.asJSON, "json", false, "print the report as one JSON object")
	flags.StringVar(&f.identity, "identity", "", "`FILE` that holds the suite's identity; made when it is not there (default: under your configuration directory)")
	return c
}

func (p *program) fuzz(c *cobra.Command, f *fuzzFlags) error {
	switch {
	case f.target == "" && (f.key != "" || f.pid != 0 || f.hasHandler):
		return usagef("--target-key, --pid and --has-handler belong to a --target")
	case f.inputs < 0 || f.inputs > fuzz.MaxInputs:
		return usagef("--inputs %d: it takes a number up to %d", f.inputs, fuzz.MaxInputs)
	case f.duration < 0:
		return usagef("--duration %s: it takes a positive duration", f.duration)
	case f.parallel < 0 || f.parallel > 64:
		return usagef("--parallel %d: it takes a number from 1 to 64", f.parallel)
	case f.pid < 0:
		return usagef("--pid %d: it takes the number of a process", f.pid)
	}
	if c.Flags().Changed("inputs") && !c.Flags().Changed("duration") {
		f.duration = 0
	}
	if f.duration == 0 && f.inputs == 0 {
		return usagef("the run would have no end: give --duration or --inputs")
	}
	if !c.Flags().Changed("seed") {
		f.seed = rand.Uint64N(1_000_000_000)
	}
	ctx := c.Context()
	target, stop, err := p.fuzzTarget(ctx, f)
	if err != nil {
		return err
	}
	defer stop()
	o := fuzz.Options{Target: target, Seed: f.seed, Inputs: f.inputs, Duration: f.duration, Parallel: f.parallel}
	if f.pid > 0 {
		o.Memory = func() int64 { return residentOf(f.pid) }
	}
	if !f.asJSON {
		fmt.Fprintf(p.err, "seed %d\n", f.seed)
	}
	r, err := fuzz.Run(ctx, o)
	r.Suite, r.Complete = p.env.Version, err == nil
	write := r.Text
	if f.asJSON {
		write = func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return e.Encode(r)
		}
	}
	if err := write(p.out); err != nil {
		return err
	}
	switch {
	case r.Broken(f.strict):
		return exit(report.ExitBroken)
	case ctx.Err() != nil:
		return &failure{code: report.ExitIncomplete, err: errors.New("interrupted; nothing was found until then")}
	case err != nil:
		return &failure{code: report.ExitIncomplete, err: err}
	}
	return nil
}

// fuzzTarget meets the target, or starts the bundled daemon.
func (p *program) fuzzTarget(ctx context.Context, f *fuzzFlags) (*steps.Target, func(), error) {
	var o suite.Options
	stop := func() {}
	var err error
	if f.target == "" {
		var daemon *child
		if daemon, stop, err = p.prepareBundled(ctx, &runFlags{identity: f.identity}, &o); err != nil {
			return nil, nil, err
		}
		f.pid = daemon.command.Process.Pid
		if f.parallel == 0 {
			f.parallel = 4
		}
	} else {
		if o.Address, o.Key, err = parseTarget(f.target, f.key); err != nil {
			return nil, nil, err
		}
		if o.Identity, _, _, err = p.identity(f.identity); err != nil {
			return nil, nil, err
		}
	}
	t := &steps.Target{Address: o.Address, Key: o.Key, Identity: o.Identity, HasHandler: f.hasHandler, Ceiling: fuzzCeiling, Record: steps.NewRecord()}
	if t.Key != nil {
		t.AgentID = credential.AgentID(t.Key)
	}
	meet, cancel := context.WithTimeout(ctx, 2*fuzzCeiling)
	defer cancel()
	answered, err := steps.Preflight(meet, t)
	if err == nil && answered == 0 {
		err = errors.New("the target took a connection and did not answer a plain request: 'axon-conformance run' says more")
	}
	if err != nil {
		stop()
		return nil, nil, &failure{code: report.ExitIncomplete, err: err}
	}
	t.Single = !steps.KeepsConnections(meet, t)
	return t, stop, nil
}

// residentOf is what a process holds in bytes, or 0 where that is not known.
func residentOf(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}
