package config

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "port: 7200\n", "name: a\nport: 1\nlisten_addr: 127.0.0.1\nadvertise_addr: '192.0.2.1:7100'\n",
		"discovery: {enabled: false, trust: enroll}\nlimits:\n  connections: 5\n  pending_requests: 9\n",
		"peers:\n  - agent_id: ed25519.00000000000000000000000000000000\n    pubkey: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n    addr: localhost:7100\n",
		"prot: 7\n", "port: {}\n", "peers: 7\n", "- a\n", "port: 7\nport: 8\n", "a: &x [*x]\n", "\xff", "port: 0x10\n", "---\n---\n", "peers:\n  - *x\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || !utf8.ValidString(strings.ToValidUTF8(err.Error(), "?")) || len(err.Error()) > 20*len(text)+4000 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if c.Port < 1 || c.Port > 65535 || c.Connections < 1 || c.Pending < 1 || c.Trust != TrustAutomatic && c.Trust != TrustEnroll {
			t.Fatalf("%q was taken for %+v", text, c)
		}
		for _, p := range c.Peers {
			if len(p.PublicKey) != 32 || p.ID == "" {
				t.Fatalf("%q was taken for the peer %+v", text, p)
			}
		}
	})
}
