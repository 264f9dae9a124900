package cli

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completionCeiling is how long a shell may be kept waiting for what it offers.
const completionCeiling = 500 * time.Millisecond

var shells = []string{"bash", "zsh", "fish"}

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes commands in a shell",
		Long: paragraphs(
			"Print a script that teaches a shell to complete the commands, flags and peers of axon. Names and agent ids of peers come from the running daemon.") +
			arguments("SHELL", "bash, zsh or fish"),
		Example: lines("source <(axon completion bash)",
			`axon completion zsh > "${fpath[1]}/_axon"`,
			"axon completion fish > ~/.config/fish/completions/axon.fish"),
		Args:      wantArgs("SHELL"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, root := cmd.OutOrStdout(), cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			}
			return usagef("shell %q is not known%s give one of %s", args[0], orSemicolon(didYouMean(args[0], shells)), strings.Join(shells, ", "))
		},
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
