package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

const (
	// maxOutput bounds what is kept of each of a command's two outputs, in bytes.
	maxOutput = 1 << 20
	// pipeGrace is how long a command's outputs are read after its end, while a
	// program that it left behind holds them open.
	pipeGrace = 500 * time.Millisecond
)

// CommandLine is the target's command line: a program that is run with arguments.
type CommandLine struct {
	// Program is the program and its first arguments; required.
	Program []string
	// Loopback are further arguments of `daemon` that keep it at 127.0.0.1, where the
	// program has such; nil where that is not known.
	Loopback []string
}

// Invocation says how the program is run once.
type Invocation struct {
	// Args follow the program.
	Args []string
	// Input is the whole of its standard input; empty means that there is none.
	Input []byte
	// Environment is the whole environment, NAME=VALUE.
	Environment []string
	// Dir is the working directory.
	Dir string
}

// Command is a program that was started. One goroutine owns the process and waits
// for it; Close ends it with all of its process group.
type Command struct {
	// Args that it was started with, without the program.
	Args []string
	// Started is when.
	Started time.Time

	command *exec.Cmd
	ended   chan struct{}

	mu       sync.Mutex // guards what follows
	out, err bytes.Buffer
	changed  chan struct{} // closed and replaced at each change
	finished time.Time
}

// Start runs the program.
func (c *CommandLine) Start(i Invocation) (*Command, error) {
	if c == nil || len(c.Program) == 0 {
		return nil, errors.New("run a command: there is no program; name it with --cli")
	}
	args := append(append([]string{}, c.Program[1:]...), i.Args...)
	r := &Command{Args: i.Args, Started: time.Now(), command: exec.Command(c.Program[0], args...), ended: make(chan struct{}), changed: make(chan struct{})}
	r.command.Env, r.command.Dir = i.Environment, i.Dir
	r.command.Stdout, r.command.Stderr = output{r, &r.out}, output{r, &r.err}
	if len(i.Input) > 0 {
		r.command.Stdin = bytes.NewReader(i.Input)
	}
	r.command.WaitDelay = pipeGrace
	ownGroup(r.command)
	started := make(chan error)
	go func() {
		// Linux ends the child when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := r.command.Start()
		started <- err
		if err != nil {
			return
		}
		_ = r.command.Wait() // the state tells how it ended
		// What it left behind; at once, while its number cannot be another's.
		killGroup(r.command.Process)
		r.mu.Lock()
		r.finished = time.Now()
		r.mu.Unlock()
		close(r.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("run %s: %w; is it a program that can be run here?", c.Program[0], err)
	}
	return r, nil
}

// output keeps what is written up to the bound, and lets the command write on.
type output struct {
	command *Command
	kept    *bytes.Buffer
}

func (o output) Write(p []byte) (int, error) {
	o.command.mu.Lock()
	defer o.command.mu.Unlock()
	o.kept.Write(p[:min(len(p), maxOutput-o.kept.Len())])
	close(o.command.changed)
	o.command.changed = make(chan struct{})
	return len(p), nil
}

// Output is what it has written so far, on standard output and standard error.
func (r *Command) Output() (out, err []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.out.Bytes()), bytes.Clone(r.err.Bytes())
}

// Ended is closed once it has ended and its outputs are complete.
func (r *Command) Ended() <-chan struct{} { return r.ended }

// Code is its exit code, -1 where a signal ended it. It may be asked once it ended.
func (r *Command) Code() int { return r.command.ProcessState.ExitCode() }

// Finished is when it ended.
func (r *Command) Finished() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.finished
}

// PID of the process.
func (r *Command) PID() int { return r.command.Process.Pid }

// Signal sends it a signal. That it has ended is no error.
func (r *Command) Signal(s os.Signal) error {
	if err := r.command.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Await waits until what it has written is as wanted; false when it ended before,
// or ctx did.
func (r *Command) Await(ctx context.Context, wanted func(out, err []byte) bool) bool {
	for ended := false; ; {
		r.mu.Lock()
		changed := r.changed
		found := wanted(r.out.Bytes(), r.err.Bytes())
		r.mu.Unlock()
		switch {
		case found:
			return true
		case ended:
			return false
		}
		select {
		case <-changed:
		case <-r.ended:
			ended = true
		case <-ctx.Done():
			return false
		}
	}
}

// Close ends it and its process group without a word, and waits. Once it has ended
// nothing is left to be done.
func (r *Command) Close() {
	select {
	case <-r.ended:
	default:
		killGroup(r.command.Process)
		<-r.ended
	}
}
