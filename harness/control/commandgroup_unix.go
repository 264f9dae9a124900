//go:build unix && !linux

package control

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the child into a process group of its own.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // it may be gone
}
