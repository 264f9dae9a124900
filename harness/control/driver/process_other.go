//go:build !unix

package driver

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// groupLives: there are no groups here, so nothing can be told of one.
func groupLives(int) bool { return false }

// askToEnd cannot ask here; kill follows.
func askToEnd(int) {}

func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
