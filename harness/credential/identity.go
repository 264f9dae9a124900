package credential

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
)

// Errors that a caller may want to tell apart; each comes wrapped with details.
var (
	ErrSeed      = errors.New("the seed is not 32 bytes long; use the 32-byte Ed25519 seed")
	ErrPublicKey = errors.New("not an Ed25519 public key; give its 32 bytes in base64")
	ErrToken     = errors.New("not a peer token; write axon://PUBLIC_KEY@HOST:PORT with the key in URL-safe base64")
)

// AgentIDPrefix begins each Agent ID.
const AgentIDPrefix = "ed25519."

const tokenScheme = "axon://"

// Identity is an Ed25519 key pair: who a peer is. The zero Identity has no key.
type Identity struct {
	private ed25519.PrivateKey
	plain   func() (tls.Certificate, error) // the certificate without options, made once
}

func identityOf(private ed25519.PrivateKey) Identity {
	i := Identity{private: private}
	i.plain = sync.OnceValues(func() (tls.Certificate, error) {
		return selfSigned(private, CertOptions{CommonName: i.AgentID()})
	})
	return i
}

// New makes an identity from the system's randomness.
func New() (Identity, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Identity{}, fmt.Errorf("make a key: %w; check the system's random source", err)
	}
	return identityOf(private), nil
}

// FromSeed makes the identity that a 32-byte seed stands for.
func FromSeed(seed []byte) (Identity, error) {
	if len(seed) != ed25519.SeedSize {
		return Identity{}, fmt.Errorf("%d bytes: %w", len(seed), ErrSeed)
	}
	return identityOf(ed25519.NewKeyFromSeed(seed)), nil
}

// IsZero tells whether there is no key.
func (i Identity) IsZero() bool { return len(i.private) == 0 }

// Private returns the private key; nil for the zero Identity.
func (i Identity) Private() ed25519.PrivateKey { return i.private }

// Public returns the public key; nil for the zero Identity.
func (i Identity) Public() ed25519.PublicKey {
	if i.IsZero() {
		return nil
	}
	return i.private.Public().(ed25519.PublicKey)
}

// PublicBase64 returns the public key in standard base64.
func (i Identity) PublicBase64() string { return base64.StdEncoding.EncodeToString(i.Public()) }

// AgentID returns the Agent ID of the public key.
func (i Identity) AgentID() string { return AgentID(i.Public()) }

// Token returns the peer token for this identity at a host:port.
func (i Identity) Token(addr string) string {
	return tokenScheme + base64.RawURLEncoding.EncodeToString(i.Public()) + "@" + addr
}

// AgentID derives the Agent ID of a public key: the prefix and the first 16
// bytes of the key's SHA-256, in lower-case hexadecimal.
func AgentID(pub ed25519.PublicKey) string {
	sum := sha256.Sum256(pub)
	return AgentIDPrefix + hex.EncodeToString(sum[:16])
}

// ParseToken reads a peer token into its public key and host:port. Errors wrap
// ErrToken.
func ParseToken(s string) (pub ed25519.PublicKey, addr string, err error) {
	rest, ok := strings.CutPrefix(s, tokenScheme)
	if !ok {
		return nil, "", fmt.Errorf("it does not begin with %s: %w", tokenScheme, ErrToken)
	}
	key, addr, ok := strings.Cut(rest, "@")
	if !ok {
		return nil, "", fmt.Errorf("there is no @ before the address: %w", ErrToken)
	}
	if pub, err = ParsePublicKey(key); err != nil {
		return nil, "", fmt.Errorf("%w: %w", err, ErrToken)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || port == "" {
		return nil, "", fmt.Errorf("address %q: %w", addr, ErrToken)
	}
	return pub, addr, nil
}

// ParsePublicKey reads a public key in base64, standard or URL-safe, padded or
// not. Errors wrap ErrPublicKey.
func ParsePublicKey(b64 string) (ed25519.PublicKey, error) {
	text := strings.TrimSpace(b64)
	text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	text = strings.TrimRight(text, "=")
	// Strict: two texts never stand for one key.
	raw, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("base64: %w: %w", err, ErrPublicKey)
	}
	if len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%d bytes: %w", len(raw), ErrPublicKey)
	}
	return ed25519.PublicKey(raw), nil
}
