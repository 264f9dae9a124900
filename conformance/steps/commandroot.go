package steps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What stands in the state root of a scenario's commands.

func init() {
	define(`the configuration:`, func(_ context.Context, s *Scenario, _ []string, doc string) error {
		return s.put("config.yaml", doc)
	})
	define(`"([^"]+)" in the state root holds "(.*)"`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.put(a[0], strings.ReplaceAll(a[1], `\n`, "\n"))
	})
	define(`"([^"]+)" in the state root is a folder`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		t, err := s.console()
		if err != nil {
			return err
		}
		return os.MkdirAll(t.inRoot(a[0]), 0o700)
	})
	define(`"([^"]+)" in the state root gets the mode (\d+)`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		t, err := s.console()
		if err != nil {
			return err
		}
		mode, err := strconv.ParseUint(a[1], 8, 32)
		if err != nil {
			return err
		}
		return os.Chmod(t.inRoot(a[0]), fs.FileMode(mode))
	})
	define(`"([^"]+)" in the state root has the mode (\d+)`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		info, err := os.Stat(s.terminal.inRoot(a[0]))
		if err != nil {
			return fail(nil, a[0]+" in the state root", "%v", err)
		}
		if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != a[1] {
			return fail(nil, a[0]+" with the mode "+a[1], "its mode is %s", got)
		}
		return nil
	})
	define(`"([^"]+)" in the state root is "(.*)" still`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		want := strings.ReplaceAll(a[1], `\n`, "\n")
		if got, err := os.ReadFile(s.terminal.inRoot(a[0])); err != nil || string(got) != want {
			return fail(nil, a[0]+" in the state root is as it was: "+strQuote(want), "it holds %q (%v)", shorten(string(got)), err)
		}
		return nil
	})
	define(`"([^"]+)" in the state root has (the|no) line "([^"]+)"`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		want, err := s.expand(a[2], "")
		if err != nil {
			return err
		}
		got, err := os.ReadFile(s.terminal.inRoot(a[0]))
		if err != nil {
			return fail(nil, a[0]+" in the state root", "%v", err)
		}
		if slices.Contains(strings.Split(string(got), "\n"), string(want)) != (a[1] == "the") {
			return fail(nil, fmt.Sprintf("%s in the state root has %s line %q", a[0], a[1], want), "it is %q", shorten(string(got)))
		}
		return nil
	})
	define(`there is no "([^"]+)" in the state root`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		if _, err := os.Lstat(s.terminal.inRoot(a[0])); !errors.Is(err, fs.ErrNotExist) {
			return fail(nil, "no "+a[0]+" in the state root", "it is there (%v)", err)
		}
		return nil
	})
	define(`what "([^"]+)" held is kept under a name with the time`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.keptAside(a[0])
	})
	define(`the state root is noted`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		t, err := s.console()
		if err == nil {
			t.noted, err = snapshot(t.root)
		}
		return err
	})
	define(`the state root is as it was`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		return s.unchanged(func(string) bool { return false })
	})
	define(`"([^"]+)" in the state root is as it was`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.unchanged(func(name string) bool { return name != a[0] })
	})
	define(`"([^"]+)" in the state root is another than it was`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		now, err := snapshot(s.terminal.root)
		if err != nil {
			return err
		}
		if now[a[0]] == "" || now[a[0]] == s.terminal.noted[a[0]] {
			return fail(nil, "another "+a[0]+" than before", "it is %q", now[a[0]])
		}
		return nil
	})
}

// put writes a file of the state root.
func (s *Scenario) put(name, text string) error {
	t, err := s.console()
	if err != nil {
		return err
	}
	full, err := s.expand(text, "")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(t.root, 0o700); err != nil {
		return err
	}
	return os.WriteFile(t.inRoot(name), full, 0o600)
}

// snapshot describes every file of a folder: its mode and what it holds. A folder that
// is not there has none.
func snapshot(root string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		about := info.Mode().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(content)
			about += " " + hex.EncodeToString(sum[:])
		}
		files[filepath.ToSlash(name)] = about
		return nil
	})
	return files, err
}

// unchanged compares the state root with what was noted.
func (s *Scenario) unchanged(except func(name string) bool) error {
	now, err := snapshot(s.terminal.root)
	if err != nil {
		return err
	}
	before := maps.Clone(s.terminal.noted)
	maps.DeleteFunc(now, func(name, _ string) bool { return except(name) })
	maps.DeleteFunc(before, func(name, _ string) bool { return except(name) })
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if now[name] != before[name] {
			return fail(nil, "the state root is as it was", "%s was %q and is %q", name, before[name], now[name])
		}
		delete(now, name)
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		return fail(nil, "the state root is as it was", "there is a new %s (%s)", name, now[name])
	}
	return nil
}

// keptAside: what a file held when the state root was noted stands in another file now,
// whose name has digits of a time.
func (s *Scenario) keptAside(name string) error {
	now, err := snapshot(s.terminal.root)
	if err != nil {
		return err
	}
	_, sum, isFile := strings.Cut(s.terminal.noted[name], " ")
	for other, about := range now {
		_, otherSum, _ := strings.Cut(about, " ")
		digits := strings.Count(strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return '0'
			}
			return r
		}, filepath.Base(other)), "0")
		if other != name && digits >= 6 && (isFile && otherSum == sum || !isFile && strings.HasPrefix(about, "d")) {
			return nil
		}
	}
	return fail(nil, "what "+name+" held is kept under another name with the time", "there are %s", strings.Join(slices.Sorted(maps.Keys(now)), ", "))
}
