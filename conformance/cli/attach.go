package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/control/driver"
)

// attachCeiling is how long a local API may take to answer its first command, and a
// driver to enrol the suite's own key.
const attachCeiling = 5 * time.Second

// attachIPC has the suite make the target act over its local API.
func attachIPC(ctx context.Context, socket string, o *suite.Options) error {
	ctx, cancel := context.WithTimeout(ctx, attachCeiling)
	defer cancel()
	target, err := control.NewIPC(ctx, socket)
	if err != nil {
		return err
	}
	o.Control = target
	return nil
}

// driven: a driver makes the target act.
func (f *runFlags) driven() bool { return f.driver != "" || f.driverConnect != "" }

// attachDriver has the suite make the target act through a driver, which also says
// where the target listens when no flag does. The options name the suite's identity
// already.
func attachDriver(ctx context.Context, f *runFlags, o *suite.Options) error {
	d, err := meetDriver(ctx, f, o.Version)
	if err != nil {
		return err
	}
	if err := takeUp(ctx, d, f, o); err != nil {
		_ = d.Close()
		return err
	}
	o.Control = d
	return nil
}

func meetDriver(ctx context.Context, f *runFlags, version string) (*driver.Driver, error) {
	options := driver.Options{Suite: programName + " " + version}
	var d *driver.Driver
	var err error
	if f.driver != "" {
		var command []string
		if command, err = driver.Split(f.driver); err != nil {
			return nil, usagef("--driver %q: %w", f.driver, err)
		}
		d, err = driver.Start(ctx, command, options)
	} else {
		if _, _, err = driver.ParseAddress(f.driverConnect); err != nil {
			return nil, usagef("--driver-connect: %w", err)
		}
		d, err = driver.Connect(ctx, f.driverConnect, options)
	}
	switch {
	case err == nil:
		return d, nil
	case ctx.Err() != nil:
		return nil, engineError(ctx.Err())
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("it did not introduce itself within a minute; see docs/driver.md for what it has to answer to hello")
	}
	return nil, &failure{code: report.ExitIncomplete, err: fmt.Errorf("the driver cannot be used, so nothing was checked: %w", err)}
}

// takeUp fills in what the driver tells of the target, and has the suite's own key
// admitted where the driver can.
func takeUp(ctx context.Context, d *driver.Driver, f *runFlags, o *suite.Options) error {
	if hello := d.Hello(); f.target == "" {
		flag := cmp.Or(f.driver, f.driverConnect)
		if hello.Address == "" {
			return usagef("the driver %s does not say where its target listens; name it with --target HOST:PORT, or let the driver's hello give \"target\":{\"address\":…}", flag)
		}
		if err := checkAddress(hello.Address, "it should be HOST:PORT"); err != nil {
			return &failure{code: report.ExitIncomplete, err: fmt.Errorf("the address %q in the driver's hello: %w", hello.Address, err)}
		}
		if hello.Key != nil && o.Key != nil && !hello.Key.Equal(o.Key) {
			return usagef("--target-key names another key than the driver %s does; leave it out, or mend the driver", flag)
		}
		o.Address = hello.Address
		if o.Key == nil {
			o.Key = hello.Key
		}
	}
	if !d.Offers("enroll") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, attachCeiling)
	defer cancel()
	if err := d.Enroll(ctx, o.Identity.Public(), ""); err != nil {
		return &failure{code: report.ExitIncomplete, err: fmt.Errorf("the driver claims that it can enrol peers, but not the suite's own key: %w", err)}
	}
	return nil
}
