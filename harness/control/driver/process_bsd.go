//go:build unix && !linux

package driver

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group of its own and keeps the terminal's signals
// from it. There is no way here to bind its life to ours.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
