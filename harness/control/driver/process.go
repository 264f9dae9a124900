package driver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

const (
	// drainPatience is how long lines of a driver that has ended may still come.
	drainPatience = 300 * time.Millisecond
	// leavePatience is how long a driver may take to end, once its standard input
	// is closed and again once it was asked to.
	leavePatience = 2 * time.Second
	// longestWords is the longest line of standard error that is looked at.
	longestWords = 4 << 10
)

// process is a driver that was started here, in a process group of its own.
type process struct {
	command       *exec.Cmd
	stdin, stdout *os.File
	stderr        *os.File
	words         tail
	exited        chan struct{}
	heard         chan struct{} // closed at the end of standard error
	work          sync.WaitGroup

	mu    sync.Mutex // guards what follows
	state string
	// alone: when the program ended, nothing else was left of its group, so its
	// number may belong to others by now.
	alone bool
}

// start starts a program. Its standard error is read to its end.
func start(command []string) (link, error) {
	p := &process{exited: make(chan struct{}), heard: make(chan struct{})}
	p.command = exec.Command(command[0], command[1:]...)
	var theirs []*os.File
	pipe := func() (ours, other *os.File, err error) {
		r, w, err := os.Pipe()
		return r, w, err
	}
	closeAll := func(files ...*os.File) {
		for _, f := range files {
			if f != nil {
				_ = f.Close()
			}
		}
	}
	var err error
	var in, out, words *os.File
	if in, p.stdin, err = pipe(); err == nil {
		if p.stdout, out, err = pipe(); err == nil {
			p.stderr, words, err = pipe()
		}
	}
	theirs = []*os.File{in, out, words}
	if err != nil {
		closeAll(append(theirs, p.stdin, p.stdout, p.stderr)...)
		return nil, fmt.Errorf("make pipes for the driver: %w", err)
	}
	p.command.Stdin, p.command.Stdout, p.command.Stderr = in, out, words
	ownGroup(p.command)
	began := make(chan error)
	p.work.Go(func() {
		// Linux ends the process when the thread that started it ends, so this
		// goroutine keeps its thread for as long as the process lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.command.Start()
		began <- err
		if err == nil {
			p.wait()
		}
	})
	err = <-began
	closeAll(theirs...)
	if err != nil {
		p.work.Wait()
		closeAll(p.stdin, p.stdout, p.stderr)
		return nil, fmt.Errorf("start the driver: %w; check the program's name and path", err)
	}
	p.work.Go(p.listen)
	return p, nil
}

// wait ends when the program has.
func (p *process) wait() {
	defer close(p.exited)
	_ = p.command.Wait()
	p.mu.Lock()
	p.state = p.command.ProcessState.String()
	p.alone = !groupLives(p.command.Process.Pid)
	p.mu.Unlock()
	// Something that it left behind may hold its output open.
	_ = p.stdout.SetReadDeadline(time.Now().Add(drainPatience))
}

// listen keeps the last lines of standard error.
func (p *process) listen() {
	defer close(p.heard)
	reader := bufio.NewReaderSize(p.stderr, longestWords)
	for {
		line, err := reader.ReadSlice('\n')
		p.words.add(string(line))
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = reader.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

func (p *process) Read(b []byte) (int, error) {
	n, err := p.stdout.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

func (p *process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

func (p *process) lastWords() []string { return p.words.last(tailLines) }

// ending says how the driver ended, once its last words have been heard.
func (p *process) ending() string {
	patience := time.After(drainPatience)
	select {
	case <-p.exited:
		select {
		case <-p.heard:
		case <-patience: // something that it left behind holds it open
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return "the driver has ended (" + p.state + ")"
	case <-patience:
		return "the driver closed its standard output"
	}
}

// close lets the driver end by itself, then asks its group to, then ends the group.
func (p *process) close() {
	_ = p.stdin.Close()
	if !p.left(leavePatience) {
		p.signal(askToEnd)
		p.left(leavePatience)
	}
	// Always: what it started may have outlived it.
	p.signal(kill)
	<-p.exited
	// Something in another group may hold the pipes open.
	_ = p.stdout.Close()
	_ = p.stderr.SetReadDeadline(time.Now().Add(drainPatience))
	p.work.Wait()
	_ = p.stderr.Close()
}

func (p *process) left(patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// signal reaches the whole group, unless nothing is left of it.
func (p *process) signal(how func(pid int)) {
	p.mu.Lock()
	alone := p.alone
	p.mu.Unlock()
	if !alone {
		how(p.command.Process.Pid)
	}
}
