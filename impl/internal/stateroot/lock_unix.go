//go:build unix

package stateroot

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// noFollow refuses to open a symbolic link.
const noFollow = unix.O_NOFOLLOW

var errHeld = errors.New("another process holds the lock")

// lock uses flock, which belongs to the open file and so also keeps two daemons
// in one process apart.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		}
		return err
	}
}

func unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// restrict has nothing to do: the folder was made with a mode that keeps others
// out.
func restrict(string) error { return nil }

// Gaps lists what this platform lacks, for `axon doctor`.
func Gaps() []string { return nil }
