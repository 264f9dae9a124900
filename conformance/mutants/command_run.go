package mutants

import (
	"context"
	"slices"
	"time"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/control/launch"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan/netns"
	"github.com/axonproto/axon/spec"
)

// CommandFaults names the faults of command lines, in the order of the source.
func CommandFaults() []string {
	var names []string
	for _, m := range commandMutants() {
		names = append(names, m.Name)
	}
	return names
}

// commandSample is the part, one in so many, of the checks that do not concern a fault
// of a command line which it meets all the same: each starts processes.
const commandSample = 60

// commandChecks names the places of the checks for a command line, and tells whether
// one of them needs a network.
func (s *selection) commandChecks(j *job, whole bool) (places []string, network bool) {
	broken := slices.Concat(j.row.MadeFor, j.also)
	for i, l := range s.commands {
		if s.slow[l.Location] && !j.heavy {
			continue
		}
		onNetwork := slices.Contains(l.Needs, string(spec.LAN))
		concerned := slices.ContainsFunc(l.IDs, func(id string) bool { return slices.Contains(broken, id) })
		wanted := whole || j.whole || !j.heavy && (i+len(j.row.Name))%commandSample == 0
		if concerned || wanted && !onNetwork {
			places = append(places, l.Location)
			network = network || onNetwork
		}
	}
	return places, network
}

// runCommand has the suite judge one command line, beside a correct peer.
func (j *job) runCommand(ctx context.Context, o Options, checks *selection, me credential.Identity) (Row, error) {
	return looks(ctx, func(second bool) (Row, error) {
		return j.lookCommand(ctx, o, checks, me, ceilingOf(j.ceiling, second))
	})
}

func (j *job) lookCommand(ctx context.Context, o Options, checks *selection, me credential.Identity, ceiling time.Duration) (Row, error) {
	notRun := func(why string) (Row, error) {
		row := j.row
		row.NotRun = why
		row.FailedBy, row.Collateral, row.Problems, row.Seen = []string{}, []string{}, []string{}, []string{}
		return row, nil
	}
	if o.CommandLine == nil {
		return notRun("there is no command line that could be broken")
	}
	places, network := checks.commandChecks(j, o.Whole)
	p, err := startPeer(correct(), me)
	if err != nil {
		return j.row, err
	}
	defer p.close()
	program := o.CommandLine(j.row.Name)
	options := suite.Options{
		Address: p.address(), Identity: me, Features: o.Features, Own: true, Slow: j.heavy, Timeout: ceiling, Version: o.Version,
		CommandLine: &control.CommandLine{Program: program, Loopback: []string{"--listen", "127.0.0.1"}},
	}
	options.Select.Locations = places
	if options.Launcher, err = launch.New(program); err != nil {
		return j.row, err
	}
	if network {
		if err := netns.Possible(); err != nil {
			return notRun(err.Error())
		}
		options.LAN = &suite.LAN{}
	}
	r, err := suite.Run(ctx, options)
	if err != nil {
		return j.row, err
	}
	required(&r)
	return j.judge(r), nil
}

// required gives the sentences that are ADVISORY for others the level by which they
// were judged.
func required(r *report.Report) {
	for i, q := range r.Requirements {
		if about, _ := spec.Lookup(q.ID); q.Level == string(spec.Advisory) && slices.ContainsFunc(about.Needs, func(n []spec.Need) bool { return slices.Contains(n, spec.CLI) }) {
			r.Requirements[i].Level = string(spec.Must)
		}
	}
}
