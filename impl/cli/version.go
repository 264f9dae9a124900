package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Long:    "Print the version of this program and of the Go release that built it.",
		Example: lines("axon version", "axon version --json"),
		Args:    wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					Version  string `json:"version"`
					Go       string `json:"go"`
					Platform string `json:"platform"`
				}{version(), runtime.Version(), platform})
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "axon %s (%s %s)\n", version(), runtime.Version(), platform)
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// version is the module version that Go recorded, "(devel)" in a work tree.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
