//go:build !linux

package netns

import "os/exec"

const supported = false

func private(*exec.Cmd) {}

// Do runs a function inside of the namespace, which only Linux has.
func (n *Namespace) Do(func() error) error { return ErrImpossible }
