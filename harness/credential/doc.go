// Package credential makes the keys and certificates that a probe shows, good
// ones and ones that no peer should accept, and reads tokens and Agent IDs.
//
// It is written apart from the daemon's own identity code and imports the
// standard library only. It serves AXON-TLS-001 to AXON-TLS-010.
package credential
