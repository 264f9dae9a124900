package driver

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group of its own, keeps the terminal's signals from
// it, and lets the kernel end it when this program is killed.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
