package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/spec"
)

// writeJSON writes one indented JSON document.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func (p *program) listCommand() *cobra.Command {
	var s selectionFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "Show what a run would check",
		Long: `Show the scenarios that a run with the same selection would play, with the
requirements that they serve, their levels, and what a target must offer.`,
		Example: `  axon-conformance list
  axon-conformance list --level should
  axon-conformance list --tags "@AXON-REF-005 or @AXON-REF-006" --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			files, selection, err := s.read(p)
			if err != nil {
				return err
			}
			listed, err := p.env.Engine.List(files, selection)
			if err != nil {
				return engineError(err)
			}
			if asJSON {
				return writeJSON(p.out, listedJSON(listed))
			}
			table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "LOCATION\tREQUIREMENTS\tLEVELS\tNEEDS\tSCENARIO")
			for _, l := range listed {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", l.Location, strings.Join(l.IDs, " "),
					strings.Join(l.Levels, " "), strings.Join(l.Needs, " "), report.Printable(l.Name))
			}
			if err := table.Flush(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.out, "%d scenarios\n", len(listed))
			return err
		},
	}
	s.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return c
}

type listedEntry struct {
	Name     string   `json:"name"`
	Location string   `json:"location"`
	IDs      []string `json:"ids"`
	Levels   []string `json:"levels"`
	Needs    []string `json:"needs"`
}

func listedJSON(listed []suite.Listed) []listedEntry {
	entries := make([]listedEntry, 0, len(listed))
	for _, l := range listed {
		entries = append(entries, listedEntry{l.Name, l.Location,
			append([]string{}, l.IDs...), append([]string{}, l.Levels...), append([]string{}, l.Needs...)})
	}
	return entries
}

func (p *program) coverageCommand() *cobra.Command {
	var features string
	c := &cobra.Command{
		Use:   "coverage",
		Short: "Show which lines of the specification are checked, and by what",
		Long: `Follow each line of the specification to its requirements, their scenarios and
the broken peers that prove the scenarios. Exit 1 when there is a hole: a line, a
requirement or a scenario with nothing behind it, or a tag without a sentence.`,
		Example: "  axon-conformance coverage",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if p.env.Engine.Coverage == nil {
				return &failure{code: report.ExitHarnessError, err: fmt.Errorf("this build has no coverage report; build the program from a complete source tree")}
			}
			files, err := p.featureFiles(features)
			if err != nil {
				return err
			}
			found, err := p.env.Engine.Coverage(files)
			if err != nil {
				return engineError(err)
			}
			if _, err := io.WriteString(p.out, found.Text); err != nil {
				return err
			}
			return p.verdict("hole", found.Holes, "CONTRIBUTING.md says how each is closed")
		},
	}
	addFeatures(c, &features)
	return c
}

func (p *program) selfTestCommand() *cobra.Command {
	var features string
	var mutants []string
	var parallel int
	var verbose, quiet, whole, asJSON bool
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Judge the judge: run the suite against peers broken on purpose",
		Long: `Run the suite against peers that break one requirement each, and against some
that do odd but allowed things. Each broken peer must be failed by the requirement
that it breaks, and each odd one must pass. Exit 1 when one is not.`,
		Example: `  axon-conformance selftest
  axon-conformance selftest --mutant reply-twice --verbose`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if p.env.Engine.SelfTest == nil {
				return &failure{code: report.ExitHarnessError, err: fmt.Errorf("this build has no self test; build the program from a complete source tree")}
			}
			if parallel < 0 {
				return usagef("--parallel %d: it takes a number from 1 on, or 0 to leave it to the self test", parallel)
			}
			files, err := p.featureFiles(features)
			if err != nil {
				return err
			}
			o := SelfTestOptions{Features: files, Mutants: mutants, Parallel: parallel, Whole: whole, Verbose: verbose, Version: p.env.Version}
			if !quiet {
				o.Progress = p.err
			}
			found, err := p.env.Engine.SelfTest(c.Context(), o)
			if err != nil {
				return engineError(err)
			}
			if asJSON {
				err = writeJSON(p.out, found.Rows)
			} else {
				_, err = io.WriteString(p.out, found.Text)
			}
			if err != nil {
				return err
			}
			return p.verdict("survivor", found.Survivors, "a scenario is missing or too mild; see CONTRIBUTING.md")
		},
	}
	addFeatures(c, &features)
	c.Flags().StringSliceVar(&mutants, "mutant", nil, "only this `NAME`; repeatable, or separated by commas")
	c.Flags().IntVar(&parallel, "parallel", 0, "`N` broken peers at once (default: chosen by the self test)")
	c.Flags().BoolVar(&whole, "whole", false, "run every check against every peer; without it a broken peer meets all that concern it and one of each other requirement")
	c.Flags().BoolVar(&asJSON, "json", false, "print the matrix as one JSON array")
	c.Flags().BoolVar(&verbose, "verbose", false, "show each requirement that failed a peer")
	c.Flags().BoolVar(&quiet, "quiet", false, "show the matrix only")
	return c
}

// verdict ends a command that looks for defects of the suite itself.
func (p *program) verdict(what string, found []string, next string) error {
	if len(found) == 0 {
		return nil
	}
	for _, f := range found {
		fmt.Fprintf(p.err, "%s: %s\n", what, report.Printable(f))
	}
	fmt.Fprintf(p.err, "%s: %d %ss; %s\n", programName, len(found), what, next)
	return exit(report.ExitBroken)
}

func (p *program) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of the suite and of the text that it checks",
		Long:    "Print the version of the suite and the edition of AXON Message Types that it checks.",
		Example: "  axon-conformance version --json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return writeJSON(p.out, struct {
					Version string `json:"version"`
					Edition string `json:"edition"`
					Go      string `json:"go"`
				}{p.env.Version, spec.Edition, runtime.Version()})
			}
			_, err := fmt.Fprintf(p.out, "%s %s, edition %s, %s %s/%s\n", programName, p.env.Version, spec.Edition,
				runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func (p *program) completionCommand() *cobra.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return &cobra.Command{
		Use:   "completion {bash|fish|powershell|zsh}",
		Short: "Print a completion script for a shell",
		Long: `Print a script that lets the shell complete commands, flags and values. Let the
shell read it: for bash, put  source <(axon-conformance completion bash)  into
~/.bashrc.`,
		Example:   "  source <(axon-conformance completion bash)",
		ValidArgs: shells,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name one shell: %s completion bash", programName)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch root := c.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(p.out, true)
			case "fish":
				return root.GenFishCompletion(p.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(p.out)
			case "zsh":
				return root.GenZshCompletion(p.out)
			}
			return usagef("there is no completion for %q%s", args[0], suggest(args[0], shells))
		},
	}
}
