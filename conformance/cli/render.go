package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
)

// standardInput is the argument that stands for standard input.
const standardInput = "-"

// readReport reads a stored JSON report; "-" is standard input.
func (p *program) readReport(path string) (report.Report, error) {
	wrong := func(err error) error { return &failure{code: report.ExitUsage, err: err} }
	in := p.in
	if path != standardInput {
		file, err := os.Open(path)
		if err != nil {
			next := "name a report that run --report json=FILE wrote"
			if errors.Is(err, fs.ErrPermission) {
				next = "make it readable"
			}
			return report.Report{}, wrong(fmt.Errorf("the report cannot be read: %w; %s", err, next))
		}
		defer func() { _ = file.Close() }()
		if info, err := file.Stat(); err == nil && info.IsDir() {
			return report.Report{}, wrong(fmt.Errorf("the report cannot be read: %s is a directory; name the JSON file in it", path))
		}
		in = file
	}
	r, err := report.ReadJSON(in)
	if err != nil {
		if path == standardInput {
			path = "standard input"
		}
		return report.Report{}, wrong(fmt.Errorf("%s: %w", path, err))
	}
	if path != standardInput {
		r = r.WithLinks(func(link string) string {
			if link = filepath.FromSlash(link); filepath.IsAbs(link) {
				return link
			}
			return filepath.Join(filepath.Dir(path), link)
		})
	}
	return r, nil
}

// checkFormat refuses a format that a command does not write.
func checkFormat(flag, format string, known []string) error {
	if !slices.Contains(known, format) {
		return usagef("%s %s: there is no such form%s; write one of %s", flag, format, suggest(format, known), strings.Join(known, ", "))
	}
	return nil
}

// addOutput adds the flag that says where a command writes.
func addOutput(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "output", "-", "`FILE` to write to; - is standard output")
}

// writeTo writes what a function produces to a file, whole or not at all, or to
// standard output for "-".
func (p *program) writeTo(path string, produce func(w io.Writer, dir string) error) error {
	if path == "" {
		return usagef("--output is empty; name a file, or leave it out")
	}
	if path == "-" {
		return produce(p.out, "")
	}
	o := &output{path: path}
	if err := o.open(); err != nil {
		return &failure{code: report.ExitUsage, err: err}
	}
	defer discardOutputs([]*output{o})
	if err := o.replace(func(w io.Writer) error { return produce(w, filepath.Dir(o.final)) }); err != nil {
		return &failure{code: report.ExitHarnessError, err: err}
	}
	return nil
}

// reportCommands are the commands that work with stored reports.
func (p *program) reportCommands() []*cobra.Command {
	return []*cobra.Command{p.reportCommand(), p.mergeCommand(), p.diffCommand(), p.matrixCommand(), p.badgeCommand()}
}

func (p *program) reportCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "report",
		Short: "Make other forms of a stored report",
		Long: `Work with the JSON reports that run --report json=FILE writes. They hold all that
a run found; the other forms can be made from them at any time.`,
		Example: "  axon-conformance report render report.json --to html --output report.html",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usagef("there is no command %q%s", c.CommandPath()+" "+args[0], suggest(args[0], commandNames(c)))
		},
		RunE: func(*cobra.Command, []string) error {
			return usagef("say what to do with the report: %s report render FILE --to html", programName)
		},
	}
	c.AddCommand(p.renderCommand())
	return c
}

func (p *program) renderCommand() *cobra.Command {
	var to, output string
	var verbose bool
	c := &cobra.Command{
		Use:   "render FILE",
		Short: "Write a stored JSON report in another form",
		Long: `Read a JSON report and write it as text, JUnit XML, HTML or Markdown, as the run
that made it would have done. FILE may be - for standard input. The exit code is 0
whatever the report says: it tells of the rendering alone.`,
		Example: `  axon-conformance report render report.json --to html --output report.html
  axon-conformance report render report.json --to markdown >> "$GITHUB_STEP_SUMMARY"
  axon-conformance report render report.json --to text --verbose`,
		Args: oneFile("report render report.json --to html"),
		RunE: func(_ *cobra.Command, args []string) error {
			if to == "" {
				return usagef("--to is missing; write --to with one of %s", strings.Join(formats, ", "))
			}
			if err := checkFormat("--to", to, formats); err != nil {
				return err
			}
			r, err := p.readReport(args[0])
			if err != nil {
				return err
			}
			return p.writeTo(output, func(w io.Writer, dir string) error {
				options := report.TextOptions{Verbose: verbose}
				if dir == "" {
					options = p.textOptions(&runFlags{verbose: verbose}, p.out)
				}
				return writeFormat(w, to, r, options, dir)
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "`FORM` to write: text, json, junit, html or markdown")
	addOutput(c, &output)
	c.Flags().BoolVar(&verbose, "verbose", false, "as text: whole transcripts, and what was observed and not applicable")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// oneFile wants exactly one argument, which names a report.
func oneFile(example string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usagef("name the JSON report: %s %s", programName, example)
		case len(args) > 1:
			return usagef("%s takes one report, but %q follows; options start with --", c.CommandPath(), args[1])
		}
		return nil
	}
}
