package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/axonproto/axon/impl/internal/identity"
)

func TestSetKeepsTheRest(t *testing.T) {
	a, _ := identity.Generate()
	full := `# mine
name: kitchen # what it is called

port: 7100
peers: # the others
  - agent_id: ` + string(a.ID) + ` # one
    pubkey: ` + identity.EncodePublicKey(a.Public) + `
# last
discovery: {enabled: false}
`
	for _, c := range []struct{ text, key, value, want string }{
		{full, "port", "7200", strings.Replace(full, "7100", "7200", 1)},
		{full, "discovery.enabled", "true", strings.Replace(full, "false", "true", 1)},
		{full, "discovery.trust", "enroll", strings.Replace(full, "false}", "false, trust: enroll}", 1)},
		{full, "limits.connections", "3", full + "limits:\n  connections: 3\n"},
		{full, "advertise_addr", "h.example:1", full + "advertise_addr: h.example:1\n"},
		{full, "name", "a: b # c", strings.Replace(full, "kitchen # what it is called", `"a: b # c"`, 1)},
		{"", "port", "1", "port: 1\n"},
		{"# only a comment", "limits.connections", "3", "# only a comment\nlimits:\n  connections: 3\n"},
		{"{}\n", "name", "x", "name: x\n"},
		{"limits: {connections: 3}\n", "limits.connections", "4", "limits: {connections: 4}\n"},
	} {
		got, err := Set([]byte(c.text), c.key, c.value)
		if err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(c.want) && !strings.Contains(string(got), "'a: b # c'") {
			t.Errorf("set %s: %v\n%s", c.key, err, got)
		}
		conf, err := Parse(got)
		if err != nil {
			t.Errorf("set %s: %v", c.key, err)
		}
		if strings.Contains(c.text, "peers") && len(conf.Peers) != 1 {
			t.Errorf("set %s lost the peer", c.key)
		}
	}
}

// TestAnyName: a text is written so that it is read as what it was, whatever YAML
// makes of its characters.
func TestAnyName(t *testing.T) {
	for _, name := range []string{
		"\u2028", " ", " x ", "\u00a0", "\u0085x", "\ufeffx", "a\nb", "a\r", "\t", "\a\x7f", "a\n\n", "# x", "x #y", "- x", "? x", "a: b", "{}", "[", "&a", "*a", "!a", "|", ">", "%", "@", "`",
		"~", "null", "true", "no", "7", "0x7", "1_0", "1e3", ".5", "-", "--- a", "...", "2026-01-01", "'", "\"", "'\"\\", "\\u0041", "<<", "=", "späť 😀", ".inf", "+1", "0b1", "0o7",
	} {
		for _, text := range []string{"", "port: 1\n", "name: x # mine\nport: 1\n"} {
			out, err := Set([]byte(text), "name", name)
			if err != nil {
				t.Errorf("%q in %q: %v", name, text, err)
				continue
			}
			if c, err := Parse(out); err != nil || c.Name != name || text != "" && c.Port != 1 {
				t.Errorf("%q in %q: %q: %+v, %v", name, text, out, c, err)
			}
		}
	}
	if _, err := Set(nil, "name", "\xff"); !errors.Is(err, ErrInvalid) {
		t.Errorf("no UTF-8: %v", err)
	}
}

func TestUnset(t *testing.T) {
	for _, c := range []struct{ text, key, want string }{
		{"name: x\nport: 1\n", "port", "name: x\n"},
		{"port: 1\n", "port", ""},
		{"name: x # c\ndiscovery:\n  trust: enroll\n  enabled: true\n", "discovery.trust", "name: x # c\ndiscovery:\n  enabled: true\n"},
		{"name: x\ndiscovery:\n  trust: enroll\n", "discovery.trust", "name: x\n"},
		{"name: x\n", "port", "name: x\n"},
		{"", "port", ""},
	} {
		got, err := Unset([]byte(c.text), c.key)
		if err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(c.want) {
			t.Errorf("unset %s in %q: %v, %q", c.key, c.text, err, got)
		}
	}
}

func TestEditRefuses(t *testing.T) {
	for _, c := range []struct {
		text, key, value string
		err              error
		want             string
	}{
		{"", "prot", "1", ErrUnknownKey, `"port"`},
		{"", "peers", "x", ErrUnknownKey, "axon connect"},
		{"", "port", "many", ErrInvalid, "whole number"},
		{"", "port", "65536", ErrInvalid, "1 to 65535"},
		{"", "discovery.enabled", "yes", ErrInvalid, "true or false"},
		{"", "discovery.trust", "maybe", ErrInvalid, "automatic or enroll"},
		{"", "advertise_addr", "h", ErrInvalid, "HOST:PORT"},
		{"prot: 1\n", "port", "1", ErrInvalid, `did you mean "port"`},
		{"discovery:\n", "discovery.trust", "enroll", ErrByHand, "editor"},
	} {
		if got, err := Set([]byte(c.text), c.key, c.value); !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("set %s to %s: %v, %q", c.key, c.value, err, got)
		}
	}
	if got, err := Set([]byte("port: 99999\n"), "port", "7100"); err != nil || string(got) != "port: 7100\n" {
		t.Errorf("a bad value cannot be corrected: %q, %v", got, err)
	}
}

func TestValue(t *testing.T) {
	c, err := Parse([]byte("name: x\nlimits: {connections: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"name": "x", "port": 7100, "discovery.enabled": true, "discovery.trust": "automatic", "limits.connections": 3, "limits.pending_requests": 1024, "listen_addr": "",
	} {
		if got, err := c.Value(key); err != nil || got != want {
			t.Errorf("%s: %v, %v", key, got, err)
		}
	}
	if _, err := c.Value("prot"); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("unknown key: %v", err)
	}
	if !slices.Contains(Keys(), "discovery.trust") {
		t.Errorf("keys %v", Keys())
	}
}

func TestPeerNames(t *testing.T) {
	a, _ := identity.Generate()
	b, _ := identity.Generate()
	text := func(first, second string) []byte {
		return []byte("peers:\n" +
			"  - {name: " + first + ", agent_id: " + string(a.ID) + ", pubkey: \"" + identity.EncodePublicKey(a.Public) + "\"}\n" +
			"  - {name: " + second + ", agent_id: " + string(b.ID) + ", pubkey: \"" + identity.EncodePublicKey(b.Public) + "\"}\n")
	}
	c, err := Parse(text("alice", "bob"))
	if err != nil || c.Peers[0].Name != "alice" || c.Peers[1].Name != "bob" {
		t.Errorf("%+v, %v", c.Peers, err)
	}
	for _, bad := range []string{"alice", "Ed25519.x", `"axon://x"`, `"-x"`, `"a\u0007b"`, strings.Repeat("x", 65)} {
		if _, err := Parse(text("alice", bad)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
