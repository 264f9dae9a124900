//go:build !unix

package cli

import (
	"errors"
	"os"
	"os/exec"
)

func bindToParent(*exec.Cmd) {}

var errNoSignal = errors.New("processes cannot be asked to end here")

// askToEnd cannot ask here, so the process is ended at once.
func askToEnd(*os.Process) error { return errNoSignal }
