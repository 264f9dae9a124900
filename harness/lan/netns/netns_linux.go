package netns

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

const supported = true

func private(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
}

// Do runs a function on a thread inside of the namespace: sockets that it opens
// belong there for good. What it starts as goroutines runs outside.
func (n *Namespace) Do(f func() error) error {
	done := make(chan error, 1)
	go func() {
		// The thread is never unlocked, so that it ends with the goroutine and
		// nobody else is given a thread in the wrong namespace.
		runtime.LockOSThread()
		done <- n.enter(f)
	}()
	return <-done
}

func (n *Namespace) enter(f func() error) error {
	place := filepath.Join("/var/run/netns", n.name)
	fd, err := unix.Open(place, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the namespace %s: %w", place, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the namespace %s: %w", place, err)
	}
	return f()
}
