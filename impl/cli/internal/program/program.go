// Package program runs one program per request: input on its standard input,
// the answer from its standard output, and an end to it and to its children
// when nobody waits for them any longer.
//
// It imports no package of this module. It serves AXON-CLI-020 to -023.
package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Why a run gave no answer.
var (
	// ErrTimeout reports a program that was ended after Options.Timeout.
	ErrTimeout = errors.New("the program took too long and was ended; give it more time with --timeout, or make it faster")
	// ErrTooLarge reports a program that wrote more than Options.MaxOutput.
	ErrTooLarge = errors.New("the program wrote more than an answer may hold and was ended; let it print less")
	// ErrFailed reports a program that ended with another status than zero.
	ErrFailed = errors.New("the program failed")
	// ErrNotStarted reports a program that cannot be run.
	ErrNotStarted = errors.New("the program cannot be started; check its path and permissions")
)

// pipeGrace is how long the pipes are kept after the program has ended, for
// children that still hold them.
const pipeGrace = time.Second

// Options of Run.
type Options struct {
	// Args are the program and its arguments. Required.
	Args []string
	// Env is added to the environment of this process.
	Env []string
	// Timeout is how long the program may run. Zero: as long as ctx.
	Timeout time.Duration
	// MaxOutput is how many bytes it may write. Zero: no limit.
	MaxOutput int
	// Stderr takes what it writes on standard error. Nil: nothing does.
	Stderr io.Writer

	grace time.Duration // in place of pipeGrace, in tests
}

// Run runs the program once and returns what it wrote on standard output. When
// ctx or the time ends the program is killed with its children, and so it is
// when it writes too much; Run has waited for it whenever it returns.
func Run(ctx context.Context, o Options, input []byte) ([]byte, error) {
	if len(o.Args) == 0 {
		return nil, fmt.Errorf("%w: no program is given", ErrNotStarted)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if o.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, o.Timeout, ErrTimeout)
		defer stop()
	}
	cmd := exec.CommandContext(ctx, o.Args[0], o.Args[1:]...)
	cmd.Env = append(os.Environ(), o.Env...)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Stderr = o.Stderr
	out := &limited{max: o.MaxOutput, full: func() { cancel(ErrTooLarge) }}
	cmd.Stdout = out
	cmd.WaitDelay = pipeGrace
	if o.grace > 0 {
		cmd.WaitDelay = o.grace
	}
	family, err := newTree(cmd)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	defer family.close()
	cmd.Cancel = family.kill
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	family.join()
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, context.Cause(ctx)
	case out.overflowed:
		return nil, ErrTooLarge
	case errors.Is(err, exec.ErrWaitDelay):
		// It ended well; a child of its holds the pipes open.
		_ = family.kill()
		return out.kept.Bytes(), nil
	case errors.As(err, &exit):
		return nil, fmt.Errorf("%w: %s", ErrFailed, exit.ProcessState)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return out.kept.Bytes(), nil
}

// limited keeps what is written up to a number of bytes. It has no ReadFrom, by
// which the limit could be passed.
type limited struct {
	kept       bytes.Buffer
	max        int // 0: no limit
	full       func()
	overflowed bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.max > 0 && l.kept.Len()+len(p) > l.max {
		l.overflowed = true
		l.full()
		return 0, ErrTooLarge
	}
	return l.kept.Write(p)
}
