package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/stateroot"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func examine(t *testing.T, o Options) map[string]Finding {
	t.Helper()
	list, err := Examine(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Finding{}
	for _, f := range list {
		if f.Detail == "" || f.State == Problem && f.Advice == "" {
			t.Errorf("incomplete: %+v", f)
		}
		found[f.Check] = f
	}
	return found
}

func TestBackupsCarryTheTimeAndNeverOverwrite(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, peers.File)
	o := Options{StateRoot: root, Fix: true, Now: func() time.Time { return noon }}
	for n, name := range []string{".backup-20300102T120000Z", ".backup-20300102T120000Z-2"} {
		text := strings.Repeat("damaged", n+1)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if f := examine(t, o)["known peers"]; f.State != Fixed {
			t.Errorf("%+v", f)
		}
		if kept, err := os.ReadFile(path + name); err != nil || string(kept) != text {
			t.Errorf("%s: %q, %v", name, kept, err)
		}
	}
}

func TestADirectoryInPlaceOfAFile(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{peers.File, identity.KeyFile} {
		if err := os.MkdirAll(filepath.Join(root, name, "inside"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	found := examine(t, Options{StateRoot: root})
	if found["known peers"].State != Problem || found["identity"].State != Problem {
		t.Errorf("%+v", found)
	}
	found = examine(t, Options{StateRoot: root, Fix: true})
	if found["known peers"].State != Fixed || found["identity"].State != Problem {
		t.Errorf("%+v", found)
	}
	old, current, backup, err := Rekey(Options{StateRoot: root, Now: func() time.Time { return noon }})
	if err != nil || old != "" || current == "" || backup != identity.KeyFile+".backup-20300102T120000Z" {
		t.Errorf("%q, %q, %q, %v", old, current, backup, err)
	}
	if f := examine(t, Options{StateRoot: root})["identity"]; f.State != OK || f.Detail != string(current) {
		t.Errorf("%+v", f)
	}
}

func TestClock(t *testing.T) {
	root := t.TempDir()
	if _, err := identity.Load(root); err != nil {
		t.Fatal(err)
	}
	for now, want := range map[time.Time]State{
		time.Now():                     OK,
		time.Now().Add(-2 * time.Hour): Warning,
		time.Unix(0, 0):                Warning,
	} {
		if f := examine(t, Options{StateRoot: root, Now: func() time.Time { return now }})["clock"]; f.State != want {
			t.Errorf("at %s: %+v", now, f)
		}
	}
}

func TestRekeyNeedsTheStateRootToItself(t *testing.T) {
	root := t.TempDir()
	before, err := identity.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := stateroot.Acquire(root)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if _, _, _, err := Rekey(Options{StateRoot: root}); !errors.Is(err, stateroot.ErrInUse) {
		t.Errorf("got %v", err)
	}
	if after, err := identity.Read(root); err != nil || after.ID != before.ID {
		t.Errorf("the identity changed: %v", err)
	}
}

func TestOptions(t *testing.T) {
	if _, err := Examine(t.Context(), Options{}); err == nil {
		t.Error("no state root: no error")
	}
}
