package credential

import (
	"bytes"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func fixed(t *testing.T) Identity {
	t.Helper()
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(i)
	}
	id, err := FromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestKnownIdentity(t *testing.T) {
	id := fixed(t)
	// Computed apart from this code, with another Ed25519 and SHA-256.
	const public = "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
	if got := id.PublicBase64(); got != public {
		t.Errorf("public key %s, want %s", got, public)
	}
	const agent = "ed25519.56475aa75463474c0285df5dbf2bcab7"
	if got := id.AgentID(); got != agent {
		t.Errorf("Agent ID %s, want %s", got, agent)
	}
	const token = "axon://A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg@127.0.0.1:7100"
	if got := id.Token("127.0.0.1:7100"); got != token {
		t.Errorf("token %s, want %s", got, token)
	}
}

func TestTokenRoundTrip(t *testing.T) {
	id := fixed(t)
	for _, addr := range []string{"127.0.0.1:7100", "[::1]:7100", "example.org:1"} {
		pub, got, err := ParseToken(id.Token(addr))
		if err != nil || got != addr || !pub.Equal(id.Public()) {
			t.Errorf("%s: got %x %s %v", addr, pub, got, err)
		}
	}
	for _, bad := range []string{"", "axon://", "http://x@y:1", "axon://AAAA@h:1", id.Token(""), id.Token("host"), id.Token(":7100"), "axon://" + id.PublicBase64()} {
		if _, _, err := ParseToken(bad); !errors.Is(err, ErrToken) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestParsePublicKeyForms(t *testing.T) {
	id := fixed(t)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		pub, err := ParsePublicKey(encoding.EncodeToString(id.Public()))
		if err != nil || !pub.Equal(id.Public()) {
			t.Errorf("%x %v", pub, err)
		}
	}
	for _, bad := range []string{"", "!", "AAAA", base64.StdEncoding.EncodeToString(make([]byte, 33))} {
		if _, err := ParsePublicKey(bad); !errors.Is(err, ErrPublicKey) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestLoadOrCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "identity.key")
	first, created, err := LoadOrCreate(path)
	if err != nil || !created {
		t.Fatal(created, err)
	}
	second, created, err := LoadOrCreate(path)
	if err != nil || created || !second.Public().Equal(first.Public()) {
		t.Fatal(created, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil || dir.Mode().Perm() != 0o700 {
		t.Fatal(dir.Mode(), err)
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	if len(left) != 1 {
		t.Errorf("other files were left behind: %v", left)
	}
}

func TestLoadRefuses(t *testing.T) {
	good := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for name, content := range map[string]string{
		"empty": "", "no base64": "hello there", "short": "AAAA", "binary": string(make([]byte, 32)), "long": strings.Repeat("A", 5000),
	} {
		path := filepath.Join(t.TempDir(), "k")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := LoadOrCreate(path); !errors.Is(err, ErrIdentityFile) || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("%s: %v", name, err)
		}
		if now, _ := os.ReadFile(path); string(now) != content {
			t.Errorf("%s: the file was changed", name)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Load(t.TempDir()); !errors.Is(err, ErrIdentityFile) {
		t.Errorf("folder: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	path := filepath.Join(t.TempDir(), "open")
	if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, ErrIdentityFile) || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("readable by others: %v", err)
	}
}

func TestCreateNeverReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := createFile(path, []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(path); string(now) != "mine" {
		t.Fatalf("now %q", now)
	}
}

func TestCertificates(t *testing.T) {
	id := fixed(t)
	extra, err := ECDSACertificate(CertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().AddDate(-2, 0, 0)
	certificate, err := id.Certificate(CertOptions{NotAfter: long, DNSNames: []string{"x"}, Extra: extra.Certificate})
	if err != nil {
		t.Fatal(err)
	}
	if pub, ok := certificate.Leaf.PublicKey.(ed25519.PublicKey); !ok || !pub.Equal(id.Public()) {
		t.Error("another key")
	}
	if certificate.Leaf.Subject.CommonName != id.AgentID() || !certificate.Leaf.NotAfter.Before(time.Now()) || !certificate.Leaf.NotBefore.Before(certificate.Leaf.NotAfter) {
		t.Errorf("%s %s %s", certificate.Leaf.Subject, certificate.Leaf.NotBefore, certificate.Leaf.NotAfter)
	}
	if len(certificate.Certificate) != 2 || !bytes.Equal(certificate.Certificate[1], extra.Certificate[0]) {
		t.Error("the further certificate is missing")
	}
	one, err := RSACertificate(CertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	two, err := RSACertificate(CertOptions{})
	if err != nil || one.PrivateKey != two.PrivateKey {
		t.Errorf("the RSA key was made anew: %v", err)
	}
	if _, err := (Identity{}).Certificate(CertOptions{}); !errors.Is(err, ErrNoKey) {
		t.Error(err)
	}
}

func TestStolenCertificateFailsTheHandshake(t *testing.T) {
	id := fixed(t)
	own, err := id.Certificate(CertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stolen, err := id.StolenCertificate()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		certificate tls.Certificate
		fails       bool
	}{"own": {own, false}, "stolen": {stolen, true}} {
		one, two := net.Pipe()
		served := make(chan error, 1)
		go func() {
			served <- tls.Server(one, &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAnyClientCert}).Handshake()
			one.Close()
		}()
		dialer := tls.Client(two, &tls.Config{Certificates: []tls.Certificate{c.certificate}, InsecureSkipVerify: true})
		_ = dialer.Handshake()
		_, _ = dialer.Read(make([]byte, 1)) // the listener judges after the dialer is done
		if err := <-served; (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		two.Close()
	}
}
