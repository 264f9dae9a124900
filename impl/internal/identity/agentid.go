// Package identity holds who a daemon is: its Ed25519 key pair, the Agent ID
// that derives from it, the certificate that carries it and the token by which
// others enrol it.
//
// It imports nothing of this module but atomicfile. It serves AXON-TLS-005.
package identity

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// AgentID names a daemon: "ed25519." and 32 lower-case hex digits, the first
// 16 bytes of the SHA-256 of its public key. Values come from ParseAgentID or
// DeriveAgentID, so that two equal identities are equal strings.
type AgentID string

const (
	agentIDPrefix = "ed25519."
	agentIDDigits = 32
)

// ErrBadAgentID reports text that is no Agent ID.
var ErrBadAgentID = errors.New("not an agent id: expected \"ed25519.\" followed by 32 hex digits")

// ErrBadPublicKey reports text that is no Ed25519 public key.
var ErrBadPublicKey = errors.New("not a public key: expected 32 bytes in base64, as in identity.pub")

// ErrBadToken reports text that is no peer token.
var ErrBadToken = errors.New("not a peer token: expected axon://PUBLIC_KEY@HOST:PORT as printed by `axon identity`")

// DeriveAgentID returns the Agent ID of a public key.
func DeriveAgentID(key ed25519.PublicKey) AgentID {
	sum := sha256.Sum256(key)
	return AgentID(agentIDPrefix + hex.EncodeToString(sum[:agentIDDigits/2]))
}

// ParseAgentID reads an Agent ID in any mixture of cases. Anything else gives
// an error that wraps ErrBadAgentID.
func ParseAgentID(text string) (AgentID, error) {
	lower := strings.ToLower(text)
	digits, found := strings.CutPrefix(lower, agentIDPrefix)
	if !found || len(digits) != agentIDDigits {
		return "", fmt.Errorf("%q is %w", text, ErrBadAgentID)
	}
	if _, err := hex.DecodeString(digits); err != nil {
		return "", fmt.Errorf("%q is %w", text, ErrBadAgentID)
	}
	return AgentID(lower), nil
}

// EncodePublicKey writes a public key as standard base64, the form used in
// files, configuration and adverts.
func EncodePublicKey(key ed25519.PublicKey) string {
	return base64.StdEncoding.EncodeToString(key)
}

// ParsePublicKey reads what EncodePublicKey writes.
func ParsePublicKey(text string) (ed25519.PublicKey, error) {
	key, ok := decodeKey(base64.StdEncoding, text)
	if !ok {
		return nil, fmt.Errorf("%q is %w", text, ErrBadPublicKey)
	}
	return key, nil
}

// decodeKey reads a key in the one way in which it is written. The decoder itself
// passes over line breaks, strict or not.
func decodeKey(encoding *base64.Encoding, text string) (ed25519.PublicKey, bool) {
	raw, err := encoding.Strict().DecodeString(text)
	if err != nil || len(raw) != ed25519.PublicKeySize || strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	return ed25519.PublicKey(raw), true
}

// Token is what one owner gives another to enrol a daemon.
type Token struct {
	PublicKey ed25519.PublicKey
	Addr      string // host:port
}

// String returns axon://PUBLIC_KEY@HOST:PORT.
func (t Token) String() string {
	return "axon://" + base64.RawURLEncoding.EncodeToString(t.PublicKey) + "@" + t.Addr
}

// ParseToken reads what Token.String writes; errors wrap ErrBadToken.
func ParseToken(text string) (Token, error) {
	bad := func(why string) (Token, error) { return Token{}, fmt.Errorf("%q is %w (%s)", text, ErrBadToken, why) }
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return bad("it does not parse as a URL")
	case u.Scheme != "axon":
		return bad("it does not begin with axon://")
	case u.User == nil:
		return bad("there is no key before the @")
	case u.Path != "" || u.RawQuery != "" || u.Fragment != "":
		return bad("something follows the port")
	}
	if _, has := u.User.Password(); has {
		return bad("the key holds a colon")
	}
	key, ok := decodeKey(base64.RawURLEncoding, u.User.Username())
	if !ok {
		return bad("the key is not 32 bytes in base64url without padding")
	}
	host, port, err := net.SplitHostPort(u.Host)
	if err != nil || host == "" || port == "" {
		return bad("the address is not HOST:PORT")
	}
	if strings.Contains(host, "%") {
		return bad("the address has a zone, which only its own machine knows")
	}
	return Token{PublicKey: key, Addr: u.Host}, nil
}
