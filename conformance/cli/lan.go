package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/control/driver"
	"github.com/axonproto/axon/harness/control/launch"
	"github.com/axonproto/axon/harness/lan"
)

// attachLAN opens the network that --lan names and takes the command line that
// --cli gives. The function that it returns closes what was opened.
func (p *program) attachLAN(f *runFlags, o *suite.Options) (stop func(), err error) {
	o.Slow = f.slow
	command := p.env.Bundled
	if f.target != "" || f.driven() {
		command = nil
	}
	if f.cli != "" {
		if command, err = driver.Split(f.cli); err != nil {
			return nil, usagef("--cli %q: %w", f.cli, err)
		}
	}
	if len(command) > 0 {
		if o.Launcher, err = launch.New(command); err != nil {
			return nil, usagef("--cli %q: %w", f.cli, err)
		}
		o.CommandLine = &control.CommandLine{Program: command}
		if o.Own = f.cli == ""; o.Own {
			o.CommandLine.Loopback = []string{"--listen", "127.0.0.1"}
		}
	}
	if f.lan == "" {
		return func() {}, nil
	}
	network, err := lan.Open(f.lan)
	if errors.Is(err, lan.ErrInterface) {
		return nil, usagef("--lan %s: %w; see docs/lan.md", f.lan, err)
	}
	if err != nil {
		return nil, &failure{code: report.ExitIncomplete, err: fmt.Errorf("--lan %s: %w", f.lan, err)}
	}
	o.LAN = &suite.LAN{Network: network}
	return func() { _ = network.Close() }, nil
}

// prepare opens the network and then the way to the target, so that the bundled
// daemon can be told where to advertise.
func (p *program) prepare(ctx context.Context, f *runFlags, o *suite.Options) (stop func(), err error) {
	closeLAN, err := p.attachLAN(f, o)
	if err != nil {
		return nil, err
	}
	stopTarget, err := p.prepareTarget(ctx, f, o)
	if err != nil {
		closeLAN()
		return nil, err
	}
	return func() {
		stopTarget()
		closeLAN()
	}, nil
}

// whereBundled are the arguments that tell the bundled daemon where to listen: at
// loopback without discovery, or on the network that the run is about.
func whereBundled(o *suite.Options) []string {
	if o.LAN == nil {
		return []string{"--listen", "127.0.0.1", "--disable-mdns"}
	}
	return []string{"--listen", o.LAN.Network.Addresses()[0].String()}
}
