//go:build unix && !linux

package cli

import (
	"os"
	"os/exec"
	"syscall"
)

// bindToParent keeps the terminal's signals from the child: it ends when we say
// so. There is no way here to bind its life to ours.
func bindToParent(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func askToEnd(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
