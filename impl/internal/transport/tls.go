package transport

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/axonproto/axon/impl/internal/identity"
)

// credentials builds the two TLS configurations. Names, dates and chains are
// not looked at: what counts is the key of the leaf, that it derives the Agent
// ID and that it is the one pinned under it. The check stands in
// VerifyConnection, which no handshake passes by; TLS then demands the proof of
// possession, and only a handshake that got through is seen by the rest.
type credentials struct {
	pins Pins
	base *tls.Config
}

func newCredentials(o *Options) (*credentials, error) {
	cert, err := o.Identity.Certificate(time.Now())
	if err != nil {
		return nil, err
	}
	return &credentials{
		pins: o.Pins,
		base: &tls.Config{
			MinVersion:             tls.VersionTLS13,
			NextProtos:             []string{ALPN},
			SessionTicketsDisabled: true, // a resumed session would skip the pin
			Certificates:           []tls.Certificate{cert},
		},
	}, nil
}

// listen returns the configuration of the listening side.
func (c *credentials) listen() *tls.Config {
	conf := c.base.Clone()
	conf.ClientAuth = tls.RequireAnyClientCert
	conf.VerifyConnection = func(state tls.ConnectionState) error {
		_, err := c.checkPin(state)
		return err
	}
	return conf
}

// dial returns the configuration for dialling one peer.
func (c *credentials) dial(peer identity.AgentID) *tls.Config {
	conf := c.base.Clone()
	conf.ServerName = string(peer)
	conf.InsecureSkipVerify = true // there is no authority; VerifyConnection does the check
	cert := &conf.Certificates[0]
	// Without this callback nothing is presented to a listener that names
	// authorities, since no authority has signed our certificate.
	conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
	conf.VerifyConnection = func(state tls.ConnectionState) error {
		key, err := identity.LeafKey(state.PeerCertificates)
		if err != nil {
			return err
		}
		if id := identity.DeriveAgentID(key); id != peer {
			return fmt.Errorf("dialled %s and met %s: %w", peer, id, identity.ErrUnexpectedAgent)
		}
		_, err = c.checkPin(state)
		return err
	}
	return conf
}

// checkPin returns the Agent ID of a peer whose key is pinned.
func (c *credentials) checkPin(state tls.ConnectionState) (identity.AgentID, error) {
	key, err := identity.LeafKey(state.PeerCertificates)
	if err != nil {
		return "", err
	}
	id := identity.DeriveAgentID(key)
	pinned, known := c.pins.Pinned(id)
	if !known {
		return "", fmt.Errorf("%s: %w", id, ErrNotPinned)
	}
	if !pinned.Equal(key) {
		return "", fmt.Errorf("%s presents another key than the pinned one: %w", id, identity.ErrUnexpectedAgent)
	}
	return id, nil
}
