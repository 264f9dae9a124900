package peers

import (
	"crypto/ed25519"
	"net/netip"

	"github.com/axonproto/axon/impl/internal/identity"
)

// SourceMDNS is the source of observations that come from multicast DNS.
const SourceMDNS = "mdns"

// Observation says that a daemon was seen at an address. It proves nothing:
// whoever announces an address need not hold the key.
type Observation struct {
	// AgentID derives from PublicKey; the observer has checked that.
	AgentID   identity.AgentID
	PublicKey ed25519.PublicKey
	// Addr is one address of the daemon. One that has several is observed
	// once for each.
	Addr netip.AddrPort
	// Source says how it was seen, for example SourceMDNS.
	Source string
}

// Sink takes in what discovery sees. Its methods return soon, whatever the
// network does, and may be called from any goroutine.
type Sink interface {
	// Observe reports an observation, and may report it again at any time.
	Observe(Observation)
	// Forget takes one back that has gone stale, named by AgentID, Addr and
	// Source. Others of the same daemon stay.
	Forget(Observation)
}
