package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axonproto/axon/impl/internal/identity"
)

func TestDefaults(t *testing.T) {
	want := Config{Port: 7100, Discovery: true, Trust: TrustAutomatic, Connections: 128, Pending: 1024}
	for _, text := range []string{"", "\n", "# nothing yet\n", "{}", "peers: []\n"} {
		c, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if c.Port != want.Port || !c.Discovery || c.Trust != want.Trust || c.Connections != 128 || c.Pending != 1024 || len(c.Peers) != 0 {
			t.Errorf("%q: %+v", text, c)
		}
	}
	if _, err := Load(t.TempDir()); err != nil {
		t.Errorf("no file: %v", err)
	}
}

func TestFullFile(t *testing.T) {
	a, _ := identity.Generate()
	b, _ := identity.Generate()
	text := `
name: kitchen
port: 7200
listen_addr: 127.0.0.1
advertise_addr: host.example:7200
peers:
  - agent_id: ` + strings.ToUpper(string(a.ID)) + `
    addr: "[2001:db8::1]:7100"
    pubkey: ` + identity.EncodePublicKey(a.Public) + `
  - {agent_id: ` + string(b.ID) + `, pubkey: "` + identity.EncodePublicKey(b.Public) + `"}
discovery: {enabled: false, trust: enroll}
limits: {connections: 3, pending_requests: 4}
`
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, File), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "kitchen" || c.Port != 7200 || c.ListenAddr != "127.0.0.1" || c.AdvertiseAddr != "host.example:7200" ||
		c.Discovery || c.Trust != TrustEnroll || c.Connections != 3 || c.Pending != 4 || len(c.Peers) != 2 {
		t.Errorf("%+v", c)
	}
	if c.Peers[0].ID != a.ID || c.Peers[0].Addr != "[2001:db8::1]:7100" || c.Peers[1].ID != b.ID || c.Peers[1].Addr != "" {
		t.Errorf("peers %+v", c.Peers)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	a, _ := identity.Generate()
	b, _ := identity.Generate()
	key := identity.EncodePublicKey(a.Public)
	good := "{agent_id: " + string(a.ID) + ", pubkey: \"" + key + "\"}"
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":        {"prot: 7100\n", `unknown key "prot"; did you mean "port"?`},
		"line shown":         {"name: x\nprot: 7100\n", "2 | prot: 7100"},
		"unknown peer key":   {"peers:\n  - agent_idd: x\n", `unknown key "agent_idd" under peers; did you mean "agent_id"?`},
		"known elsewhere":    {"discovery: {port: 1}\n", `unknown key "port" under discovery`},
		"unknown limit":      {"limits:\n  conections: 3\n", `did you mean "connections"?`},
		"wrong type":         {"port: many\n", "port"},
		"port too large":     {"port: 65536\n", "1 to 65535"},
		"port zero":          {"port: 0\n", "1 to 65535"},
		"no connections":     {"limits: {connections: 0}\n", "limits.connections"},
		"trust":              {"discovery: {trust: maybe}\n", "automatic or enroll"},
		"twice":              {"port: 1\nport: 2\n", "port"},
		"not a mapping":      {"- a\n", ""},
		"not yaml":           {"a: [\n", ""},
		"no pubkey":          {"peers: [{agent_id: " + string(a.ID) + "}]", "identity.pub"},
		"no agent id":        {"peers: [{pubkey: \"" + key + "\"}]", string(a.ID)},
		"bad pubkey":         {"peers: [{agent_id: x, pubkey: y}]", "32 bytes"},
		"bad agent id":       {"peers: [{agent_id: x, pubkey: \"" + key + "\"}]", "32 hex digits"},
		"another's agent id": {"peers: [{agent_id: " + string(b.ID) + ", pubkey: \"" + key + "\"}]", "does not belong"},
		"peer twice":         {"peers: [" + good + "," + good + "]", "peers[1] is the same agent as peers[0]"},
		"bad addr":           {"peers: [{agent_id: " + string(a.ID) + ", pubkey: \"" + key + "\", addr: host}]", "HOST:PORT"},
		"advertised zone":    {"advertise_addr: \"[fe80::1%eth0]:7100\"\n", "without a zone"},
		"advertised slash":   {"advertise_addr: \"a/b:7100\"\n", "cannot stand in a token"},
		"bad advertise addr": {"advertise_addr: h:0\n", "1 to 65535"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant ErrInvalid with %q", err, c.want)
			}
		})
	}
}

func TestCheckAddr(t *testing.T) {
	for _, good := range []string{"192.0.2.7:7100", "[2001:db8::7]:1", "[fe80::1%eth0]:65535", "h.example:1", "späť:1", strings.Repeat("a", MaxHost) + ":1"} {
		if err := CheckAddr(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"": "HOST:PORT", "h": "HOST:PORT", ":1": "HOST:PORT", "h:0": "1 to 65535", "h:65536": "1 to 65535", "h:": "1 to 65535", "::1:1": "HOST:PORT",
		"a b:1": "blanks", "a\x00:1": "cannot be printed", "\xff:1": "cannot be printed", "a\u2028:1": "cannot be printed", strings.Repeat("a", MaxHost+1) + ":1": "256 bytes",
	} {
		if err := CheckAddr(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q", bad, err, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"port", "port", 0}, {"prot", "port", 2}, {"", "abc", 3}, {"kitten", "sitting", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
