package cli

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/spec"
)

// pageWidth is the length of the lines that explain prints.
const pageWidth = 90

// Mutant is a peer that is broken on purpose, as explain shows it.
type Mutant struct {
	Name         string   `json:"name"`
	Requirements []string `json:"requirements"`
	Fault        string   `json:"fault"`
}

// explained is one requirement with all that hangs on it.
type explained struct {
	ID        string          `json:"id"`
	Level     string          `json:"level"`
	Section   string          `json:"section"`
	Text      string          `json:"text"`
	Withdrawn bool            `json:"withdrawn,omitempty"`
	SeedLines []seedLine      `json:"seed_lines"`
	Source    string          `json:"source,omitempty"`
	Needs     [][]string      `json:"needs"`
	Why       string          `json:"why"`
	Fix       string          `json:"fix"`
	File      string          `json:"file"`
	Scenarios []suite.Written `json:"scenarios"`
	Mutants   []Mutant        `json:"mutants"`
}

type seedLine struct {
	Number int    `json:"number"`
	Note   string `json:"note"`
}

func (p *program) explainCommand() *cobra.Command {
	var features string
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain ID...",
		Short: "Explain a requirement: its sentence, why it matters, how it is checked",
		Long: `Show all there is to a requirement: the sentence and its level, the lines of the
specification that it comes from, why it matters, what usually breaks it and the
way out, its scenarios as they are written, and the peers broken on purpose that
prove that these scenarios find something.`,
		Example: `  axon-conformance explain AXON-KIND-002
  axon-conformance explain AXON-REF-005 AXON-REF-006 --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("explain needs the id of a requirement, as in '%s explain AXON-KIND-002'; '%s list' shows them", programName, programName)
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return requirementIDs(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := p.featureFiles(features)
			if err != nil {
				return err
			}
			var all []explained
			for _, id := range args {
				e, err := p.explain(files, id)
				if err != nil {
					return err
				}
				all = append(all, e)
			}
			if asJSON {
				return writeJSON(p.out, all)
			}
			for i, e := range all {
				if i > 0 {
					fmt.Fprintln(p.out)
				}
				if err := e.write(p.out); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addFeatures(c, &features)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return c
}

func (p *program) explain(files fs.FS, id string) (explained, error) {
	q, known := spec.Lookup(strings.ToUpper(id))
	if !known {
		return explained{}, usagef("there is no requirement %s%s; '%s list' shows them", id, suggest(strings.ToUpper(id), requirementIDs()), programName)
	}
	e := explained{
		ID: q.ID, Level: string(q.Level), Section: q.Section, Text: q.Text, Withdrawn: q.Withdrawn, Source: q.Source,
		SeedLines: []seedLine{}, Needs: [][]string{}, Why: q.Why, Fix: q.Fix, File: fmt.Sprintf("spec/%s:%d", q.File, q.Line), Mutants: []Mutant{},
	}
	for _, l := range spec.SeedLines() {
		if slices.Contains(q.SeedLines, l.Number) {
			e.SeedLines = append(e.SeedLines, seedLine{l.Number, l.Note})
		}
	}
	for _, together := range q.Needs {
		var names []string
		for _, n := range together {
			names = append(names, string(n))
		}
		e.Needs = append(e.Needs, names)
	}
	var err error
	if e.Scenarios, err = suite.WrittenFor(files, q.ID); err != nil {
		return explained{}, engineError(err)
	}
	if e.Scenarios == nil {
		e.Scenarios = []suite.Written{}
	}
	if p.env.Engine.Mutants != nil {
		for _, m := range p.env.Engine.Mutants() {
			if slices.Contains(m.Requirements, q.ID) {
				e.Mutants = append(e.Mutants, m)
			}
		}
	}
	return e, nil
}

// write prints it for people.
func (e explained) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  (%s)\n", e.ID, e.Level, e.Section)
	if e.Withdrawn {
		b.WriteString("  withdrawn: kept so that the id is not used again\n")
	}
	b.WriteString("  " + report.Wrap(e.Text, pageWidth, 2) + "\n\n")
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-11s  %s\n", name, report.Wrap(value, pageWidth, 15))
		}
	}
	for _, l := range e.SeedLines {
		field(fmt.Sprintf("seed line %d", l.Number), l.Note)
	}
	field("source", e.Source)
	var needs []string
	for _, together := range e.Needs {
		needs = append(needs, strings.Join(together, " and "))
	}
	field("needs", strings.Join(needs, ", or "))
	field("why", e.Why)
	field("usual cause", e.Fix)
	field("written at", e.File)

	checks := 0
	for _, s := range e.Scenarios {
		checks += len(s.Checks)
	}
	fmt.Fprintf(&b, "\nScenarios: %d, %d checks in all\n", len(e.Scenarios), checks)
	for _, s := range e.Scenarios {
		fmt.Fprintf(&b, "\n  features/%s\n", s.Location)
		for line := range strings.Lines(s.Text) {
			b.WriteString("    " + report.Printable(strings.TrimRight(line, "\n")) + "\n")
		}
	}
	fmt.Fprintf(&b, "\nPeers broken on purpose: %d\n", len(e.Mutants))
	for _, m := range e.Mutants {
		fmt.Fprintf(&b, "  %s\n      %s\n", m.Name, report.Wrap(m.Fault, pageWidth, 6))
	}
	if len(e.Scenarios) > 0 {
		fmt.Fprintf(&b, "\nCheck it:  %s run --target HOST:PORT --requirement %s\n", programName, e.ID)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
