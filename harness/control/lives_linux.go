package control

import (
	"bytes"
	"fmt"
	"os"
)

// Lives tells whether a process runs. One that has ended and that nobody has asked for
// its end yet does not.
func Lives(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the name, which stands in brackets.
	after := b[bytes.LastIndexByte(b, ')')+1:]
	return len(after) < 2 || after[1] != 'Z' && after[1] != 'X'
}
