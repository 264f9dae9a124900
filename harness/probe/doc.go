// Package probe is a QUIC endpoint that does as it is told, also what no peer
// should. It acts on the wire and records what it saw; it never judges.
//
// It may import the standard library, quic-go, and the harness packages
// credential and trace; never the daemon, never the conformance judge. It serves
// AXON-TLS-…, AXON-STREAM-…, AXON-KIND-…, AXON-LIMIT-… and every other check
// that looks at streams.
//
// Ownership: an Endpoint owns its Listener, its Conns and the handlers given to
// Conn.OnIncoming; Endpoint.Close waits for all of them. Conn.Close waits for
// the connection's readers but not for handlers, so that a handler may close its
// own connection.
package probe
