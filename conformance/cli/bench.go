package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/bench"
	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/harness/credential"
)

// benchFlags are those of bench.
type benchFlags struct {
	target, key, identity string
	socket                string
	driver, driverConnect string
	loads                 []string
	inFlight, sizes       []int
	connections           []int
	duration              time.Duration
	rounds, pid           int
	quick                 bool
	reports               []string
}

func (p *program) benchCommand() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure what a peer costs, beside a bare quic-go exchange",
		Long: `Measure rates and latencies of a peer, and the processor time and memory that they
cost it where its process is known, beside a bare quic-go exchange between two
processes of this machine: in turn, in the same run, so that the ratio of the two
says what the peer adds. Without --target it measures the bundled daemon.

The loads are
  request    a request, and whatever answers it: with no handler, the default error
  handler    a request that a local program of the target answers
  message    a message, written and taken
  delivery   a message that a local program of the target was shown
  handshake  a connection, begun and closed
Handler and delivery need a way for a local program to the target: --ipc, or a driver;
the bundled daemon has one. Where there is none, message is measured instead.

The target must admit the suite, see 'axon-conformance identity'. A daemon keeps one
connection of a peer, so for --connections above 1 it must admit as many peers:
'axon-conformance bench peers' prints them. Interrupted, it shows what it has.`,
		Example: `  axon-conformance bench --quick
  axon-conformance bench --target 127.0.0.1:7100 --pid 4242 --ipc ~/.axon/axon.sock --report json=bench.json
  axon-conformance bench --load request --in-flight 1,64 --size 200 --duration 1s
  axon-conformance bench --load request --connections 1,10,100,1000 --in-flight 1000 --size 200 --report html=growth.html
  axon-conformance bench diff before.json after.json`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return p.bench(c, &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.target, "target", "", "`ADDRESS` of the peer: HOST:PORT or axon://KEY@HOST:PORT (default: the bundled daemon)")
	flags.StringVar(&f.key, "target-key", "", "the target must hold this public `KEY`, in base64")
	flags.IntVar(&f.pid, "pid", 0, "`NUMBER` of the target's process, whose processor time and memory are measured (Linux)")
	flags.StringSliceVar(&f.loads, "load", nil, "measure these `LOADS` (default: all that can be)")
	flags.StringVar(&f.socket, "ipc", "", "`SOCKET` of the target's local API, for the loads handler and delivery")
	flags.StringVar(&f.driver, "driver", "", "`COMMAND` that starts a driver, for these loads as well (docs/driver.md)")
	flags.StringVar(&f.driverConnect, "driver-connect", "", "`ADDRESS` of a driver that is running already: unix:PATH or tcp:HOST:PORT")
	flags.IntSliceVar(&f.inFlight, "in-flight", []int{1, 16, 64, 256}, "`NUMBERS` of exchanges at a time, up to 10000; more than the target grants streams wait")
	flags.IntSliceVar(&f.connections, "connections", []int{1}, "`NUMBERS` of connections, up to 1000, over which the exchanges are spread")
	flags.IntSliceVar(&f.sizes, "size", []int{200, 4096, 65536}, "`SIZES` of envelopes in bytes")
	flags.DurationVar(&f.duration, "duration", 200*time.Millisecond, "length of one measurement, a `DURATION`")
	flags.IntVar(&f.rounds, "rounds", 3, "measure each `N` times, bare and target in turn")
	flags.BoolVar(&f.quick, "quick", false, "one size and 1 and 64 in flight, in about 15 s")
	flags.StringArrayVar(&f.reports, "report", nil, "also write a report, `FORMAT=PATH`; formats are text, json and html, - is standard output; repeatable")
	flags.StringVar(&f.identity, "identity", "", "`FILE` that holds the suite's identity; made when it is not there (default: under your configuration directory)")
	c.MarkFlagsMutuallyExclusive("ipc", "driver", "driver-connect")
	c.AddCommand(p.benchDiffCommand(), p.benchPeersCommand())
	return c
}

