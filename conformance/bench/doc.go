// Package bench measures what a peer costs, beside a bare quic-go exchange on the same
// machine in the same run: rates, latencies, processor time and memory, and the ratio
// of each to the bare exchange. It judges nothing.
//
// A run (bench.go) plays rows; a row has two sides (side.go) with workers (load.go), and
// perhaps a local program behind the target: at a socket (socket.go) or played by a
// driver (driven.go).
//
// It imports the harness for keys and envelopes and dials by quic-go itself, since the
// probe records everything, which costs more than many a peer.
package bench
