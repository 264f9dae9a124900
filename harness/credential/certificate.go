package credential

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"sync"
	"time"
)

// ErrNoKey says that the zero Identity was asked for a certificate.
var ErrNoKey = errors.New("the identity has no key; make one with New, FromSeed or Load")

// CertOptions shape a certificate. The zero value gives an ordinary one.
type CertOptions struct {
	CommonName string    // default: the Agent ID; "axon" for keys that have none
	DNSNames   []string  // default: the common name
	NotBefore  time.Time // default: one hour ago
	NotAfter   time.Time // default: one year after the later of NotBefore and now
	Extra      [][]byte  // further certificates (DER) shown after the own one
}

// isZero tells whether an ordinary certificate is asked for.
func (o CertOptions) isZero() bool {
	return o.CommonName == "" && o.DNSNames == nil && o.NotBefore.IsZero() && o.NotAfter.IsZero() && len(o.Extra) == 0
}

// Certificate makes a certificate for the identity, signed by itself. The ordinary
// one is made once.
func (i Identity) Certificate(o CertOptions) (tls.Certificate, error) {
	if i.IsZero() {
		return tls.Certificate{}, ErrNoKey
	}
	if o.isZero() {
		return i.plain()
	}
	if o.CommonName == "" {
		o.CommonName = i.AgentID()
	}
	return selfSigned(i.private, o)
}

// StolenCertificate makes a certificate that shows i's public key while another
// private key signs the handshake: proof of possession must fail.
func (i Identity) StolenCertificate() (tls.Certificate, error) {
	certificate, err := i.Certificate(CertOptions{})
	if err != nil {
		return tls.Certificate{}, err
	}
	other, err := New()
	if err != nil {
		return tls.Certificate{}, err
	}
	certificate.PrivateKey = impostor{shown: i.Public(), held: other.private}
	return certificate, nil
}

// impostor claims one public key and signs with another private key.
type impostor struct {
	shown crypto.PublicKey
	held  crypto.Signer
}

func (s impostor) Public() crypto.PublicKey { return s.shown }

func (s impostor) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return s.held.Sign(random, digest, opts)
}

// ECDSACertificate makes a self-signed certificate with a new P-256 key.
func ECDSACertificate(o CertOptions) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make an ECDSA key: %w; check the system's random source", err)
	}
	return selfSigned(key, o)
}

// rsaKey is made once: that takes longer than everything else here.
var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// PrepareRSA makes the key of RSACertificate, for callers that have something else to do
// meanwhile.
func PrepareRSA() { _, _ = rsaKey() } // whoever wants a certificate is told of an error

// RSACertificate makes a self-signed certificate with a 2048-bit RSA key, which
// is one and the same for the whole process.
func RSACertificate(o CertOptions) (tls.Certificate, error) {
	key, err := rsaKey()
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make an RSA key: %w; check the system's random source", err)
	}
	return selfSigned(key, o)
}

func selfSigned(key crypto.Signer, o CertOptions) (tls.Certificate, error) {
	if o.CommonName == "" {
		o.CommonName = "axon"
	}
	if o.DNSNames == nil {
		o.DNSNames = []string{o.CommonName}
	}
	now := time.Now()
	if o.NotBefore.IsZero() {
		o.NotBefore = now.Add(-time.Hour)
		if !o.NotAfter.IsZero() && o.NotAfter.Before(now) { // expired: valid for an hour before that
			o.NotBefore = o.NotAfter.Add(-time.Hour)
		}
	}
	if o.NotAfter.IsZero() {
		o.NotAfter = now.AddDate(1, 0, 0)
		if o.NotBefore.After(now) {
			o.NotAfter = o.NotBefore.AddDate(1, 0, 0)
		}
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a serial number: %w; check the system's random source", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: o.CommonName},
		DNSNames:     o.DNSNames,
		NotBefore:    o.NotBefore,
		NotAfter:     o.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w; check its names and dates", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the new certificate back: %w; check its names and dates", err)
	}
	chain := append([][]byte{der}, o.Extra...)
	return tls.Certificate{Certificate: chain, PrivateKey: key, Leaf: leaf}, nil
}
