package identity

import (
	"errors"
	"net"
	"strings"
	"testing"
)

func FuzzParseToken(f *testing.F) {
	id, err := Generate()
	if err != nil {
		f.Fatal(err)
	}
	good := Token{PublicKey: id.Public, Addr: "192.0.2.1:7100"}.String()
	for _, seed := range []string{
		good, strings.Replace(good, "192.0.2.1", "[2001:db8::1]", 1), strings.Replace(good, "192.0.2.1", "alice.example", 1), strings.ToUpper(good), good + "/", good + "?x", " " + good,
		strings.Replace(good, ":7100", "", 1), "axon://@:7100", "axon://", "http://a@b:1", strings.Replace(good, "axon", "%61xon", 1), good + "\n", strings.Replace(good, "@", ":pw@", 1), "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err != nil {
			if !errors.Is(err, ErrBadToken) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		host, port, err := net.SplitHostPort(token.Addr)
		if err != nil || host == "" || port == "" || len(token.PublicKey) != 32 {
			t.Fatalf("%q was taken for %+v", text, token)
		}
		again, err := ParseToken(token.String())
		if err != nil || !again.PublicKey.Equal(token.PublicKey) || again.Addr != token.Addr {
			t.Fatalf("%q is written as %q and read as %+v, %v", text, token, again, err)
		}
	})
}
