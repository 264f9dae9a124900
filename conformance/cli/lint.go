package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
)

func (p *program) lintCommand() *cobra.Command {
	var features string
	var asJSON bool
	c := &cobra.Command{
		Use:   "lint",
		Short: "Look for what an author of scenarios should mend",
		Long: `Read the feature files and name what should be mended: steps that nobody defines,
with the nearest one; tags without a sentence; a claim that something did not
happen with nothing behind it that shows that it would have by then; scenarios in
the wrong file or out of the order of the text; steps that no scenario uses, or
that are nearly the same. Exit 1 when there is one.`,
		Example: `  axon-conformance lint
  axon-conformance lint --features ./features`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			files, err := p.featureFiles(features)
			if err != nil {
				return err
			}
			found, err := suite.Lint(files, features == "")
			if err != nil {
				return engineError(err)
			}
			if asJSON {
				if found == nil {
					found = []suite.Finding{}
				}
				if err := writeJSON(p.out, found); err != nil {
					return err
				}
			} else {
				for _, f := range found {
					fmt.Fprintf(p.out, "%s: %s: %s\n", f.Place, f.Rule, report.Printable(f.Text))
				}
			}
			if len(found) > 0 {
				fmt.Fprintf(p.err, "%s: %d to mend\n", programName, len(found))
				return exit(report.ExitBroken)
			}
			return nil
		},
	}
	addFeatures(c, &features)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return c
}
