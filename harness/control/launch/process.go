package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
)

const (
	// keptLines of a daemon's log are kept; the first ones go first.
	keptLines = 2000
	// quotedLines of them stand in an error.
	quotedLines = 20
	// longestLine that is kept, in bytes.
	longestLine = 8 << 10
)

// process is a started daemon. One goroutine owns it, reads its log and waits for
// its end.
type process struct {
	command *exec.Cmd
	ended   chan struct{}

	mu    sync.Mutex // guards what follows
	lines []string
	state string
}

func startProcess(command, environment []string) (*process, error) {
	p := &process{ended: make(chan struct{})}
	p.command = exec.Command(command[0], command[1:]...)
	p.command.Env = environment
	bindToParent(p.command)
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.command.Stdout, p.command.Stderr = write, write
	started := make(chan error)
	go func() {
		// Linux ends the child when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = read.Close() }()
		err := p.command.Start()
		_ = write.Close()
		started <- err
		if err != nil {
			return
		}
		defer close(p.ended)
		p.read(read)
		_ = p.command.Wait()
		p.mu.Lock()
		p.state = p.command.ProcessState.String()
		p.mu.Unlock()
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// read keeps lines until nobody writes any more.
func (p *process) read(log io.Reader) {
	reader := bufio.NewReaderSize(log, longestLine)
	for {
		line, err := reader.ReadSlice('\n')
		if text := strings.TrimSpace(string(line)); text != "" {
			p.mu.Lock()
			if len(p.lines) >= keptLines {
				p.lines = slices.Clone(p.lines[keptLines/4:])
			}
			p.lines = append(p.lines, text)
			p.mu.Unlock()
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = reader.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

func (p *process) log() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lines)
}

func (p *process) lastWords() string {
	lines := p.log()
	if len(lines) == 0 {
		return "; it logged nothing"
	}
	return "; its last words: " + strings.Join(lines[max(0, len(lines)-quotedLines):], " | ")
}

func (p *process) alive() error {
	select {
	case <-p.ended:
		p.mu.Lock()
		state := p.state
		p.mu.Unlock()
		return fmt.Errorf("the daemon has ended (%s)%s", state, p.lastWords())
	default:
		return nil
	}
}

// end asks the process to end, or kills it, and waits.
func (p *process) end(ctx context.Context, kill bool) error {
	var err error
	if kill {
		err = p.command.Process.Kill()
	} else {
		err = p.command.Process.Signal(os.Interrupt)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end the daemon: %w", err)
	}
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the daemon did not end when it was asked to: %w", ctx.Err())
	}
}
