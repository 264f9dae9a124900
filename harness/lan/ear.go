package lan

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// maxHeard bounds the packets that are kept; the oldest go first.
const maxHeard = 4096

// Packet is a datagram that came.
type Packet struct {
	At   time.Time
	From netip.AddrPort
	// Group: it was sent to the group, not to one listener.
	Group bool
	Data  []byte
	// Message is nil when the datagram is no DNS message.
	Message *dns.Msg
}

// Answers tells whether it is a DNS answer.
func (p Packet) Answers() bool { return p.Message != nil && p.Message.Response }

// ear keeps what came.
type ear struct {
	life context.Context // ends with it
	kill context.CancelFunc

	hearing sync.Mutex // guards what follows
	first   int        // number of the oldest packet kept
	packets []Packet
	changed chan struct{}
}

func (e *ear) init() {
	e.life, e.kill = context.WithCancel(context.Background())
	e.changed = make(chan struct{})
}

func (e *ear) end() { e.kill() }

func (e *ear) hear(datagram []byte, from netip.AddrPort, group bool) {
	p := Packet{At: time.Now(), From: from, Group: group, Data: slices.Clone(datagram)}
	var m dns.Msg
	if m.Unpack(p.Data) == nil {
		p.Message = &m
	}
	e.hearing.Lock()
	defer e.hearing.Unlock()
	if len(e.packets) >= maxHeard {
		drop := maxHeard / 4
		e.packets = slices.Clone(e.packets[drop:])
		e.first += drop
	}
	e.packets = append(e.packets, p)
	close(e.changed)
	e.changed = make(chan struct{})
}

// Mark is the number that the next packet will get.
func (e *ear) Mark() int {
	e.hearing.Lock()
	defer e.hearing.Unlock()
	return e.first + len(e.packets)
}

// Since are the packets from a mark on, as far as they are kept.
func (e *ear) Since(mark int) []Packet {
	list, _, _ := e.since(mark)
	return list
}

func (e *ear) since(mark int) (list []Packet, next int, changed chan struct{}) {
	e.hearing.Lock()
	defer e.hearing.Unlock()
	at := min(max(mark-e.first, 0), len(e.packets))
	return slices.Clone(e.packets[at:]), e.first + len(e.packets), e.changed
}

// Await waits for the first packet from a mark on that matches. The number that
// comes with it is the mark behind it.
func (e *ear) Await(ctx context.Context, mark int, match func(Packet) bool) (Packet, int, error) {
	for {
		list, next, changed := e.since(mark)
		for i, p := range list {
			if match(p) {
				return p, next - len(list) + i + 1, nil
			}
		}
		mark = next
		select {
		case <-changed:
		case <-ctx.Done():
			return Packet{}, mark, ctx.Err()
		case <-e.life.Done():
			return Packet{}, mark, context.Canceled
		}
	}
}
