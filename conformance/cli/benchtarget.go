package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/bench"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
)

// driven: a driver plays the target's local program.
func (f *benchFlags) driven() bool { return f.driver != "" || f.driverConnect != "" }

// options are those that no peer is needed for.
func (f *benchFlags) options() (bench.Options, error) {
	if f.target == "" && !f.driven() && (f.key != "" || f.pid != 0 || f.socket != "") {
		return bench.Options{}, usagef("--target-key, --pid and --ipc belong to a --target")
	}
	if f.pid < 0 {
		return bench.Options{}, usagef("--pid %d: it takes the number of a process", f.pid)
	}
	o := bench.Options{InFlight: f.inFlight, Connections: f.connections, Sizes: f.sizes, Duration: f.duration, Rounds: f.rounds}
	for _, l := range f.loads {
		o.Loads = append(o.Loads, bench.Load(strings.ToLower(l)))
	}
	// The way to the target is found later.
	local := f.target == "" || f.socket != "" || f.driven()
	if len(f.loads) == 0 {
		o.Loads = []bench.Load{bench.Request, bench.Message, bench.Handshake}
		if local {
			o.Loads = []bench.Load{bench.Request, bench.Handler, bench.Delivery, bench.Handshake}
		}
	}
	check := o
	if local {
		check.Socket = "there will be one"
	}
	if err := check.Check(); err != nil {
		return o, usagef("%w", err)
	}
	return o, nil
}

// benchTarget finds the target, or starts the bundled daemon.
func (p *program) benchTarget(ctx context.Context, f *benchFlags, o *bench.Options) (stop func(), err error) {
	more := slices.Max(o.Connections) - 1
	if f.target == "" && !f.driven() {
		return p.benchBundled(ctx, f, o, more)
	}
	var s suite.Options
	if f.target != "" {
		if s.Address, s.Key, err = parseTarget(f.target, f.key); err != nil {
			return nil, err
		}
	} else if f.key != "" {
		if s.Key, err = parseKey(f.key); err != nil {
			return nil, err
		}
	}
	if s.Identity, _, _, err = p.identity(f.identity); err != nil {
		return nil, err
	}
	o.Identities = append([]credential.Identity{s.Identity}, benchIdentities(s.Identity, more)...)
	o.Socket, stop = f.socket, func() {}
	if f.driven() {
		run := runFlags{target: f.target, driver: f.driver, driverConnect: f.driverConnect}
		s.Version = p.env.Version
		if err := attachDriver(ctx, &run, &s); err != nil {
			return nil, err
		}
		o.Control = s.Control
		stop = func() { _ = s.Control.Close() }
		if err := p.enrolMore(ctx, s.Control, o); err != nil {
			stop()
			return nil, err
		}
	}
	o.Target = bench.Peer{Address: s.Address, Key: s.Key, PID: f.pid}
	return stop, nil
}

// enrolMore leaves out the loads that the driver cannot serve, and has it admit the
// further identities where it can.
func (p *program) enrolMore(ctx context.Context, target control.Target, o *bench.Options) error {
	can := target.Capabilities()
	for load, need := range map[bench.Load]string{bench.Handler: "handle", bench.Delivery: "observe"} {
		if slices.Contains(o.Loads, load) && !slices.Contains(can, need) {
			o.Loads = slices.DeleteFunc(o.Loads, func(l bench.Load) bool { return l == load })
		}
	}
	if len(o.Loads) == 0 {
		return usagef("the driver claims neither handle nor observe, so there is nothing to measure; choose other loads")
	}
	for _, id := range o.Identities[1:] {
		err := target.Enroll(ctx, id.Public(), "")
		switch {
		case ctx.Err() != nil:
			return engineError(ctx.Err())
		case errors.Is(err, control.ErrUnsupported):
			return nil // they may be admitted already
		case err != nil:
			fmt.Fprintf(p.err, "the driver could not admit the identities of all connections, so the target has to have them ('axon-conformance bench peers'): %v\n", err)
			return nil
		}
	}
	return nil
}

func (p *program) benchBundled(ctx context.Context, f *benchFlags, o *bench.Options, more int) (stop func(), err error) {
	var others []credential.Identity
	for range more {
		id, err := credential.New()
		if err != nil {
			return nil, engineError(err)
		}
		others = append(others, id)
	}
	// The suite's own connection, and room for handshakes.
	config := benchPeers(others)
	if more > 0 {
		config += fmt.Sprintf("limits:\n  connections: %d\n", more+100)
	}
	var s suite.Options
	daemon, stop, err := p.prepareBundled(ctx, &runFlags{identity: f.identity, moreConfig: config}, &s)
	if err != nil {
		return nil, err
	}
	if api, ok := s.Control.(*control.IPC); ok {
		o.Socket = api.Socket()
	} else if len(f.loads) == 0 {
		o.Loads = []bench.Load{bench.Request, bench.Message, bench.Handshake}
	}
	o.Target = bench.Peer{Address: s.Address, Key: s.Key, PID: daemon.command.Process.Pid}
	o.Identities = append([]credential.Identity{s.Identity}, others...)
	return stop, nil
}

// benchIdentities are further identities that follow from the suite's own, so that a
// target can be told of them once and for all.
func benchIdentities(own credential.Identity, n int) []credential.Identity {
	var list []credential.Identity
	for i := range n {
		seed := sha256.Sum256(fmt.Appendf(nil, "axon-conformance bench, connection %d\n%s", i+2, own.Private().Seed()))
		id, err := credential.FromSeed(seed[:])
		if err != nil {
			panic(err) // a seed has the length of a hash
		}
		list = append(list, id)
	}
	return list
}

// benchPeers is a part of a config.yaml that admits them, to stand below "peers:".
func benchPeers(list []credential.Identity) string {
	var b strings.Builder
	for _, id := range list {
		fmt.Fprintf(&b, "  - agent_id: %s\n    pubkey: %s\n", id.AgentID(), id.PublicBase64())
	}
	return b.String()
}

func (p *program) benchPeersCommand() *cobra.Command {
	var file string
	var connections int
	c := &cobra.Command{
		Use:   "peers",
		Short: "Print what a target's config.yaml must hold for several connections",
		Long: `Print the peers that a target's config.yaml must hold, so that 'axon-conformance
bench --connections' can open that many connections to it: a daemon keeps one
connection of a peer. They follow from the suite's own identity and are the same
each time. The target's own limit of connections has to allow for them.`,
		Example: `  axon-conformance bench peers --connections 100 >> config.yaml
  axon-conformance bench peers --connections 10 --identity ./suite.key`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if connections < 1 || connections > bench.MaxConnections {
				return usagef("--connections %d: it takes a number from 1 to %d", connections, bench.MaxConnections)
			}
			own, _, _, err := p.identity(file)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.out, "peers:\n%slimits:\n  connections: %d\n",
				benchPeers(append([]credential.Identity{own}, benchIdentities(own, connections-1)...)), max(128, connections+28))
			return err
		},
	}
	c.Flags().IntVar(&connections, "connections", 100, "`NUMBER` of connections, from 1 to 1000")
	c.Flags().StringVar(&file, "identity", "", "`FILE` that holds the suite's identity; made when it is not there (default: under your configuration directory)")
	return c
}
