package links

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/transport"
)

// keep is the loop of one link. It acts on what it finds, not on what it was
// told, so that no order of events confuses it.
func (k *Keeper) keep(l *link) {
	for l.ctx.Err() == nil {
		if c, ok := k.network.Connection(l.id); ok {
			k.noteUp(l, c.Since)
			if k.pause(l, resolveInterval) {
				k.follow(l)
			}
			continue
		}
		wait := k.noteDown(l)
		if len(k.o.Book.Addrs(l.id)) == 0 {
			k.pause(l, 0)
			continue
		}
		if wait > 0 {
			k.pause(l, wait)
			continue
		}
		select {
		case k.room <- struct{}{}:
		case <-l.ctx.Done():
			return
		}
		a := k.try(l)
		<-a.done
		<-k.room
	}
}

// pause waits to be woken, for d at most; zero is without end. It returns true
// when d has passed.
func (k *Keeper) pause(l *link, d time.Duration) bool {
	var timeout <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case <-timeout:
		return true
	case <-l.wake:
	case <-l.ctx.Done():
	}
	return false
}

func (k *Keeper) noteUp(l *link, since time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !l.up {
		l.up, l.upSince, l.ever = true, since, true
	}
}

// noteDown counts a lost connection and returns how long to wait.
func (k *Keeper) noteDown(l *link) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.up {
		l.up = false
		if time.Since(l.upSince) >= settled {
			l.failures = 0
		}
		k.failed(l)
	}
	return time.Until(l.due)
}

// failed counts a failure and sets when the next attempt is due; the caller
// holds the lock.
func (k *Keeper) failed(l *link) {
	pause := firstPause << min(l.failures, 5)
	l.failures++
	// A quarter less to a quarter more, so that two daemons, or many after a
	// break of the network, do not go on in step.
	pause = time.Duration(float64(min(pause, longestPause)) * (0.75 + k.o.Jitter()/2))
	l.due = time.Now().Add(min(pause, longestPause))
}

// try begins an attempt, or joins the one under way.
func (k *Keeper) try(l *link) *attempt {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.attempt != nil {
		return l.attempt
	}
	a := &attempt{done: make(chan struct{})}
	if k.closed {
		a.err = transport.ErrClosed
		close(a.done)
		return a
	}
	l.attempt = a
	k.wg.Go(func() { k.dial(l, a) })
	return a
}

func (k *Keeper) dial(l *link, a *attempt) {
	ctx, cancel := context.WithTimeout(l.ctx, dialTimeout)
	defer cancel()
	addr, err := k.network.Dial(ctx, l.id, k.o.Book.Addrs(l.id)...)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("dial %s: %w", l.id, errNoAnswer)
	}
	if err == nil && addr != "" {
		if err := k.o.Book.DialledAt(l.id, addr); err != nil {
			k.o.Logger.Warn("the peer's new address could not be stored", "peer", l.id, "error", err)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	a.err = err
	l.attempt = nil
	first := l.failures == 0
	switch {
	case err != nil:
		k.failed(l)
	case !l.up:
		l.up, l.upSince, l.ever = true, time.Now(), true
		fallthrough
	default:
		if addr != "" {
			l.via = addr
		}
	}
	close(a.done)
	l.poke()
	if err != nil && l.ctx.Err() == nil {
		log := k.o.Logger.Debug
		if first {
			log = k.o.Logger.Info
		}
		log("could not connect", "peer", l.id, "error", err, "next_attempt", time.Until(l.due).Round(time.Millisecond).String())
	}
}

var errNoAnswer = fmt.Errorf("there is no answer within %s; check its address and that its daemon runs (%w)", dialTimeout, transport.ErrPeer)

// Connect returns once the peer has a connection. It dials at once, whatever
// the pause between attempts, and waits until ctx ends or the attempt fails.
func (k *Keeper) Connect(ctx context.Context, id identity.AgentID) error {
	p, known := k.o.Book.Lookup(id)
	switch {
	case !known:
		return fmt.Errorf("%s: %w", id, ErrUnknown)
	case p.Candidate:
		return fmt.Errorf("%s: %w", id, ErrCandidate)
	}
	l := k.ensure(id)
	if l == nil {
		return transport.ErrClosed
	}
	k.mu.Lock()
	news := l.news
	k.mu.Unlock()
	if _, ok := k.network.Connection(id); ok {
		return nil
	}
	if len(k.o.Book.Addrs(id)) == 0 {
		return fmt.Errorf("%s: %w", id, ErrNoAddr)
	}
	a := k.try(l)
	for {
		select {
		case <-a.done:
			return a.err
		case <-news: // the peer may have dialled us
			k.mu.Lock()
			news = l.news
			k.mu.Unlock()
			if _, ok := k.network.Connection(id); ok {
				return nil
			}
		case <-k.ctx.Done():
			return transport.ErrClosed
		case <-l.ctx.Done():
			if k.ctx.Err() != nil {
				return transport.ErrClosed
			}
			return fmt.Errorf("%s: %w", id, ErrUnknown)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// follow looks the host name up under which we dialled the peer, and moves the
// connection when it stands for other addresses by now.
func (k *Keeper) follow(l *link) {
	c, ok := k.network.Connection(l.id)
	k.mu.Lock()
	via := l.via
	k.mu.Unlock()
	host, _, err := net.SplitHostPort(via)
	if !ok || !c.Dialled || err != nil {
		return
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(l.ctx, dialTimeout)
	defer cancel()
	now, err := k.network.Resolve(ctx, via)
	if err != nil || len(now) == 0 || slices.ContainsFunc(now, func(a netip.AddrPort) bool { return a.String() == c.Addr }) {
		return
	}
	if _, err := k.network.Move(ctx, l.id, via); err != nil {
		k.o.Logger.Debug("the peer's host name stands for another address, where it cannot be met yet", "peer", l.id, "host", host, "error", err)
		return
	}
	k.o.Logger.Info("followed the peer to the new address of its host name", "peer", l.id, "host", host)
}
