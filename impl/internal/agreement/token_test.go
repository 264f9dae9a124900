package agreement

import (
	"crypto/sha256"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

// FuzzToken: a token that either side writes is read alike by both. The daemon's
// reader also takes percent escapes; those it has undone by the time it writes.
func FuzzToken(f *testing.F) {
	key := strings.Repeat("A", 43)
	for _, text := range []string{
		"axon://" + key + "@192.0.2.7:7100", "axon://" + key + "@[2001:db8::7]:7100", "axon://" + key + "@[fe80::1%25eth0]:7100",
		"axon://" + key + "@sp%C3%A4t.example:1", "axon://" + key + "@späť:1", "axon://" + key + "@:1", "axon://" + key + "@h:0", "axon://" + key[1:] + "@h:1",
		"AXON://" + key + "@h:1", "axon://" + key[1:] + "%41@h:1", "axon://" + key + ":x@h:1", "axon://" + key + "@h:1/x", "axon://" + key + "@h:1#", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ours, err := identity.ParseToken(text)
		if err != nil {
			return
		}
		written := ours.String()
		pub, addr, err := credential.ParseToken(written)
		if err != nil || !pub.Equal(ours.PublicKey) || addr != ours.Addr {
			t.Fatalf("%q, written %q: the suite reads %x, %q, %v", text, written, pub, addr, err)
		}
		if id := credential.AgentID(pub); id != string(identity.DeriveAgentID(ours.PublicKey)) {
			t.Fatalf("%q: agent id %s there", text, id)
		}
	})
}

// FuzzAddress: what the suite writes for a key and an address that the daemon would
// take in its configuration is read by the daemon as that, or refused.
func FuzzAddress(f *testing.F) {
	for _, host := range []string{"192.0.2.7", "2001:db8::7", "fe80::1%eth0", "h.example", "späť", "a b", "a@b", "a/b", "%41", "\xff"} {
		f.Add("some key", host, uint16(7100))
	}
	f.Fuzz(func(t *testing.T, key, host string, port uint16) {
		seed := sha256.Sum256([]byte(key))
		theirs, err := credential.FromSeed(seed[:])
		if err != nil {
			t.Fatal(err)
		}
		addr := net.JoinHostPort(host, strconv.Itoa(int(port)))
		if config.CheckAddr(addr) != nil {
			t.Skip()
		}
		own, err := identity.New(seed[:])
		if err != nil || !own.Public.Equal(theirs.Public()) || string(own.ID) != theirs.AgentID() || identity.EncodePublicKey(own.Public) != theirs.PublicBase64() {
			t.Fatalf("two identities of one seed: %v", err)
		}
		if ours := (identity.Token{PublicKey: own.Public, Addr: addr}).String(); strings.IndexByte(addr, '%') < 0 && ours != theirs.Token(addr) {
			t.Fatalf("two tokens of one identity: %q, %q", ours, theirs.Token(addr))
		}
		if token, err := identity.ParseToken(theirs.Token(addr)); err == nil && (!token.PublicKey.Equal(theirs.Public()) || token.Addr != addr && strings.IndexByte(addr, '%') < 0) {
			t.Fatalf("%q: read as %+v", theirs.Token(addr), token)
		}
	})
}
