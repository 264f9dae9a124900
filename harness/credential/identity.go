package credential

import (
	"crypto/ed25519"
	"crypto/tls"
	"time"
)

// Identity is an Ed25519 key pair: who a peer is. The zero Identity has no key.
type Identity struct {
	private ed25519.PrivateKey
}

// New makes an identity from the system's randomness.
func New() (Identity, error) { return Identity{}, nil }

// FromSeed makes the identity that a 32-byte seed stands for.
func FromSeed(seed []byte) (Identity, error) { return Identity{}, nil }

// Load reads an identity file.
func Load(path string) (Identity, error) { return Identity{}, nil }

// LoadOrCreate reads an identity file, or writes a new one when there is none.
func LoadOrCreate(path string) (id Identity, created bool, err error) { return Identity{}, false, nil }

// Public returns the public key.
func (i Identity) Public() ed25519.PublicKey { return nil }

// PublicBase64 returns the public key in standard base64.
func (i Identity) PublicBase64() string { return "" }

// AgentID returns the Agent ID of the public key.
func (i Identity) AgentID() string { return "" }

// Token returns the peer token for this identity at a host:port.
func (i Identity) Token(addr string) string { return "" }

// Private returns the private key.
func (i Identity) Private() ed25519.PrivateKey { return nil }

// AgentID derives the Agent ID of a public key.
func AgentID(pub ed25519.PublicKey) string { return "" }

// ParseToken reads a peer token.
func ParseToken(s string) (pub ed25519.PublicKey, addr string, err error) { return nil, "", nil }

// ParsePublicKey reads a public key in base64, standard or URL-safe, padded or not.
func ParsePublicKey(b64 string) (ed25519.PublicKey, error) { return nil, nil }

// CertOptions shape a certificate. The zero value gives an ordinary one.
type CertOptions struct {
	CommonName string
	DNSNames   []string
	NotBefore  time.Time
	NotAfter   time.Time
	Extra      [][]byte // further certificates (DER) shown after the own one
}

// Certificate makes a self-signed certificate.
func (i Identity) Certificate(o CertOptions) (tls.Certificate, error) { return tls.Certificate{}, nil }

// ECDSACertificate makes a self-signed P-256 certificate.
func ECDSACertificate(o CertOptions) (tls.Certificate, error) { return tls.Certificate{}, nil }

// RSACertificate makes a self-signed RSA 2048 certificate.
func RSACertificate(o CertOptions) (tls.Certificate, error) { return tls.Certificate{}, nil }

// StolenCertificate shows i's public key without holding its private key.
func (i Identity) StolenCertificate() (tls.Certificate, error) { return tls.Certificate{}, nil }
