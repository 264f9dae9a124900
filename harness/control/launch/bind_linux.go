package launch

import (
	"os/exec"
	"syscall"
)

// bindToParent has the kernel end the child when this program is killed.
func bindToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
