package steps

import (
	"crypto/ed25519"
	"io"
	"net"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
)

// Target is what a run knows of the implementation under test. The fields up to
// Record are set before the first scenario and then only read.
type Target struct {
	// Address to dial, host:port.
	Address string
	// Key that the target must hold; nil when it shows none of Ed25519.
	Key ed25519.PublicKey
	// AgentID derived from Key.
	AgentID string
	// Identity of the suite, which the target admits.
	Identity credential.Identity
	// HasHandler: an application answers, so the quiet checks do not apply.
	HasHandler bool
	// Ceiling of one check.
	Ceiling time.Duration
	// Usual is how the target dealt with the first plain request: what is wrong
	// with all its replies does not fail checks of other things.
	Usual Usual
	// Control makes the target act; nil when the suite cannot.
	Control control.Target
	// LAN is a network on which the target advertises; nil when there is none.
	LAN *LAN
	// Commands runs the target's command line; nil when the suite has none.
	Commands *Commands
	// QLog: each scenario keeps a qlog of its connections.
	QLog bool
	// KeyLog gets the TLS secrets of every connection; nil: they are not kept.
	KeyLog io.Writer
	// Single: the target keeps one connection a peer and drops the others.
	Single bool
	// Record collects what holds or fails over the whole run.
	Record *Record
	// Watch holds the connections that stay open for the whole run; nil with
	// Single.
	Watch *Watch
}

// listenAddress is the local address for a probe: loopback for a target there,
// any address for one elsewhere.
func (t *Target) listenAddress() string {
	host, _, err := net.SplitHostPort(t.Address)
	if err != nil {
		return "127.0.0.1:0"
	}
	if host == "localhost" {
		// The name may resolve to either family; the probe must be able to
		// reach both.
		return ":0"
	}
	ip := net.ParseIP(host)
	switch {
	case ip == nil:
		return ":0"
	case ip.IsLoopback() && ip.To4() != nil:
		return "127.0.0.1:0"
	case ip.IsLoopback():
		return "[::1]:0"
	}
	return ":0"
}

// dialOptions are those of a plain dialer that the target admits.
func (t *Target) dialOptions() probe.DialOptions {
	return probe.DialOptions{Address: t.Address, ServerName: t.AgentID}
}
