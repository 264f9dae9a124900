package peers

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

func open(t *testing.T, root string, static ...config.Peer) (*Book, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	return Open(Options{Root: root, Static: static, Logger: slog.New(slog.NewTextHandler(&log, nil))}), &log
}

func somebody(t *testing.T) Peer {
	t.Helper()
	id, err := identity.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return Peer{ID: id.ID, PublicKey: id.Public, Addr: "192.0.2.1:7100", Source: Enrolled}
}

func TestAddIsDurableAndRemovable(t *testing.T) {
	root := t.TempDir()
	b, _ := open(t, root)
	p := somebody(t)
	if err := b.Add(p); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(root, File))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again, _ := open(t, root)
	if key, ok := again.Pinned(p.ID); !ok || !key.Equal(p.PublicKey) {
		t.Error("the pin did not survive")
	}
	if got := again.List(); len(got) != 1 || got[0].Addr != p.Addr || got[0].Source != Enrolled {
		t.Errorf("list %+v", got)
	}
	if was, err := again.Remove(p.ID); !was || err != nil {
		t.Errorf("remove: %v, %v", was, err)
	}
	if was, err := again.Remove(p.ID); was || err != nil {
		t.Errorf("second remove: %v, %v", was, err)
	}
	last, _ := open(t, root)
	if _, ok := last.Pinned(p.ID); ok {
		t.Error("the removed pin came back")
	}
}

func TestPinIsNeverReplaced(t *testing.T) {
	b, _ := open(t, t.TempDir())
	p, other := somebody(t), somebody(t)
	if err := b.Add(p); err != nil {
		t.Fatal(err)
	}
	other.ID = p.ID
	if err := b.Add(other); !errors.Is(err, identity.ErrUnexpectedAgent) {
		t.Errorf("another's key: %v", err)
	}
	if key, _ := b.Pinned(p.ID); !key.Equal(p.PublicKey) {
		t.Error("the pin changed")
	}
}

func TestStaticWins(t *testing.T) {
	root := t.TempDir()
	p := somebody(t)
	b, _ := open(t, root)
	if err := b.Add(p); err != nil {
		t.Fatal(err)
	}
	b, _ = open(t, root, config.Peer{ID: p.ID, PublicKey: p.PublicKey, Addr: "host.example:1"})
	p.Addr = "192.0.2.9:1"
	if err := b.Add(p); !errors.Is(err, ErrConflict) {
		t.Errorf("another address: %v", err)
	}
	p.Addr = ""
	if err := b.Add(p); err != nil {
		t.Error(err)
	}
	if got, _ := b.Lookup(p.ID); got.Addr != "host.example:1" || got.Source != Static {
		t.Errorf("%+v", got)
	}
}

func TestDamagedFileIsSetAside(t *testing.T) {
	p := somebody(t)
	entry := `{"agent_id":"` + string(p.ID) + `","public_key":"` + identity.EncodePublicKey(p.PublicKey) + `"}`
	for name, text := range map[string]string{
		"empty": "", "cut": `{"version":1,"peers":[`, "other version": `{"version":2}`, "array": `[]`,
		"bad key":     `{"version":1,"peers":[{"agent_id":"` + string(p.ID) + `","public_key":"x"}]}`,
		"bad id":      `{"version":1,"peers":[{"agent_id":"x","public_key":"` + identity.EncodePublicKey(p.PublicKey) + `"}]}`,
		"mismatch":    `{"version":1,"peers":[` + strings.Replace(entry, string(p.ID), "ed25519."+strings.Repeat("0", 32), 1) + `]}`,
		"bad address": `{"version":1,"peers":[` + strings.Replace(entry, `"agent_id"`, `"addr":"\u0007:1","agent_id"`, 1) + `]}`,
		"twice":       `{"version":1,"peers":[` + entry + `,` + entry + `]}`,
		"both":        `{"version":1,"peers":[` + entry + `],"forgotten":["` + string(p.ID) + `"]}`,
		"binary junk": "\x00\xff\x00",
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.WriteFile(filepath.Join(root, File), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			checkRecovers(t, root)
		})
	}
	t.Run("directory", func(t *testing.T) {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, File, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		checkRecovers(t, root)
	})
}

// TestAFullFileIsNotTooLarge: what is written is read at the next start.
func TestAFullFileIsNotTooLarge(t *testing.T) {
	b := &Book{peers: map[identity.AgentID]*entry{}}
	some := somebody(t)
	// In JSON this character takes six bytes.
	some.Addr = strings.Repeat("<", config.MaxHost) + ":65535"
	if err := config.CheckAddr(some.Addr); err != nil {
		t.Fatal(err)
	}
	for i := range maxPeers {
		some.ID = identity.AgentID(fmt.Sprintf("ed25519.%032x", i))
		b.peers[some.ID] = &entry{Peer: some, pinned: true}
	}
	for i := range maxForgotten {
		b.forgotten = append(b.forgotten, identity.AgentID(fmt.Sprintf("ed25519.f%031x", i)))
	}
	if text, err := b.encode(); err != nil || len(text) > maxFileSize {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func checkRecovers(t *testing.T, root string) {
	t.Helper()
	b, log := open(t, root)
	if !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("no warning: %q", log)
	}
	aside, _ := filepath.Glob(filepath.Join(root, File+".damaged-*"))
	if len(aside) != 1 {
		t.Errorf("set aside: %v", aside)
	}
	p := somebody(t)
	if err := b.Add(p); err != nil {
		t.Fatal(err)
	}
	again, log := open(t, root)
	if _, ok := again.Pinned(p.ID); !ok || log.Len() != 0 {
		t.Errorf("after recovery: pinned %v, log %q", ok, log)
	}
}

func TestFailedWriteChangesNothing(t *testing.T) {
	root := t.TempDir()
	b, _ := open(t, root)
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	p := somebody(t)
	if err := b.Add(p); err == nil {
		t.Fatal("no error though the folder is gone")
	}
	if _, ok := b.Pinned(p.ID); ok {
		t.Error("pinned though not stored")
	}
}
