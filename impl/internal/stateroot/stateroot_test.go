package stateroot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrepare(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "b")
	if err := Prepare(root); err != nil {
		t.Fatal(err)
	}
	if OpenToOthers(root) {
		t.Error("a new folder is open to others")
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(root); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(root); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o755 {
		t.Errorf("an existing folder was changed: %v, %v", info.Mode(), err)
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, filepath.Join(file, "below")} {
		if err := Prepare(bad); err == nil || !strings.Contains(err.Error(), "--state-root") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestOneAtATime(t *testing.T) {
	root := t.TempDir()
	first, err := Acquire(root)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(root)
	var used *InUseError
	if !errors.As(err, &used) || !errors.Is(err, ErrInUse) || used.PID != os.Getpid() ||
		!strings.Contains(err.Error(), fmt.Sprintf("a daemon with pid %d already uses this state root; ", os.Getpid())) {
		t.Errorf("second: %v", err)
	}
	first.Release()
	// What is left of a daemon that was killed is in nobody's way.
	if err := os.WriteFile(filepath.Join(root, LockFile), []byte("999999999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := Acquire(root)
	if err != nil {
		t.Fatal(err)
	}
	second.Release()
	if err := os.Remove(filepath.Join(root, LockFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, LockFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(root); err == nil || errors.Is(err, ErrInUse) {
		t.Errorf("a folder in its place: %v", err)
	}
}

// TestLockDoesNotFollowLinks: what a link leads to is not emptied.
func TestLockDoesNotFollowLinks(t *testing.T) {
	root, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(elsewhere, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if noFollow == 0 {
		t.Skip("links cannot be refused here")
	}
	if err := os.Symlink(elsewhere, filepath.Join(root, LockFile)); err != nil {
		t.Skipf("no links can be made here: %v", err)
	}
	if _, err := Acquire(root); err == nil || !strings.Contains(err.Error(), "is a symbolic link") || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(elsewhere); err != nil || string(got) != "precious" {
		t.Errorf("what the link led to is now %q, %v", got, err)
	}
}
