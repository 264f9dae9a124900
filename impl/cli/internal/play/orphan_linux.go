package play

import (
	"os/exec"
	"syscall"
)

// tie ends the daemon when this process is killed.
func tie(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
