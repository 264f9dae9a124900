package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/internal/config"
)

// usageError is the user's to correct.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// usageArgs makes the errors of an argument check usage errors.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef("%w; see `%s --help`", err, cmd.CommandPath())
		}
		return nil
	}
}

// exitCode is the one table from errors to exit codes.
func exitCode(err error) int {
	var usage *usageError
	switch {
	case errors.As(err, &usage), errors.Is(err, config.ErrInvalid):
		return ExitUsage
	}
	return ExitFailed
}
