package cli

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	// lastLines of a child's log are kept for its last words.
	lastLines = 50
	// longestLine of a child's log that is kept, in bytes.
	longestLine = 8 << 10
)

// readiness is what the daemon logs once it can be met.
type readiness struct {
	Message string `json:"msg"`
	Address string `json:"address"`
	AgentID string `json:"agent_id"`
	key     ed25519.PublicKey
}

// child is a started process. One goroutine owns it and waits for it, another
// reads its log; both have ended when ended is closed.
type child struct {
	command *exec.Cmd
	ended   chan struct{}
	ready   chan readiness

	mu    sync.Mutex // guards lines and state
	lines []string
	state string
}

// startChild starts a command whose log is its standard error.
func startChild(command, environment []string) (*child, error) {
	c := &child{ended: make(chan struct{}), ready: make(chan readiness, 1)}
	c.command = exec.Command(command[0], command[1:]...)
	c.command.Env = environment
	bindToParent(c.command)
	pipe, err := c.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go func() {
		// Linux ends the child when the thread that started it ends, so this
		// goroutine keeps its thread for as long as the child lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.command.Start()
		started <- err
		if err != nil {
			return
		}
		defer close(c.ended)
		c.readLog(pipe)
		_ = c.command.Wait()
		c.mu.Lock()
		c.state = c.command.ProcessState.String()
		c.mu.Unlock()
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%w; is %s still where it was?", err, command[0])
	}
	return c, nil
}

// readLog keeps the last lines and looks for the ready line, until the log ends.
func (c *child) readLog(log io.Reader) {
	reader := bufio.NewReaderSize(log, longestLine)
	for {
		line, err := reader.ReadSlice('\n')
		c.keep(strings.TrimSpace(string(line)))
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = reader.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

func (c *child) keep(line string) {
	if line == "" {
		return
	}
	var r readiness
	if json.Unmarshal([]byte(line), &r) == nil && r.Message == "ready" {
		select {
		case c.ready <- r:
		default:
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) == lastLines {
		c.lines = c.lines[1:]
	}
	c.lines = append(c.lines, line)
}

// lastWords is the end of the log as an ending for an error, or empty.
func (c *child) lastWords() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) == 0 {
		return "; it logged nothing"
	}
	return "; its last words:\n  " + strings.Join(c.lines, "\n  ")
}

// alive is nil while the process lives, and afterwards an error with its end and
// its last words.
func (c *child) alive() error {
	select {
	case <-c.ended:
		c.mu.Lock()
		state := c.state
		c.mu.Unlock()
		return fmt.Errorf("the process has ended (%s)%s", state, c.lastWords())
	default:
		return nil
	}
}

// awaitReady waits for the ready line, the end of the process or that of ctx.
func (c *child) awaitReady(ctx context.Context) (readiness, error) {
	select {
	case r := <-c.ready:
		return r, nil
	case <-c.ended:
		return readiness{}, c.alive()
	case <-ctx.Done():
		return readiness{}, ctx.Err()
	}
}

// stop asks the process to end, and ends it when it has not after the ceiling.
// The process is gone when stop returns.
func (c *child) stop(ceiling time.Duration) {
	if askToEnd(c.command.Process) != nil {
		_ = c.command.Process.Kill()
	}
	timer := time.NewTimer(ceiling)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
		_ = c.command.Process.Kill()
		<-c.ended
	}
}
