package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearest returns the candidate that text was most likely meant to be, or "" when
// none is near: at most a third of it, and one letter of a short word, may differ.
func nearest(text string, candidates []string) string {
	text = strings.ToLower(text)
	best, least := "", max(1, min(len(text), 24)/3)+1
	for _, c := range candidates {
		if d := distance(text, strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// didYouMean is nearest as part of a sentence, or nothing.
func didYouMean(text string, candidates []string) string {
	if c := nearest(text, candidates); c != "" {
		return fmt.Sprintf("; did you mean %q?", c)
	}
	return ""
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour that turn a into b.
func distance(a, b string) int {
	const enough = 64 // text of that length is near to nothing
	if len(a) > enough || len(b) > enough {
		return max(len(a), len(b))
	}
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row = old, row, older
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// unknownCommand is the argument check of a command that has subcommands.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usagef("unknown command %q%s see `%s --help`", args[0], orSemicolon(didYouMean(args[0], names)), cmd.CommandPath())
}

// orSemicolon ends a part of a sentence that may be missing.
func orSemicolon(part string) string {
	if part == "" {
		return ";"
	}
	return part
}

// flagError adds the nearest flag and where to look to the errors of flags.
func flagError(cmd *cobra.Command, err error) error {
	hint := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if c := nearest(unknown.GetSpecifiedName(), names); c != "" {
			hint = fmt.Sprintf("; did you mean --%s?", c)
		}
	}
	return usagef("%w%s see `%s --help`", err, orSemicolon(hint), cmd.CommandPath())
}
