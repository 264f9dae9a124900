//go:build unix

package program

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// tree is a program and its children: a process group of their own.
type tree struct{ cmd *exec.Cmd }

func newTree(cmd *exec.Cmd) (*tree, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &tree{cmd}, nil
}

// join is called once the program has started.
func (t *tree) join() {}

// kill ends all of them. A child that has left the group is not reached.
func (t *tree) kill() error {
	err := syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

func (t *tree) close() {}
