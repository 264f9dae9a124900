package control

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the child into a process group of its own, and has the kernel end it
// when this program is killed.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // it may be gone
}
