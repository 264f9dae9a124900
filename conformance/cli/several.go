package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
)

// maxReports bounds how many reports a command reads.
const maxReports = 200

func (p *program) diffCommand() *cobra.Command {
	var to, output string
	forms := []string{"text", "markdown", "json"}
	c := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Show what changed from one report to another",
		Long: `Compare two JSON reports: what is newly broken, newly fixed and newly applicable,
and what can no longer be told. Checks are told apart by file and name, so that
reports of two versions of the suite can be compared.

Exit codes: 0 nothing that counts is newly broken, 1 something is, 2 usage.`,
		Example: `  axon-conformance diff before.json after.json
  axon-conformance diff main.json branch.json --to markdown --output comment.md`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("name two reports, the earlier one first: %s diff before.json after.json", programName)
			}
			return oneStandardInput(args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkFormat("--to", to, forms); err != nil {
				return err
			}
			before, err := p.readReport(args[0])
			if err != nil {
				return err
			}
			after, err := p.readReport(args[1])
			if err != nil {
				return err
			}
			d := report.Diff(args[0], before, args[1], after)
			write := map[string]func(io.Writer) error{"text": d.WriteText, "markdown": d.WriteMarkdown, "json": d.WriteJSON}[to]
			if err := p.writeTo(output, func(w io.Writer, _ string) error { return write(w) }); err != nil {
				return err
			}
			if d.Worse() {
				return exit(report.ExitBroken)
			}
			return nil
		},
	}
	c.Flags().StringVar(&to, "to", "text", "`FORM` to write: text, markdown or json")
	addOutput(c, &output)
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// oneStandardInput refuses a second "-".
func oneStandardInput(args []string) error {
	n := 0
	for _, a := range args {
		if a == standardInput {
			n++
		}
	}
	if n > 1 {
		return usagef("only one report can come from standard input; store the others in files")
	}
	return nil
}

func (p *program) matrixCommand() *cobra.Command {
	var to, output string
	forms := []string{"text", "markdown", "html"}
	c := &cobra.Command{
		Use:   "matrix [NAME=]FILE...",
		Short: "Show implementations side by side",
		Long: `Put the JSON reports of several implementations side by side, a row for each
requirement. A column is called NAME, or as the implementation calls itself, or
after its file.`,
		Example: `  axon-conformance matrix ours.json theirs.json
  axon-conformance matrix ours=a.json theirs=b.json --to html --output matrix.html`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usagef("name at least one report: %s matrix ours.json theirs.json", programName)
			case len(args) > maxReports:
				return usagef("%d reports are too many to stand side by side; name %d at most", len(args), maxReports)
			}
			return oneStandardInput(args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkFormat("--to", to, forms); err != nil {
				return err
			}
			entries, err := p.matrixEntries(args)
			if err != nil {
				return err
			}
			m := report.NewMatrix(entries)
			write := map[string]func(io.Writer) error{"text": m.WriteText, "markdown": m.WriteMarkdown, "html": m.WriteHTML}[to]
			return p.writeTo(output, func(w io.Writer, _ string) error { return write(w) })
		},
	}
	c.Flags().StringVar(&to, "to", "text", "`FORM` to write: text, markdown or html")
	addOutput(c, &output)
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// matrixEntries reads the reports and gives each a name of its own.
func (p *program) matrixEntries(args []string) ([]report.MatrixEntry, error) {
	var entries []report.MatrixEntry
	taken := map[string]bool{}
	for _, arg := range args {
		name, path, named := strings.Cut(arg, "=")
		if !named {
			name, path = "", arg
		} else if name == "" || path == "" {
			return nil, usagef("%s: write NAME=FILE, or the file alone", arg)
		}
		r, err := p.readReport(path)
		if err != nil {
			return nil, err
		}
		if !named {
			if name = strings.TrimSpace(r.Target.Name + " " + r.Target.Version); name == "" || taken[name] {
				name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
			}
			for base, n := name, 2; taken[name]; n++ {
				name = fmt.Sprintf("%s (%d)", base, n)
			}
		} else if taken[name] {
			return nil, usagef("two columns are called %q; give each a name of its own", name)
		}
		taken[name] = true
		entries = append(entries, report.MatrixEntry{Name: name, Report: r})
	}
	return entries, nil
}

