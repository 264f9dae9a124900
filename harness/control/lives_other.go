//go:build !linux

package control

import (
	"os"
	"syscall"
)

// Lives tells whether there is a process of that number.
func Lives(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
