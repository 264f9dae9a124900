// Package transport carries bodies between daemons over QUIC: it proves who is
// at the other end, enforces sizes and deadlines, and knows nothing of JSON.
//
// It imports identity, envelope (for the size limit) and rarelog. It serves
// AXON-TLS-001 to -010, AXON-LIMIT-001 to -003 and -006, AXON-STREAM-001, -002
// and -006 to -009 and -011, and AXON-KIND-003.
package transport

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

// ALPN is the protocol token that both ends must agree on.
const ALPN = "axon/1"

// Codes with which streams are reset and reading is stopped.
const (
	codeNone      quic.StreamErrorCode = 0 // nobody is to blame
	codeMalformed quic.StreamErrorCode = 1 // not an envelope
	codeTooLarge  quic.StreamErrorCode = 2 // over envelope.MaxSize
	codeLate      quic.StreamErrorCode = 3 // no FIN in time
)

// codeClosed is the application code of each close of ours; the reason tells
// them apart.
const codeClosed quic.ApplicationErrorCode = 0

// Reasons of our closes, as the peer sees them.
const (
	reasonShutdown   = "daemon is shutting down"
	reasonLimit      = "connection limit reached"
	reasonRemoved    = "peer removed"
	reasonSuperseded = "superseded by another connection"
)

// Limits that are not options, because peers rely on them.
const (
	maxStreams = 1024 // streams of each direction that a peer may have open
	// A stream begins with a small window and gets one for a whole body as it
	// is read, which costs a large body some round trips; see slots.go for why.
	streamWindow  = 8 << 10
	streamMaximum = envelope.MaxSize + 16<<10
	connWindow    = 2*maxStreams*streamWindow + 4<<20
)

// packetSize is what each path carries that carries QUIC (RFC 9000, section 14). Larger
// packets are not tried: a path that begins to carry less, as when a VPN comes up, would
// swallow each full one, and quic-go does not go back. It costs a long body a sixth more
// packets.
const packetSize = 1200

// What a caller may be told.
var (
	ErrPeer         = errors.New("exchange with the peer failed; try again")
	ErrNotConnected = errors.New("peer is not connected; check its address and that its daemon runs")
	ErrNotPinned    = errors.New("peer is not known; enrol it with `axon connect`")
	ErrConnLimit    = errors.New("connection limit reached; raise limits.connections or forget some peers")
	ErrClosed       = errors.New("the daemon is shutting down; start it again with `axon daemon`")
	ErrTooLarge     = fmt.Errorf("body is larger than %d bytes; send a smaller payload", envelope.MaxSize)
)

// Pins says which key an agent must prove.
type Pins interface {
	Pinned(identity.AgentID) (ed25519.PublicKey, bool)
}

// Handler takes each body that has reached its FIN. Its methods are called
// from many goroutines at once and must not keep the body.
type Handler interface {
	// Bidi returns the reply, which may be appended to dst. It returns false
	// for a body that cannot be answered: the stream is then reset. ctx ends
	// when the peer gives the stream up.
	Bidi(ctx context.Context, from identity.AgentID, body, dst []byte) ([]byte, bool)
	// Uni takes a body that asks for no reply.
	Uni(from identity.AgentID, body []byte)
}

// Watcher is told what becomes of connections. Its methods may be called from
// many goroutines at once.
type Watcher interface {
	// Proven says that an agent has proved its pinned key. The connection is
	// served when it has returned.
	Proven(identity.AgentID)
	// Changed says that an agent has gained or lost a connection; what it has
	// now, Endpoint.Connection tells. It must not block.
	Changed(identity.AgentID)
}

type noWatcher struct{}

func (noWatcher) Proven(identity.AgentID)  {}
func (noWatcher) Changed(identity.AgentID) {}

// Options of an Endpoint.
type Options struct {
	Identity *identity.Identity // required
	Pins     Pins               // required
	Handler  Handler            // required
	Logger   *slog.Logger       // required
	Watcher  Watcher            // nil: nobody is told
	// Resolve looks up the addresses of a host name. Nil: the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Addr is the UDP address to bind, host:port. An empty host is all
	// interfaces, port 0 any free port.
	Addr string
	// MaxConnections bounds the connections in both directions; zero: 128.
	MaxConnections int
	// StreamTimeout is how long after its opening a stream may take to reach
	// its FIN, and how long a reply may take to be written. Zero: 10 s.
	StreamTimeout time.Duration
	// KeepAlive and IdleTimeout of a connection. Zero: 15 s and 60 s.
	KeepAlive, IdleTimeout time.Duration
	// HandshakeTimeout is how long a silent handshake is kept. Zero: 5 s.
	HandshakeTimeout time.Duration
}

func (o *Options) check() error {
	if o.Identity == nil || o.Pins == nil || o.Handler == nil || o.Logger == nil {
		return errors.New("transport: Options.Identity, Pins, Handler and Logger are required; set all four")
	}
	if o.MaxConnections < 0 || o.StreamTimeout < 0 || o.KeepAlive < 0 || o.IdleTimeout < 0 || o.HandshakeTimeout < 0 {
		return errors.New("transport: an option is negative; use zero for its default")
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = 128
	}
	if o.Watcher == nil {
		o.Watcher = noWatcher{}
	}
	if o.Resolve == nil {
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	for _, d := range []struct {
		value    *time.Duration
		fallback time.Duration
	}{
		{&o.StreamTimeout, 10 * time.Second},
		{&o.KeepAlive, 15 * time.Second},
		{&o.IdleTimeout, 60 * time.Second},
		{&o.HandshakeTimeout, 5 * time.Second},
	} {
		if *d.value == 0 {
			*d.value = d.fallback
		}
	}
	return nil
}

func (o *Options) quic() *quic.Config {
	return &quic.Config{
		Versions:                       []quic.Version{quic.Version1},
		HandshakeIdleTimeout:           o.HandshakeTimeout,
		MaxIdleTimeout:                 o.IdleTimeout,
		KeepAlivePeriod:                o.KeepAlive,
		InitialPacketSize:              packetSize,
		DisablePathMTUDiscovery:        true,
		MaxIncomingStreams:             maxStreams,
		MaxIncomingUniStreams:          maxStreams,
		InitialStreamReceiveWindow:     streamWindow,
		MaxStreamReceiveWindow:         streamMaximum,
		InitialConnectionReceiveWindow: connWindow,
		MaxConnectionReceiveWindow:     connWindow,
	}
}
