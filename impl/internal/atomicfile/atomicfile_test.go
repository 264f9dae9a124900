package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"one", "two, longer"} {
		if err := Write(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Fatalf("read %q, %v; want %q", got, err, text)
		}
	}
	onlyFile(t, path)
}

func TestWriteToDirectoryFailsAndLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.MkdirAll(filepath.Join(path, "child"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("x"), 0o600); err == nil {
		t.Fatal("writing over a directory succeeded")
	}
	onlyFile(t, path)
}

// TestWriteDoesNotFollowLinks: a link is replaced, and what it leads to stays.
func TestWriteDoesNotFollowLinks(t *testing.T) {
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(elsewhere, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "f")
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Skipf("no links can be made here: %v", err)
	}
	if err := Create(path, []byte("x"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a link: %v", err)
	}
	if err := Write(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(elsewhere); err != nil || string(got) != "precious" {
		t.Errorf("what the link led to is now %q, %v", got, err)
	}
	onlyFile(t, path)
}

func TestTidy(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "f[1]")
	for _, name := range []string{"f[1]", ".f[1].123.tmp", ".f[1].4.tmp", ".f1.5.tmp", ".g.6.tmp", ".f[1].tmpl"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	Tidy(path)
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range list {
		left = append(left, e.Name())
	}
	if want := []string{".f1.5.tmp", ".f[1].tmpl", ".g.6.tmp", "f[1]"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

func TestCreateHasOneWinner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		wg.Go(func() { results[i] = Create(path, []byte{byte(i)}, 0o600) })
	}
	wg.Wait()
	wins := 0
	for _, err := range results {
		switch {
		case err == nil:
			wins++
		case !errors.Is(err, fs.ErrExist):
			t.Errorf("unexpected error: %v", err)
		}
	}
	if wins != 1 {
		t.Errorf("%d callers created the file, want 1", wins)
	}
	onlyFile(t, path)
}

func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("folder holds %v, want only %s", entries, filepath.Base(path))
	}
}
