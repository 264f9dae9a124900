package identity

import (
	"errors"
	"net"
	"strings"
	"testing"
)

const zeroKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" // 32 bytes, without padding

// FuzzParseToken: a token that is taken is written in one way, which is read as the
// same again; one that is refused is told why.
func FuzzParseToken(f *testing.F) {
	for _, text := range []string{
		"axon://" + zeroKey + "@192.0.2.7:7100", "axon://" + zeroKey + "@[2001:db8::7]:7100", "axon://" + zeroKey + "@[fe80::1%25eth0]:1",
		"axon://" + zeroKey[1:] + "%41@h:1", "axon://%0A" + zeroKey + "@h:1", "AXON://" + zeroKey + "@sp%C3%A4t:1", "axon://" + zeroKey + "@%FF:0",
		"axon://" + zeroKey + ":@h:1", "axon://" + zeroKey + "@h:1?", "axon:" + zeroKey + "@h:1", "axon://" + zeroKey + "@h", "axon://@h:1", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err != nil {
			if !errors.Is(err, ErrBadToken) || len(err.Error()) > 10*len(text)+300 || token.PublicKey != nil || token.Addr != "" {
				t.Fatalf("%q: %+v, %v", text, token, err)
			}
			return
		}
		host, port, err := net.SplitHostPort(token.Addr)
		if err != nil || host == "" || port == "" || len(token.PublicKey) != 32 {
			t.Fatalf("%q is taken as %+v", text, token)
		}
		again, err := ParseToken(token.String())
		if err != nil || !again.PublicKey.Equal(token.PublicKey) || again.Addr != token.Addr {
			t.Fatalf("%q is written as %q and read again as %+v, %v", text, token, again, err)
		}
	})
}

// FuzzParseKeys: an Agent ID and a public key each have one form, but for the case of
// an Agent ID, and a key its own Agent ID.
func FuzzParseKeys(f *testing.F) {
	for _, text := range []string{
		zeroKey + "=", zeroKey, zeroKey[1:] + "\n=", zeroKey + "=\n", zeroKey[:42] + "B=", "ed25519." + strings.Repeat("0", 32), "ED25519." + strings.Repeat("Aa", 16), "ed25519.\u212a", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := ParseAgentID(text); err == nil {
			if again, err := ParseAgentID(string(id)); err != nil || again != id || !strings.EqualFold(string(id), text) || len(id) != len(agentIDPrefix)+agentIDDigits {
				t.Fatalf("%q is read as %q, and that as %q, %v", text, id, again, err)
			}
		} else if !errors.Is(err, ErrBadAgentID) || id != "" {
			t.Fatalf("%q: %q, %v", text, id, err)
		}
		if key, err := ParsePublicKey(text); err == nil {
			if EncodePublicKey(key) != text {
				t.Fatalf("%q is read as %q", text, EncodePublicKey(key))
			}
			id := DeriveAgentID(key)
			if again, err := ParseAgentID(string(id)); err != nil || again != id {
				t.Fatalf("the id of %q is refused: %v", text, err)
			}
		} else if !errors.Is(err, ErrBadPublicKey) || key != nil {
			t.Fatalf("%q: %x, %v", text, key, err)
		}
	})
}
