package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/baseline"
	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
)

// baselineFlags name lists of expected failures.
type baselineFlags struct{ read, write string }

func (b *baselineFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&b.read, "baseline", "", "`FILE` with what is known to be broken: only what is not in it fails, and so does an entry that passes, names nothing or is past its date")
	c.Flags().StringVar(&b.write, "write-baseline", "", "write a `FILE` for --baseline of all that is broken, with the reasons to fill in; those of --baseline are taken over")
}

// expectation is a baseline in use: the list that was read, and the file that is
// to be written.
type expectation struct {
	list  *baseline.List
	write *output
}

// open reads the one and opens the other, before a target is met.
func (b *baselineFlags) open(c *cobra.Command, reports []*output) (*expectation, error) {
	for _, name := range []string{"baseline", "write-baseline"} {
		if flag := c.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return nil, usagef("--%s is empty; name a file, or leave it out", name)
		}
	}
	e := &expectation{}
	if b.read != "" {
		list, err := baseline.Load(b.read)
		if err != nil {
			return nil, &failure{code: report.ExitUsage, err: err}
		}
		e.list = &list
	}
	if b.write == "" {
		return e, nil
	}
	if b.write == "-" {
		return nil, usagef("--write-baseline takes a file, not standard output")
	}
	for _, o := range reports {
		if samePath(o.path, b.write) {
			return nil, usagef("--write-baseline %s and --report %s=%s would write over each other; give each its own path", b.write, o.format, o.path)
		}
	}
	// An older list holds reasons that somebody wrote.
	if _, err := os.Stat(b.write); err == nil && (b.read == "" || !samePath(b.read, b.write)) {
		return nil, &failure{code: report.ExitUsage, err: fmt.Errorf(
			"%s is there already, with reasons that would be lost; renew it with --baseline %s --write-baseline %s, or name another file", b.write, b.write, b.write)}
	}
	e.write = &output{path: b.write}
	if err := e.write.open(); err != nil {
		return nil, &failure{code: report.ExitUsage, err: err}
	}
	return e, nil
}

// fits tells whether the list is about an edition.
func (e *expectation) fits(edition string) error {
	if e.list == nil || e.list.Edition == "" || e.list.Edition == edition {
		return nil
	}
	return &failure{code: report.ExitUsage, err: fmt.Errorf("the baseline %s is for edition %s, and this is about %s; make one for it with --write-baseline, or correct its edition",
		e.list.File, e.list.Edition, edition)}
}

// discard removes what was opened and not written.
func (e *expectation) discard() {
	if e.write != nil {
		discardOutputs([]*output{e.write})
	}
}

// hold holds a report against the list, and writes the new list. all are the
// checks that there are.
func (p *program) hold(e *expectation, r *report.Report, files fs.FS, quiet bool) error {
	if e.list != nil {
		if err := e.fits(r.Suite.Edition); err != nil {
			return err
		}
		all, err := p.everyCheck(files, r.Suite.Edition)
		if err != nil {
			return err
		}
		baseline.Apply(*e.list, r, all, time.Now())
	}
	if e.write == nil {
		return nil
	}
	older := baseline.List{}
	if e.list != nil {
		older = *e.list
	}
	made := baseline.Make(*r, older)
	path := e.write.path
	if err := e.write.replace(func(w io.Writer) error { return baseline.Write(w, made, *r) }); err != nil {
		return &failure{code: report.ExitHarnessError, err: err}
	}
	if !quiet {
		fmt.Fprintf(p.err, "wrote %s: %d expected failures, %d of them without a reason; fill them in before it is used\n", path, len(made.Entries), made.Unfilled())
	}
	return nil
}

// everyCheck lists all checks of an edition, whatever a run selected.
func (p *program) everyCheck(files fs.FS, edition string) ([]baseline.Check, error) {
	listed, err := p.env.Engine.List(files, suite.Selection{Edition: edition})
	if err != nil {
		return nil, engineError(err)
	}
	all := make([]baseline.Check, 0, len(listed))
	for _, l := range listed {
		all = append(all, baseline.Check{Name: l.Name, Location: l.Location, IDs: l.IDs})
	}
	return all, nil
}

// recordFlags name where connections are recorded for other tools.
type recordFlags struct{ qlog, keyLog string }

func (r *recordFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&r.qlog, "qlog", "", "`DIR` that gets a qlog for each check that fails, linked from the reports; made when it is not there")
	c.Flags().StringVar(&r.keyLog, "keylog", "", "`FILE` that gets the TLS secrets of the suite's connections, with which Wireshark reads a capture")
}

// open makes the directory and the file. The function that it returns closes them.
func (r *recordFlags) open(c *cobra.Command, o *suite.Options) (done func(), err error) {
	for _, name := range []string{"qlog", "keylog"} {
		if flag := c.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return nil, usagef("--%s is empty; give it a path, or leave it out", name)
		}
	}
	if r.qlog != "" {
		if err := os.MkdirAll(r.qlog, 0o777); err != nil {
			return nil, &failure{code: report.ExitUsage, err: fmt.Errorf("--qlog: %w; name a directory that you may write to", err)}
		}
		o.QLogDir = r.qlog
	}
	if r.keyLog == "" {
		return func() {}, nil
	}
	// Secrets are for the user alone.
	file, err := os.OpenFile(r.keyLog, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, &failure{code: report.ExitUsage, err: fmt.Errorf("--keylog: %w; name a file that you may write to", err)}
	}
	o.KeyLog = file
	return func() { _ = file.Close() }, nil
}
