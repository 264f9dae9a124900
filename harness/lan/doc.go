// Package lan is an instrument for one network interface: it asks and advertises
// by multicast DNS (RFC 6762, RFC 6763), rightly and wrongly, and keeps what it
// hears. It acts and records; it never judges.
//
// It was written apart from the daemon's discovery, over x/net for the sockets and
// miekg/dns for the messages. Of this module it imports harness/credential. It serves every
// requirement whose need is lan: AXON-DISC-001 to -026.
//
// Whatever is sent leaves by the one interface that was named and by no other.
// Questions and adverts go out over IPv4; what comes over IPv6 is heard too.
package lan
