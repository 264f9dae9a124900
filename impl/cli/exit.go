package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/cli/internal/program"
	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

// Exit codes of every command.
const (
	ExitOK      = 0
	ExitFailed  = 1 // a local failure: no daemon, a file, a socket
	ExitUsage   = 2 // wrong usage, a refusal by the daemon, or a remote error
	ExitTimeout = 3
)

// errTimeout ends a command whose own time ran out.
var errTimeout = errors.New("timed out")

// errInterrupted ends a command that was interrupted before it had done its work.
var errInterrupted = errors.New("interrupted; run the command again to have it done")

// exitCode is the one table from errors to exit codes: the first row that
// matches counts, and what is in no row is a local failure.
func exitCode(err error) int {
	for _, row := range []struct {
		code    int
		matches bool
	}{
		{ExitOK, err == nil},
		{ExitTimeout, isAny(err, errTimeout, client.ErrTimeout, context.DeadlineExceeded)},
		{ExitFailed, isAny(err, client.ErrInternal)},
		{ExitUsage, as[*usageError](err)},
		{ExitUsage, as[*client.RemoteError](err)},
		{ExitUsage, as[*client.Error](err)},
		{ExitUsage, isAny(err, config.ErrInvalid, config.ErrUnknownKey, client.ErrBadPayload, program.ErrBadCommand,
			identity.ErrBadAgentID, identity.ErrBadToken, identity.ErrBadPublicKey)},
	} {
		if row.matches {
			return row.code
		}
	}
	return ExitFailed
}

func isAny(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// usageError is the user's to correct.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// wantArgs demands so many arguments and names the missing ones.
func wantArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef("%s is missing; write `%s`, see `%s --help`", names[len(args)], strings.TrimSuffix(cmd.UseLine(), " [flags]"), cmd.CommandPath())
		case len(args) > len(names) && len(names) > 0:
			return usagef("there are %d arguments too many, from %q on; put an argument that has spaces in it into quotes, see `%s --help`",
				len(args)-len(names), args[len(names)], cmd.CommandPath())
		case len(args) > 0 && len(names) == 0:
			return usagef("%q is one argument too many; `%s` takes none, see `%[2]s --help`", args[0], cmd.CommandPath())
		}
		return nil
	}
}
