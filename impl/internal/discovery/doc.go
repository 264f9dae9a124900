// Package discovery finds other daemons on the local network by multicast DNS,
// and lets them find this one: it advertises `_axon._udp.local.` with the agent
// id and the public key, asks for others at growing intervals, and remembers
// who was seen where until that goes stale. It tells a peers.Sink; whom to
// trust and when to dial is decided there. An advert proves nothing: whoever is dialled
// has yet to show the key.
//
// It imports identity, peers (for the sink) and rarelog. It serves AXON-DISC-001 to -026 and
// AXON-LEARN-003.
//
// The records come from hashicorp/mdns. Its client and its server are not used:
// the client shows neither the TTL nor the source of an answer and keeps one
// address of each peer; the server does not learn where a question came from,
// so that it answers on interfaces that were not asked, and answers hosts that
// are not on the link, which makes it a reflector on a public address. The
// sockets here are ours, over x/net, with the codec of miekg/dns.
//
// Three parts: medium (the sockets of one interface, replaced by a fake in
// tests), adverts (bytes to checked adverts and back) and table (what is
// remembered). One goroutine owns the table and the links.
package discovery