func (p *program) bench(c *cobra.Command, f *benchFlags) error {
	if f.quick {
		for name, quick := range map[string]func(){
			"size": func() { f.sizes = []int{200} }, "in-flight": func() { f.inFlight = []int{1, 64} },
			"duration": func() { f.duration = 250 * time.Millisecond },
		} {
			if !c.Flags().Changed(name) {
				quick()
			}
		}
	}
	for _, text := range f.reports {
		if format, path, found := strings.Cut(text, "="); !found || path == "" || benchWriters[format] == nil {
			return usagef("--report %s: write FORMAT=PATH, FORMAT being text, json or html", text)
		}
	}
	if len(p.env.BarePeer) == 0 {
		return &failure{code: report.ExitHarnessError, err: errors.New("this build has no bare peer; build the program from a complete source tree")}
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	ctx := c.Context()
	stop, err := p.benchTarget(ctx, f, &o)
	if err != nil {
		return err
	}
	defer stop()
	bare, err := startChild(p.env.BarePeer, os.Environ())
	if err != nil {
		return engineError(err)
	}
	defer bare.stop(stopCeiling)
	wait, cancel := context.WithTimeout(ctx, readyCeiling)
	defer cancel()
	ready, err := bare.awaitReady(wait)
	if err != nil {
		return engineError(fmt.Errorf("the bare peer did not start: %w%s", err, bare.lastWords()))
	}
	o.Raw = bench.Peer{Address: ready.Address, PID: bare.command.Process.Pid}
	o.Progress = func(done, total int, next string) { fmt.Fprintf(p.err, "%d/%d %s\n", done+1, total, next) }
	r, err := bench.Run(ctx, o)
	r.Suite = p.env.Version
	if err != nil && len(r.Rows) == 0 {
		if errors.Is(err, context.Canceled) {
			return &failure{code: report.ExitIncomplete, err: errors.New("interrupted before anything was measured")}
		}
		return benchError(err)
	}
	if writeErr := p.writeBench(f, r); writeErr != nil {
		return writeErr
	}
	if err != nil {
		return benchError(err)
	}
	return nil
}

func benchError(err error) error {
	if errors.Is(err, context.Canceled) {
		return &failure{code: report.ExitIncomplete, err: errors.New("interrupted; what was measured until then is shown")}
	}
	return &failure{code: report.ExitIncomplete, err: err}
}

var benchWriters = map[string]func(io.Writer, bench.Report) error{"text": bench.WriteText, "json": bench.WriteJSON, "html": bench.WriteHTML}

// writeBench writes the table, unless something else takes standard output, and the
// files.
func (p *program) writeBench(f *benchFlags, r bench.Report) error {
	taken := false
	for _, text := range f.reports {
		format, path, _ := strings.Cut(text, "=")
		if path == "-" {
			taken = true
			if err := benchWriters[format](p.out, r); err != nil {
				return err
			}
			continue
		}
		var b strings.Builder
		if err := benchWriters[format](&b, r); err != nil {
			return err
		}
		if err := writeWhole(path, []byte(b.String())); err != nil {
			return &failure{code: report.ExitUsage, err: fmt.Errorf("--report %s: %w", text, err)}
		}
	}
	if taken {
		return nil
	}
	return bench.WriteText(p.out, r)
}

// writeWhole writes a file or leaves what is there as it is.
func writeWhole(path string, text []byte) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%w; make the directory first", err)
	}
	return writeTogether(map[string][]byte{path: text})
}

func (p *program) benchDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "diff BEFORE.json AFTER.json",
		Short:   "Show how the figures changed from one measurement to another",
		Long:    "Show how the ratios to the bare exchange changed from one stored report to another.",
		Example: "  axon-conformance bench diff before.json after.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("bench diff needs two reports and has %d; write bench diff BEFORE.json AFTER.json", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var reports []bench.Report
			for _, name := range args {
				f, err := os.Open(name)
				if err != nil {
					return &failure{code: report.ExitUsage, err: fmt.Errorf("%w; name a report of 'bench --report json=FILE'", err)}
				}
				r, err := bench.ReadJSON(f)
				_ = f.Close()
				if err != nil {
					return &failure{code: report.ExitUsage, err: fmt.Errorf("%s: %w", name, err)}
				}
				reports = append(reports, r)
			}
			if err := bench.WriteDiff(p.out, reports[0], reports[1]); err != nil {
				return &failure{code: report.ExitUsage, err: err}
			}
			return nil
		},
	}
}

// BarePeer is the bare peer of bench, for the program that is started as one. It says
// where it is as the daemon does.
func BarePeer(ctx context.Context, errOut io.Writer) int {
	id, err := credential.New()
	if err == nil {
		err = bench.ServeRaw(ctx, id, func(address string) {
			fmt.Fprintf(errOut, "{\"msg\":\"ready\",\"address\":%q,\"agent_id\":%q}\n", address, id.AgentID())
		})
	}
	if err != nil {
		fmt.Fprintln(errOut, err)
		return report.ExitHarnessError
	}
	return 0
}
