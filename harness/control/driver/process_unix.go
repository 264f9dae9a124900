//go:build unix

package driver

import (
	"errors"
	"syscall"
)

// groupLives tells whether any process of a group is left.
func groupLives(pid int) bool { return !errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH) }

func askToEnd(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

func kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
