//go:build unix

package credential

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ownFile refuses a private file that is not ours alone.
func ownFile(path string, info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: %s belongs to user %d; name a file of your own, then run chmod 600 on it", ErrIdentityFile, path, stat.Uid)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%w: others may open %s (mode %04o); run chmod 600 %s", ErrIdentityFile, path, info.Mode().Perm(), path)
	}
	return nil
}
