//go:build unix

package identity

import (
	"io/fs"
	"os"
	"syscall"
)

// stranger returns the owner of a file who is neither this user nor root.
func stranger(info fs.FileInfo) (owner int, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	owner = int(s.Uid)
	return owner, owner != 0 && owner != os.Geteuid()
}
