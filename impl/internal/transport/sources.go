package transport

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// What one address may cost with handshakes that come to nothing, as those of a
// stranger do: failedBurst of them at once, and failedRate a second thereafter. A
// handshake counts when it begins and no longer when its peer was let in, so that
// admitted peers may dial as often as they like. An address that has used half of it
// first has to show that it receives there (QUIC Retry), so that nobody uses up
// another's share by writing its address on a datagram; one that has used all is
// refused before any key is looked at.
const (
	failedBurst = 256
	failedRate  = 50 // a second
	// maxSources are the addresses that are remembered, a hundred bytes each.
	maxSources = 4096
)

// sources are the addresses from which handshakes came.
type sources struct {
	burst, rate float64 // see failedBurst and failedRate

	mu      sync.Mutex // guards the rest
	buckets map[netip.Prefix]*bucket
}

func newSources(burst, rate float64) *sources {
	return &sources{burst: burst, rate: rate, buckets: map[netip.Prefix]*bucket{}}
}

// bucket is what an address has left.
type bucket struct {
	left float64
	at   time.Time
}

// sourceOf is what of an address its owner cannot easily change: all of it for IPv4,
// the network for IPv6.
func sourceOf(addr net.Addr) netip.Prefix {
	udp, ok := addr.(*net.UDPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := udp.AddrPort().Addr().Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p
}

// find returns what a source has left by now, or nil when it has all. The caller holds
// the lock.
func (s *sources) find(p netip.Prefix, now time.Time) *bucket {
	b := s.buckets[p]
	if b == nil {
		return nil
	}
	b.left += now.Sub(b.at).Seconds() * s.rate
	b.at = now
	if b.left >= s.burst {
		delete(s.buckets, p)
		return nil
	}
	return b
}

// begin counts a handshake; false: the source has used up its share.
func (s *sources) begin(p netip.Prefix) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	b := s.find(p, now)
	if b == nil {
		s.room(now)
		b = &bucket{left: s.burst, at: now}
		s.buckets[p] = b
	}
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// succeeded takes a handshake out of the count.
func (s *sources) succeeded(p netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.find(p, time.Now()); b != nil {
		b.left++
	}
}

// suspect tells whether a source has used half of its share.
func (s *sources) suspect(p netip.Prefix) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.find(p, time.Now())
	return b != nil && b.left < s.burst/2
}

// room forgets those that have all of their share again, and if there are none, any
// one: what all together may cost is bounded by maxHandshakes. The caller holds the
// lock.
func (s *sources) room(now time.Time) {
	if len(s.buckets) < maxSources {
		return
	}
	for p := range s.buckets {
		s.find(p, now)
	}
	for p := range s.buckets {
		if len(s.buckets) < maxSources {
			return
		}
		delete(s.buckets, p)
	}
}
