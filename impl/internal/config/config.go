// Package config reads config.yaml of a state root.
//
// It imports identity only.
package config

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/axonproto/axon/impl/internal/identity"
)

// File is the name of the configuration in the state root.
const File = "config.yaml"

// Defaults of what the file may leave out.
const (
	DefaultPort            = 7100
	DefaultConnections     = 128
	DefaultPendingRequests = 1024
)

// ErrInvalid reports a configuration that cannot be used as it stands.
var ErrInvalid = errors.New("configuration invalid")

// Trust says what the discovery of an unknown daemon leads to.
type Trust string

const (
	// TrustAutomatic pins the key at the first contact. It is the default.
	TrustAutomatic Trust = "automatic"
	// TrustEnroll makes a candidate that waits for `axon connect`.
	TrustEnroll Trust = "enroll"
)

// Config is a checked configuration: every value is usable as it is.
type Config struct {
	Name          string
	Port          int    // UDP, 1 to 65535
	ListenAddr    string // host to bind; empty: all interfaces
	AdvertiseAddr string // host:port to tell others; empty: found out
	Peers         []Peer
	Discovery     bool
	Trust         Trust
	Connections   int // most connections at a time
	Pending       int // most requests that wait for the handler
}

// Peer is a peer that the owner pinned by hand.
type Peer struct {
	ID        identity.AgentID
	Name      string // what the owner calls it on the command line; may be empty
	PublicKey ed25519.PublicKey
	Addr      string // host:port; empty: the peer dials us
}

// document is the shape of the file.
type document struct {
	Name          string     `yaml:"name"`
	Port          *int       `yaml:"port"`
	ListenAddr    string     `yaml:"listen_addr"`
	AdvertiseAddr string     `yaml:"advertise_addr"`
	Peers         []peerItem `yaml:"peers"`
	Discovery     struct {
		Enabled *bool  `yaml:"enabled"`
		Trust   string `yaml:"trust"`
	} `yaml:"discovery"`
	Limits struct {
		Connections     *int `yaml:"connections"`
		PendingRequests *int `yaml:"pending_requests"`
	} `yaml:"limits"`
}

type peerItem struct {
	Name    string `yaml:"name"`
	AgentID string `yaml:"agent_id"`
	Addr    string `yaml:"addr"`
	PubKey  string `yaml:"pubkey"`
}

// Load reads the configuration of a state root. No file at all means the
// defaults. Errors about the content wrap ErrInvalid.
func Load(root string) (Config, error) {
	path := filepath.Join(root, File)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Config{}, fmt.Errorf("read configuration: %w; make it a file that you can read, or take it away", err)
	}
	c, err := Parse(text)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse reads and checks the text of a configuration; empty text means the
// defaults. Errors wrap ErrInvalid.
func Parse(text []byte) (Config, error) {
	var d document
	if err := d.decode(text); err != nil {
		return Config{}, err
	}
	c, err := d.check()
	if err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return c, nil
}

func (d *document) decode(text []byte) (err error) {
	defer survive(&err, fmt.Errorf("%w: it is no YAML that can be read; write it in a simpler form", ErrInvalid))
	err = yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(d)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %s%s", ErrInvalid, hint(text, err), yaml.FormatError(err, false, true))
	}
	return nil
}

// survive puts an error in the place of a panic: the library has some for files that
// no owner would write.
func survive(err *error, instead error) {
	if recover() != nil {
		*err = instead
	}
}

