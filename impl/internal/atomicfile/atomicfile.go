// Package atomicfile writes small files so that a reader, or the next start
// after a crash, finds either the old content or the new one, never a part.
//
// It imports the standard library only.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Write replaces path with data, with the given permission bits. The data are
// on disk before the name changes. On failure the old file is left as it was.
func Write(path string, data []byte, perm fs.FileMode) error {
	temp, err := stage(path, data, perm)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("replace %s: %w", path, err)
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// Create is Write for a file that must not exist yet: of several callers at
// once one succeeds, and the others get an error that wraps fs.ErrExist.
func Create(path string, data []byte, perm fs.FileMode) error {
	temp, err := stage(path, data, perm)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	err = os.Link(temp, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// Some file systems have no hard links; there the short race
		// between the check and the rename is accepted.
		if _, statErr := os.Lstat(path); statErr == nil {
			err = fs.ErrExist
		} else {
			err = os.Rename(temp, path)
		}
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// Tidy removes what calls of Write for path have left unfinished that were killed. Only
// who alone writes path may call it.
func Tidy(path string) {
	folder, prefix := filepath.Dir(path), "."+filepath.Base(path)+"."
	list, _ := os.ReadDir(folder)
	for _, e := range list {
		if name := e.Name(); strings.HasPrefix(name, prefix) && strings.HasSuffix(name, ".tmp") {
			_ = os.Remove(filepath.Join(folder, name))
		}
	}
}

// stage writes data to a new file beside path and returns its name.
func stage(path string, data []byte, perm fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err := f.Chmod(perm); err != nil {
		return "", err
	}
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// syncFolder makes the new name durable where the platform can; where it
// cannot, the rename itself is all there is.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
