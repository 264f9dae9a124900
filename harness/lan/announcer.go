package lan

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Announcer keeps an advert on the network: it announces it when it begins and
// once more after a second, and answers who asks for it.
type Announcer struct {
	network *Network
	from    netip.Addr
	second  time.Duration
	ctx     context.Context // ends when it falls silent
	cancel  context.CancelFunc
	done    sync.WaitGroup

	mu     sync.Mutex // guards what follows
	advert Advert
	first  time.Time
	last   time.Time
	err    error
}

// Announce begins to keep an advert on the network, sent from the given address of
// the interface; from the zero Addr the system chooses one. A second is as long as
// the caller says.
func (n *Network) Announce(advert Advert, from netip.Addr, second time.Duration) (*Announcer, error) {
	a := &Announcer{network: n, advert: advert, from: from, second: second}
	a.ctx, a.cancel = context.WithCancel(n.ear.life)
	mark := n.Mark()
	if err := a.say(); err != nil {
		a.cancel()
		return nil, err
	}
	n.add(a)
	a.done.Go(a.again)
	a.done.Go(func() { a.answer(mark) })
	return a, nil
}

// again says it once more: a first packet may be lost.
func (a *Announcer) again() {
	t := time.NewTimer(a.second)
	defer t.Stop()
	select {
	case <-t.C:
		a.note(a.say())
	case <-a.ctx.Done():
	}
}

// answer answers questions until it ends.
func (a *Announcer) answer(mark int) {
	for {
		p, next, err := a.network.Await(a.ctx, mark, a.asked)
		if err != nil {
			return
		}
		mark = next
		if p.From.Port() == Port {
			a.note(a.say())
			continue
		}
		b, err := a.Advert().Pack(p.Message.Id, &p.Message.Question[0])
		if err == nil {
			err = a.network.SendTo(b, p.From)
			a.spoke()
		}
		a.note(err)
	}
}

// asked tells whether a packet asks for the advert, or for a part of it.
func (a *Announcer) asked(p Packet) bool {
	if p.Message == nil || p.Message.Response {
		return false
	}
	advert := a.Advert()
	return slices.ContainsFunc(p.Message.Question, func(q dns.Question) bool {
		switch q.Qtype {
		case dns.TypePTR:
			return strings.EqualFold(q.Name, advert.service())
		case dns.TypeSRV, dns.TypeTXT:
			return strings.EqualFold(q.Name, advert.Instance())
		case dns.TypeA, dns.TypeAAAA:
			return strings.EqualFold(q.Name, advert.HostName())
		case dns.TypeANY:
			return strings.EqualFold(q.Name, advert.service()) || strings.EqualFold(q.Name, advert.Instance()) || strings.EqualFold(q.Name, advert.HostName())
		}
		return false
	})
}

// say multicasts the advert.
func (a *Announcer) say() error {
	b, err := a.Advert().Pack(0, nil)
	if err != nil {
		return err
	}
	a.spoke()
	return a.network.Send(b, a.from)
}

func (a *Announcer) spoke() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = time.Now()
	if a.first.IsZero() {
		a.first = a.last
	}
}

func (a *Announcer) note(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && a.err == nil {
		a.err = err
	}
}

// Advert is what is advertised now.
func (a *Announcer) Advert() Advert {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.advert
}

// First and Last are when the advert was first and last sent.
func (a *Announcer) First() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.first
}

// Last: see First.
func (a *Announcer) Last() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// Err is the first error of sending, nil for none.
func (a *Announcer) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// Stop falls silent, without a goodbye, and waits. It may be called more than once.
func (a *Announcer) Stop() {
	a.cancel()
	a.done.Wait()
	a.network.drop(a)
}

// Goodbye stops and says so: the advert goes out once more, with a TTL of 0.
func (a *Announcer) Goodbye() error {
	a.Stop()
	advert := a.Advert()
	advert.Gone = true
	b, err := advert.Pack(0, nil)
	if err != nil {
		return err
	}
	return a.network.Send(b, a.from)
}
