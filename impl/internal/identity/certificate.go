package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// Why a certificate was refused.
var (
	ErrNoCertificate   = errors.New("peer presented no certificate")
	ErrNotEd25519      = errors.New("certificate key is not Ed25519")
	ErrUnexpectedAgent = errors.New("certificate belongs to another agent")
)

// Certificate makes a self-signed certificate for the key. Only its public key
// means anything to a peer; names and dates are there for tools that show them.
func (id *Identity) Certificate(now time.Time) (tls.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make certificate: %w", err)
	}
	template := x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)),
		Subject:      pkix.Name{CommonName: string(id.ID)},
		DNSNames:     []string{string(id.ID)},
		NotBefore:    now.Add(-24 * time.Hour),
		NotAfter:     now.AddDate(10, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, id.Public, id.private)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: id.private}, nil
}

// LeafKey returns the Ed25519 key of the certificate that a peer presented as
// its own. Further certificates, names and dates are of no account.
func LeafKey(chain []*x509.Certificate) (ed25519.PublicKey, error) {
	if len(chain) == 0 {
		return nil, ErrNoCertificate
	}
	key, ok := chain[0].PublicKey.(ed25519.PublicKey)
	if !ok || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w (%s): make the peer's certificate from its Ed25519 identity key", ErrNotEd25519, chain[0].PublicKeyAlgorithm)
	}
	return key, nil
}
