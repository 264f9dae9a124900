// Package mutants holds peers that are broken on purpose, one fault each, and
// peers that do odd things which are allowed. They judge the judge: the suite must
// fail each of the former by the sentence that it breaks, for that reason, and
// pass each of the latter whole.
//
// Under them lies one small and correct AXON peer on the probe. Each of its
// decisions is a function in a manner; a fault replaces one of them. Peers listen
// on 127.0.0.1 alone. What crypto/tls does by itself cannot be broken here: a
// dialer's proof that it holds its private key is always demanded.
//
// A fault in discovery belongs to a neighbour: the same peer with discovery beside
// it, on a machine of its own (see harness/lan/netns), where a second is shorter. It
// multicasts on a cable between that machine and this one and nowhere else; where
// none can be laid, the self test says so and does not run it.
//
// A fault in a local API belongs to a daemon: the same peer with a socket beside it, in
// a folder of its own (local_daemon.go and what follows it by name). What it is to do
// stands as rules in the code, and a fault leaves one out, or changes one of the
// functions of a localManner. Messages and connections that go wrong only when a peer
// is made to act, or to show what it delivers, are broken there too.
//
// The package may import conformance, harness, spec, schemas and features. It is
// imported by tests and by the selftest command. It serves every requirement whose
// need is wire, quiet, drive, handle, observe or lan: see List.
package mutants
