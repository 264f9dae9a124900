package peers

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/axonproto/axon/impl/internal/identity"
)

func FuzzFile(f *testing.F) {
	id, err := identity.Generate()
	if err != nil {
		f.Fatal(err)
	}
	peer := `{"agent_id":"` + string(id.ID) + `","public_key":"` + identity.EncodePublicKey(id.Public) + `","addr":"192.0.2.1:7100","source":"enrolled"}`
	for _, seed := range []string{
		`{"version":1,"peers":[` + peer + `],"forgotten":["` + string(id.ID) + `"]}`, `{"version":1,"peers":[` + peer + `,` + peer + `]}`, `{"version":1,"peers":[]}`, `{"version":2}`,
		"{}", "null", "[]", "", "{", `{"version":1,"peers":null,"peers":[` + peer + `]}`, `{"VERSION":1,"Peers":[{"agent_id":"x"}]}`, "\xff", `{"version":1,"peers":[{}]}`, `{"version":1}{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		root := t.TempDir()
		path := filepath.Join(root, File)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		list, forgotten, err := readFile(path)
		b := Open(Options{Root: root, Logger: slog.New(slog.DiscardHandler)})
		_, gone := os.Stat(path)
		if (err != nil) != (gone != nil) {
			t.Fatalf("%q: %v, and the file was set aside: %v", text, err, gone)
		}
		if err != nil {
			return
		}
		for _, p := range list {
			if key, ok := b.Pinned(p.ID); !ok || identity.DeriveAgentID(key) != p.ID {
				t.Fatalf("%q: %s is pinned with %x, %v", text, p.ID, key, ok)
			}
		}
		// What is written says the same.
		again, err := b.encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, again, 0o600); err != nil {
			t.Fatal(err)
		}
		second, left, err := readFile(path)
		distinct := map[identity.AgentID]bool{}
		for _, p := range list {
			distinct[p.ID] = true
		}
		if err != nil || len(second) != len(distinct) || len(left) != len(forgotten) {
			t.Fatalf("%q was written as %q: %v", text, again, err)
		}
	})
}
