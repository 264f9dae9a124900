package identity

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAgentIDOfKnownKey(t *testing.T) {
	// RFC 8032, section 7.1, test 1.
	seed, _ := hex.DecodeString("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
	id, err := New(seed)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(id.Public); got != "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a" {
		t.Errorf("public key %s", got)
	}
	if len(id.ID) != 40 || !strings.HasPrefix(string(id.ID), "ed25519.") {
		t.Errorf("agent id %q", id.ID)
	}
	parsed, err := ParseAgentID(strings.ToUpper(string(id.ID)))
	if err != nil || parsed != id.ID {
		t.Errorf("upper case parsed as %q, %v", parsed, err)
	}
}

func TestParseAgentIDRefuses(t *testing.T) {
	digits := strings.Repeat("0", 32)
	for _, text := range []string{"", digits, "ed448." + digits, "ed25519." + digits + "0", "ed25519." + digits[1:], "ed25519.g" + digits[1:], " ed25519." + digits} {
		if _, err := ParseAgentID(text); !errors.Is(err, ErrBadAgentID) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParsePublicKeyKnowsOneForm(t *testing.T) {
	id, _ := Generate()
	good := EncodePublicKey(id.Public)
	if key, err := ParsePublicKey(good); err != nil || !key.Equal(id.Public) {
		t.Errorf("%q: %v", good, err)
	}
	for _, text := range []string{"", good + "\n", good[:9] + "\r\n" + good[9:], " " + good, strings.TrimSuffix(good, "="), good + "=", good[4:]} {
		if _, err := ParsePublicKey(text); !errors.Is(err, ErrBadPublicKey) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTokenRoundTrip(t *testing.T) {
	id, _ := Generate()
	for _, addr := range []string{"192.0.2.1:7100", "[2001:db8::1]:7100", "host.example:1"} {
		got, err := ParseToken(Token{id.Public, addr}.String())
		if err != nil || got.Addr != addr || !got.PublicKey.Equal(id.Public) {
			t.Errorf("%s: %+v, %v", addr, got, err)
		}
	}
	good := Token{id.Public, "h:1"}.String()
	for _, text := range []string{"", "axon://", "http" + good[4:], good + "/x", good + "?a", "axon://h:1", strings.Replace(good, "@", "%0A@", 1), Token{id.Public, "[fe80::1%25eth0]:1"}.String(), "axon://c2hvcnQ@h:1", strings.TrimSuffix(good, ":1")} {
		if _, err := ParseToken(text); !errors.Is(err, ErrBadToken) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLoadMakesAndKeeps(t *testing.T) {
	root := t.TempDir()
	first, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(root, KeyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file mode %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(root, PublicFile), []byte("stale"), 0o644); err != nil {
		t.Fatal(err)
	}
	second, err := Load(root)
	if err != nil || second.ID != first.ID {
		t.Fatalf("second load: %v, %v", second, err)
	}
	text, _ := os.ReadFile(filepath.Join(root, PublicFile))
	if strings.TrimSpace(string(text)) != EncodePublicKey(first.Public) {
		t.Errorf("public file holds %q", text)
	}
}

func TestLoadRefusesOtherContent(t *testing.T) {
	seed := make([]byte, 32)
	for name, content := range map[string]string{
		"empty":      "",
		"raw bytes":  string(seed),
		"hex":        hex.EncodeToString(seed),
		"too short":  base64.StdEncoding.EncodeToString(seed[1:]),
		"private":    base64.StdEncoding.EncodeToString(make([]byte, 64)),
		"pem":        "-----BEGIN PRIVATE KEY-----\n",
		"very large": strings.Repeat("A", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, KeyFile)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(root)
			if !errors.Is(err, ErrBadKeyFile) || !strings.Contains(err.Error(), "backup") {
				t.Errorf("error %v", err)
			}
			if after, _ := os.ReadFile(path); string(after) != content {
				t.Error("the file was changed")
			}
		})
	}
	t.Run("directory", func(t *testing.T) {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, KeyFile), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(root); !errors.Is(err, ErrBadKeyFile) {
			t.Errorf("error %v", err)
		}
	})
}

// TestLoadRefusesAnExposedKey: what others may read or replace proves nothing.
func TestLoadRefusesAnExposedKey(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("files have no mode and no owner here")
	}
	root := t.TempDir()
	if _, err := Load(root); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, KeyFile)
	refused := func(way string) {
		t.Helper()
		if _, err := Load(root); !errors.Is(err, ErrExposedKey) || !strings.Contains(err.Error(), way) || !strings.Contains(err.Error(), "--rekey") {
			t.Errorf("%v, want a refusal that names %s", err, way)
		}
	}
	for _, mode := range []os.FileMode{0o604, 0o640, 0o602, 0o620, 0o644, 0o601} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		refused("axon doctor --fix")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(root); err != nil {
		t.Errorf("with its mode put right: %v", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	if err := os.Chown(path, 65534, -1); err != nil {
		t.Fatal(err)
	}
	refused("chown")
}

func TestCertificateCarriesTheKey(t *testing.T) {
	id, _ := Generate()
	cert, err := id.Certificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	key, err := LeafKey([]*x509.Certificate{leaf})
	if err != nil || !key.Equal(id.Public) || DeriveAgentID(key) != id.ID {
		t.Errorf("leaf key %x, %v", key, err)
	}
	if _, err := LeafKey(nil); !errors.Is(err, ErrNoCertificate) {
		t.Errorf("no certificate: %v", err)
	}
	if _, err := LeafKey([]*x509.Certificate{{PublicKey: ed25519.PublicKey("short")}}); !errors.Is(err, ErrNotEd25519) {
		t.Errorf("short key: %v", err)
	}
}

func TestDerivedSecretIsStable(t *testing.T) {
	id, _ := Generate()
	a, err := id.DeriveSecret("one", 32)
	if err != nil || len(a) != 32 {
		t.Fatal(err)
	}
	b, _ := id.DeriveSecret("one", 32)
	c, _ := id.DeriveSecret("two", 32)
	if string(a) != string(b) || string(a) == string(c) {
		t.Error("secrets must depend on the purpose, and on nothing that changes")
	}
}