func (d *document) check() (Config, error) {
	c := Config{
		Name: d.Name, Port: DefaultPort, ListenAddr: d.ListenAddr, AdvertiseAddr: d.AdvertiseAddr,
		Discovery: true, Trust: TrustAutomatic, Connections: DefaultConnections, Pending: DefaultPendingRequests,
	}
	for _, n := range []struct {
		key      string
		from     *int
		to       *int
		min, max int
	}{
		{"port", d.Port, &c.Port, 1, 65535},
		{"limits.connections", d.Limits.Connections, &c.Connections, 1, 65536},
		{"limits.pending_requests", d.Limits.PendingRequests, &c.Pending, 1, 1 << 20},
	} {
		if n.from == nil {
			continue
		}
		if *n.from < n.min || *n.from > n.max {
			return Config{}, fmt.Errorf("%s is %d; set it to a number from %d to %d", n.key, *n.from, n.min, n.max)
		}
		*n.to = *n.from
	}
	if d.Discovery.Enabled != nil {
		c.Discovery = *d.Discovery.Enabled
	}
	switch t := Trust(d.Discovery.Trust); t {
	case "":
	case TrustAutomatic, TrustEnroll:
		c.Trust = t
	default:
		return Config{}, fmt.Errorf("discovery.trust is %q; set it to %s or %s", t, TrustAutomatic, TrustEnroll)
	}
	if d.AdvertiseAddr != "" {
		if err := CheckAddr(d.AdvertiseAddr); err != nil {
			return Config{}, fmt.Errorf("advertise_addr: %w", err)
		}
		// It is told to others in a token.
		told := identity.Token{PublicKey: make(ed25519.PublicKey, ed25519.PublicKeySize), Addr: d.AdvertiseAddr}
		if read, err := identity.ParseToken(told.String()); err != nil || read.Addr != d.AdvertiseAddr {
			return Config{}, fmt.Errorf("advertise_addr: %q cannot stand in a token; write an IP address without a zone, or a plain host name, and the port", d.AdvertiseAddr)
		}
	}
	seen, names := map[identity.AgentID]int{}, map[string]int{}
	for i, item := range d.Peers {
		p, err := item.check()
		if err != nil {
			return Config{}, fmt.Errorf("peers[%d]: %w", i, err)
		}
		if first, twice := seen[p.ID]; twice {
			return Config{}, fmt.Errorf("peers[%d] is the same agent as peers[%d] (%s); keep one of them", i, first, p.ID)
		}
		seen[p.ID] = i
		if p.Name != "" {
			if first, twice := names[p.Name]; twice {
				return Config{}, fmt.Errorf("peers[%d] has the name of peers[%d], %q; give each its own", i, first, p.Name)
			}
			names[p.Name] = i
		}
		c.Peers = append(c.Peers, p)
	}
	return c, nil
}

func (item peerItem) check() (Peer, error) {
	if item.PubKey == "" {
		return Peer{}, errors.New("pubkey is missing; copy it from the peer's identity.pub")
	}
	key, err := identity.ParsePublicKey(item.PubKey)
	if err != nil {
		return Peer{}, fmt.Errorf("pubkey: %w", err)
	}
	p := Peer{ID: identity.DeriveAgentID(key), Name: item.Name, PublicKey: key, Addr: item.Addr}
	if err := checkName(p.Name); err != nil {
		return Peer{}, err
	}
	if item.AgentID == "" {
		return Peer{}, fmt.Errorf("agent_id is missing; for this pubkey it is %s", p.ID)
	}
	id, err := identity.ParseAgentID(item.AgentID)
	if err != nil {
		return Peer{}, fmt.Errorf("agent_id: %w", err)
	}
	if id != p.ID {
		return Peer{}, fmt.Errorf("agent_id %s does not belong to this pubkey, which gives %s; ask the peer's owner for `axon identity`", id, p.ID)
	}
	if item.Addr != "" {
		if err := CheckAddr(item.Addr); err != nil {
			return Peer{}, fmt.Errorf("addr: %w", err)
		}
	}
	return p, nil
}

// checkName refuses names that could be taken for something else where a peer is
// to be named.
func checkName(name string) error {
	switch {
	case len(name) > 64:
		return errors.New("name is longer than 64 bytes; choose a shorter one")
	case strings.HasPrefix(strings.ToLower(name), "ed25519.") || strings.HasPrefix(name, "axon:") || strings.HasPrefix(name, "-"):
		return fmt.Errorf("name %q begins like an agent id, a token or a flag; choose another", name)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("name %q holds characters that cannot be printed; choose another", name)
	}
	return nil
}

// MaxHost bounds the host of an address, in bytes: a name has 253 at most, and an
// IPv6 address may have a zone.
const MaxHost = 255

// CheckAddr tells whether addr has the form IP:port or hostname:port, with a
// port from 1 to 65535. It looks nothing up.
func CheckAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return fmt.Errorf("%q is not HOST:PORT; write for example 192.0.2.7:%d or [2001:db8::7]:%d", addr, DefaultPort, DefaultPort)
	}
	if len(host) > MaxHost {
		return fmt.Errorf("%.40q… has a host of %d bytes; it may have %d", addr, len(host), MaxHost)
	}
	if !utf8.ValidString(host) || strings.ContainsFunc(host, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }) {
		return fmt.Errorf("%q has a host with blanks or characters that cannot be printed; take them out", addr)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%q has no port from 1 to 65535; write for example %s", addr, net.JoinHostPort(host, strconv.Itoa(DefaultPort)))
	}
	return nil
}