func (p *program) badgeCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "badge FILE",
		Short: "Draw a badge of a report, as SVG",
		Long: `Draw a small SVG picture that says how many of the MUSTs that apply hold, as in
"AXON 2026-02-16: 71/71 MUST".`,
		Example: "  axon-conformance badge report.json --output axon.svg",
		Args:    oneFile("badge report.json"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := p.readReport(args[0])
			if err != nil {
				return err
			}
			return p.writeTo(output, func(w io.Writer, _ string) error { return report.WriteBadge(w, r) })
		},
	}
	addOutput(c, &output)
	return c
}

func (p *program) mergeCommand() *cobra.Command {
	f := &runFlags{}
	var features string
	c := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Join the reports of the parts of a run",
		Long: `Join the JSON reports of all parts that run --shard I/N made into the report of the
whole run. It ends with the exit code that one run would have ended with.

Checks that judge a whole run are in each part and judge what that part saw;
joined they have the worst verdict that they had. docs/ci.md says more. A baseline
is best applied here, since only the whole shows that an entry passes.`,
		Example: `  axon-conformance merge part-1.json part-2.json part-3.json --report json=report.json
  axon-conformance merge part-*.json --baseline known.yaml --report html=report.html`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usagef("name the reports of all parts: %s merge part-1.json part-2.json", programName)
			case len(args) > maxShards:
				return usagef("%d reports are too many; a run has %d parts at most", len(args), maxShards)
			}
			return oneStandardInput(args)
		},
		RunE: func(c *cobra.Command, args []string) error { return p.merge(c, f, features, args) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.reports, "report", nil, "write a report as `FORMAT=PATH`; text, json, junit, html or markdown; - is standard output; repeatable")
	f.expected.add(c)
	flags.BoolVar(&f.quiet, "quiet", false, "only what is broken and the conclusion")
	flags.BoolVar(&f.verbose, "verbose", false, "whole transcripts, and what was observed")
	addFeatures(c, &features)
	c.MarkFlagsMutuallyExclusive("quiet", "verbose")
	return c
}

// merge joins reports of parts, and from then on does as run does.
func (p *program) merge(c *cobra.Command, f *runFlags, features string, args []string) error {
	files, err := p.featureFiles(features)
	if err != nil {
		return err
	}
	outputs, err := parseOutputs(f.reports)
	if err != nil {
		return err
	}
	var parts []report.Report
	for _, path := range args {
		r, err := p.readReport(path)
		if err != nil {
			return err
		}
		parts = append(parts, r)
	}
	edition := ""
	if len(parts) > 0 {
		edition = parts[0].Suite.Edition
	}
	all, err := p.everyCheck(files, edition)
	if err != nil {
		return err
	}
	position := map[string]int{}
	for i, check := range all {
		position[check.Location] = i + 1
	}
	merged, err := report.Merge(parts, func(a, b string) int {
		i, j := position[a], position[b]
		switch {
		case i == 0 && j == 0:
			return strings.Compare(a, b)
		case i == 0:
			return 1
		case j == 0:
			return -1
		}
		return i - j
	})
	if err != nil {
		if errors.Is(err, report.ErrCannotMerge) {
			return &failure{code: report.ExitUsage, err: err}
		}
		return err
	}
	expected, err := f.expected.open(c, outputs)
	if err != nil {
		return err
	}
	defer expected.discard()
	if err := openOutputs(outputs); err != nil {
		return err
	}
	defer discardOutputs(outputs)
	if err := p.hold(expected, &merged, files, f.quiet); err != nil {
		return err
	}
	return p.writeReports(f, outputs, merged)
}
