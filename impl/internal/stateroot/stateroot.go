// Package stateroot looks after the folder that holds a daemon's identity,
// configuration, peers and socket: it makes the folder, keeps others out of it,
// and lets one daemon at a time use it.
//
// It imports atomicfile at most. It serves the life of AXON-IPC.
package stateroot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LockFile is the name of the lock in a state root. Only the lock on it counts;
// the file itself stays, with the pid of the last daemon in it.
const LockFile = "axon.lock"

// ErrInUse is wrapped by an InUseError.
var ErrInUse = errors.New("state root in use")

// InUseError reports a state root that another daemon uses.
type InUseError struct {
	PID int // 0: not known
}

func (e *InUseError) Error() string {
	who := "a daemon"
	if e.PID > 0 {
		who = fmt.Sprintf("a daemon with pid %d", e.PID)
	}
	return who + " already uses this state root; stop it first, or choose another folder with --state-root"
}

func (e *InUseError) Unwrap() error { return ErrInUse }

// Prepare makes the folder when it is missing, for this user alone. One that is
// there keeps its rights: it may be a folder that others have a use for.
func Prepare(root string) error {
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return create(root)
	}
	if err != nil {
		return fmt.Errorf("look at the state root: %w; choose another folder with --state-root", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("the state root %s is not a folder; choose another with --state-root", root)
	}
	return nil
}

func create(root string) error {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("make state root: %w; choose a writable folder with --state-root", err)
	}
	if err := restrict(root); err != nil {
		return fmt.Errorf("keep others out of the state root %s: %w; choose a folder of your own with --state-root", root, err)
	}
	return nil
}

// OpenToOthers reports whether users other than the owner may look into the
// folder, as far as its mode tells.
func OpenToOthers(root string) bool {
	info, err := os.Stat(root)
	return err == nil && os.PathSeparator == '/' && info.Mode().Perm()&0o077 != 0
}

// Lock is held by the one daemon of a state root.
type Lock struct{ file *os.File }

// Acquire takes the lock, without waiting: an *InUseError when a living process
// has it. The system gives it back when this process ends, however it ends.
func Acquire(root string) (*Lock, error) {
	path := filepath.Join(root, LockFile)
	// Not through a link: what it leads to would be emptied.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if info, statErr := os.Lstat(path); err != nil && statErr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("lock the state root: %s is a symbolic link, which is not followed for writing; remove it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the state root: %w; make it writable or choose another with --state-root", err)
	}
	if err := lock(f); err != nil {
		pid := readPID(f)
		_ = f.Close()
		if errors.Is(err, errHeld) {
			return nil, &InUseError{PID: pid}
		}
		return nil, fmt.Errorf("lock the state root: %w; choose a folder on another file system with --state-root", err)
	}
	l := &Lock{f}
	if err := l.writePID(); err != nil {
		l.Release()
		return nil, fmt.Errorf("lock the state root: %w; check the free space", err)
	}
	return l, nil
}

func (l *Lock) writePID() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func readPID(f *os.File) int {
	var b [32]byte
	n, _ := f.ReadAt(b[:], 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}

// Release gives the lock back.
func (l *Lock) Release() {
	unlock(l.file)
	_ = l.file.Close()
}
