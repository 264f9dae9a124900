package config

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/axonproto/axon/impl/internal/identity"
)

// Two peers with keys of zeros and of ones, as owners write them.
const somePeers = `peers:
  - {name: alice, agent_id: ed25519.66687aadf862bd776c8fc18b8e9f8e20, pubkey: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}
  - agent_id: ED25519.72CD6E8422C407FB6D098690F1130B7D # the other
    pubkey: AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=
    addr: "[2001:db8::1]:7100"
`

// seeds are files good and bad, in the forms that YAML has.
var seeds = []string{
	"", "{}", "# nothing\n", "name: kitchen # mine\nport: 7200\n\nlisten_addr: 127.0.0.1\nadvertise_addr: h.example:1\n", somePeers,
	"discovery: {enabled: false, trust: enroll}\nlimits:\n  connections: 3\n  pending_requests: 4\n", "discovery:\n", "limits: {}\n",
	"port: 0x10\n", "port: 1e3\n", "port: 7100.0\n", "port: '1'\n", "name: |\n  a\n  b\n", "name: >-\n  a\n", "name: \"a\\u0007\"\n", "name: 7\n", "name: ~\n",
	"a: &a [1]\nb: *a\n", "<<: {port: 1}\n", "port: 1\nport: 2\n", "---\nport: 1\n---\nport: 2\n", "- a\n", "a: [\n", "prot: 1\n", "? port\n: 1\n", "\ufeffport: 1\n",
	"\"port\": 1\n", "port: !!int 1\n", "name: 'it''s'\r\nport: 1\r\n", "\tport: 1\n", "name: x\n...\n", "port: 99999\n",
}

// checkInvariants fails on a configuration that no file may lead to.
func checkInvariants(t *testing.T, text []byte, c Config) {
	t.Helper()
	if c.Port < 1 || c.Port > 65535 || c.Connections < 1 || c.Connections > 65536 || c.Pending < 1 || c.Pending > 1<<20 {
		t.Fatalf("%q: numbers out of bounds: %+v", text, c)
	}
	if c.Trust != TrustAutomatic && c.Trust != TrustEnroll {
		t.Fatalf("%q: trust %q", text, c.Trust)
	}
	if c.AdvertiseAddr != "" && CheckAddr(c.AdvertiseAddr) != nil {
		t.Fatalf("%q: advertise_addr %q", text, c.AdvertiseAddr)
	}
	ids, names := map[identity.AgentID]bool{}, map[string]bool{}
	for _, p := range c.Peers {
		if p.ID != identity.DeriveAgentID(p.PublicKey) || ids[p.ID] || p.Addr != "" && CheckAddr(p.Addr) != nil {
			t.Fatalf("%q: peer %+v", text, p)
		}
		if p.Name != "" && names[p.Name] || len(p.Name) > 64 || !utf8.ValidString(p.Name) || strings.ContainsFunc(p.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%q: name %q", text, p.Name)
		}
		ids[p.ID], names[p.Name] = true, true
	}
}

// checkRefusal fails on an error that is of no use to the owner of the file.
func checkRefusal(t *testing.T, text []byte, err error) {
	t.Helper()
	said := strings.TrimPrefix(err.Error(), ErrInvalid.Error())
	if !errors.Is(err, ErrInvalid) || len(strings.Trim(said, ": \n")) < 8 || len(said) > 50*len(text)+5000 {
		t.Fatalf("%q: %d bytes: %.2000v", text, len(said), err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text)
		if err != nil {
			checkRefusal(t, text, err)
			if !reflect.DeepEqual(c, Config{}) {
				t.Fatalf("%q: half a configuration: %+v", text, c)
			}
			return
		}
		checkInvariants(t, text, c)
		if again, err := Parse(text); err != nil || !reflect.DeepEqual(c, again) {
			t.Fatalf("%q: read twice: %+v, then %+v, %v", text, c, again, err)
		}
	})
}

// FuzzEdit: an edit gives a file that says what was wanted and, of everything else,
// what it said before; or it is refused. What was set can be taken out again.
func FuzzEdit(f *testing.F) {
	values := []string{"kitchen", "7100", "127.0.0.1", "h.example:1", "true", "enroll", "a: b # c", "", " x", "- y", "'", "\"", "~", "0x1", "a\nb", "\u2028", "#"}
	for i, s := range seeds {
		f.Add([]byte(s), uint8(i), values[i%len(values)])
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint8, value string) {
		key := Keys()[int(which)%len(Keys())]
		before, broken := Parse(text)
		out, err := Set(text, key, value)
		if err != nil {
			if !errors.Is(err, ErrByHand) {
				checkRefusal(t, append(text, value...), err)
			}
			return
		}
		after, err := Parse(out)
		if err != nil {
			t.Fatalf("%q, %s set to %q: %q: %v", text, key, value, out, err)
		}
		checkInvariants(t, out, after)
		checkSame(t, before, broken, after, key)
		plain, err := Unset(out, key)
		if errors.Is(err, ErrByHand) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %s cannot be taken out: %v", out, key, err)
		}
		without, err := Parse(plain)
		if err != nil {
			t.Fatalf("%q without %s: %q: %v", out, key, plain, err)
		}
		checkSame(t, after, nil, without, key)
		var defaults Config
		if defaults, err = Parse(nil); err != nil {
			t.Fatal(err)
		}
		want, _ := defaults.Value(key)
		if got, err := without.Value(key); err != nil || got != want {
			t.Fatalf("%q without %s: %q has %v, %v", out, key, plain, got, err)
		}
	})
}

// checkSame compares all but one key. What could not be read before an edit, since
// that key was wrong, cannot be compared.
func checkSame(t *testing.T, before Config, broken error, after Config, key string) {
	t.Helper()
	if broken != nil {
		return
	}
	if !reflect.DeepEqual(before.Peers, after.Peers) {
		t.Fatalf("setting %s changed the peers: %+v, %+v", key, before.Peers, after.Peers)
	}
	for _, other := range Keys() {
		was, _ := before.Value(other)
		if is, _ := after.Value(other); other != key && was != is {
			t.Fatalf("setting %s changed %s from %v to %v", key, other, was, is)
		}
	}
}
