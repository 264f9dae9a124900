// Package bench measures what a peer costs, beside a bare quic-go exchange on the same
// machine in the same run: rates, latencies, processor time and memory, and the ratio
// of each to the bare exchange. It judges nothing.
//
// It imports the harness for keys and envelopes and dials by quic-go itself, since the
// probe records everything, which costs more than many a peer.
package bench
