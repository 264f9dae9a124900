package mutants

import (
	"context"
	"net/netip"
	"time"

	"github.com/axonproto/axon/harness/lan"
	"github.com/axonproto/axon/harness/lan/netns"
)

// radio is a neighbour's multicast DNS while there is a network.
type radio struct {
	network *lan.Network
	address netip.Addr
	mark    int
	dead    bool // a fault has ended it
}

// say multicasts an advert.
func (r *radio) say(a lan.Advert) {
	if b, err := a.Pack(0, nil); err == nil {
		_ = r.network.Send(b, netip.Addr{})
	}
}

// tune looks for a network until there is one, and listens there.
func (n *neighbour) tune() {
	for times := 0; ; times++ {
		r, err := n.openRadio()
		if err == nil {
			n.listen(r)
			return
		}
		if n.manner.complain(n, times) {
			n.note("discovery does not work: " + err.Error())
		}
		if n.manner.giveUp || !n.pause(n.settings.second) {
			return
		}
	}
}

// pause waits; false when the neighbour is closed.
func (n *neighbour) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-n.ctx.Done():
		return false
	}
}

func (n *neighbour) openRadio() (*radio, error) {
	var r *radio
	err := n.machine.Do(func() error {
		network, err := lan.Open(netns.FarName)
		if err == nil {
			r = &radio{network: network, address: network.Addresses()[0], mark: network.Mark()}
		}
		return err
	})
	return r, err
}

// longestPause between two questions, in seconds: whoever found no room in a crowd is
// asked again soon after there is some.
const longestPause = 4

// listen asks at growing intervals, answers, and hears, until the neighbour ends.
func (n *neighbour) listen(r *radio) {
	n.mu.Lock()
	n.air = r
	n.mu.Unlock()
	defer func() { _ = r.network.Close() }()
	silent := n.settings.silent
	if n.manner.announce && !silent {
		r.say(n.ownAdvert())
	}
	ask, every := time.Now(), n.settings.second
	sweep := time.Now().Add(sweepEvery * n.settings.second)
	for n.ctx.Err() == nil {
		now := time.Now()
		if !now.Before(ask) {
			if (!silent || n.manner.offAsks) && n.manner.ask(n) && !r.dead {
				_ = r.network.Ask(lan.Question{Name: lan.Service})
			}
			ask = now.Add(every)
			every = min(2*every, longestPause*n.settings.second)
		}
		if !now.Before(sweep) {
			n.manner.sweep(n)
			sweep = now.Add(sweepEvery * n.settings.second)
		}
		until := ask
		if sweep.Before(until) {
			until = sweep
		}
		waiting, cancel := context.WithDeadline(n.ctx, until)
		p, next, err := r.network.Await(waiting, r.mark, func(lan.Packet) bool { return true })
		cancel()
		r.mark = next
		if err == nil && !r.dead && (!silent || n.manner.offListens) {
			n.packet(r, p)
		}
	}
}

// packet deals with one.
func (n *neighbour) packet(r *radio, p lan.Packet) {
	switch {
	case p.Message == nil:
		n.manner.garbage(n, r)
	case p.Message.Response:
		n.manner.hear(n, r, p)
	default:
		for _, q := range p.Message.Question {
			if n.manner.wants(n, p.From, q.Name, q.Qtype) {
				n.manner.reply(n, r, p)
				return
			}
		}
	}
}

// ownAdvert is what it says of itself.
func (n *neighbour) ownAdvert() lan.Advert {
	n.mu.Lock()
	address := n.air.address
	n.mu.Unlock()
	a := lan.Honest(n.identity, netip.AddrPortFrom(address, uint16(n.settings.port)))
	n.manner.advert(n, &a)
	return a
}

// onLink tells whether an address belongs to the network.
func (n *neighbour) onLink(ip netip.Addr) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, err := n.air.address.Prefix(netns.Bits)
	return err == nil && p.Contains(ip)
}
