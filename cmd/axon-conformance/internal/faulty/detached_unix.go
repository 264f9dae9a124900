//go:build unix

package faulty

import (
	"bytes"
	"os/exec"
	"syscall"
)

// detached runs a program out of reach of who ends this one.
func (c *call) detached(command []string, input []byte) int {
	run := exec.Command(command[0], command[1:]...)
	run.Stdin = bytes.NewReader(input)
	run.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := run.Output()
	_, _ = c.out.Write(out)
	if err != nil {
		return 1
	}
	return 0
}
