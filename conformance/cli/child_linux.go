package cli

import (
	"os"
	"os/exec"
	"syscall"
)

// bindToParent lets the kernel end the child when this program is killed, and
// keeps the terminal's signals from it: it ends when we say so.
func bindToParent(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

func askToEnd(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
