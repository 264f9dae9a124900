package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/identity"
)

const (
	// headStart is how long one address has before the next is tried beside it.
	headStart = 250 * time.Millisecond
	// maxTargets bounds what one dial tries, whatever the resolver returns.
	maxTargets = 16
)

var errNoAddr = errors.New("no address is known for it; enrol it again with its token, which holds one")

// Dial connects to a pinned peer at the first of the addresses, each host:port,
// that works, and returns that address. It does nothing and returns "" when the
// peer has a connection already. The listener may still refuse us a moment
// after Dial has returned.
func (e *Endpoint) Dial(ctx context.Context, peer identity.AgentID, addrs ...string) (string, error) {
	if e.Connected(peer) {
		return "", nil
	}
	return e.dial(ctx, peer, addrs)
}

// Move is Dial for a peer whose address has changed: it dials although there is
// a connection, and gives up those that we dialled before once their streams
// are done.
func (e *Endpoint) Move(ctx context.Context, peer identity.AgentID, addrs ...string) (string, error) {
	e.mu.Lock()
	old := append([]*conn(nil), e.byPeer[peer]...)
	e.mu.Unlock()
	addr, err := e.dial(ctx, peer, addrs)
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range old {
		if c.dialled && !e.closed {
			e.wg.Go(c.retire)
		}
	}
	return addr, nil
}

func (e *Endpoint) dial(ctx context.Context, peer identity.AgentID, addrs []string) (string, error) {
	if e.draining.Load() {
		return "", fmt.Errorf("dial %s: %w", peer, ErrClosed)
	}
	if _, known := e.o.Pins.Pinned(peer); !known {
		return "", fmt.Errorf("dial %s: %w", peer, ErrNotPinned)
	}
	if len(addrs) == 0 {
		return "", fmt.Errorf("dial %s: %w", peer, errNoAddr)
	}
	qc, addr, err := e.race(ctx, peer, addrs)
	if err != nil {
		return "", fmt.Errorf("dial %s: %w", peer, err)
	}
	if err := e.adopt(qc, true); err != nil {
		return "", fmt.Errorf("dial %s: %w", peer, err)
	}
	return addr, nil
}

// target is one address to try; from is what it was resolved from.
type target struct {
	addr *net.UDPAddr
	from string
}

type outcome struct {
	qc  *quic.Conn
	via target
	err error
}

// race tries the addresses in turn, each with a head start over the next, so
// that one that swallows packets does not cost the whole of its time-out. It
// has ended all that it started when it returns.
func (e *Endpoint) race(ctx context.Context, peer identity.AgentID, addrs []string) (*quic.Conn, string, error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	targets, outcomes := make(chan target), make(chan outcome, maxTargets+len(addrs))
	wg.Go(func() { e.resolveAll(ctx, addrs, targets, outcomes) })

	var failures []error
	pending, tried := 0, 0
	next, head := targets, time.NewTimer(0)
	defer head.Stop()
	<-head.C
	for next != nil || pending > 0 || targets != nil {
		select {
		case t, ok := <-next:
			if !ok || tried == maxTargets {
				next, targets = nil, nil
				continue
			}
			tried++
			pending++
			wg.Go(func() {
				if err := route(t.addr); err != nil {
					outcomes <- outcome{nil, t, err}
					return
				}
				qc, err := e.quic.Dial(ctx, t.addr, e.creds.dial(peer), e.quicConfig)
				if err == nil && ctx.Err() != nil { // another was first
					_ = qc.CloseWithError(codeClosed, reasonSuperseded)
					err = ctx.Err()
				}
				outcomes <- outcome{qc, t, err}
			})
			next = nil
			head.Reset(headStart)
		case <-head.C:
			next = targets
		case o := <-outcomes:
			if o.via.addr != nil {
				pending--
			}
			if o.err == nil {
				cancel()
				e.closeLosers(pending, outcomes)
				return o.qc, o.via.from, nil
			}
			failures = append(failures, o.failure())
			next = targets
		case <-ctx.Done():
			e.closeLosers(pending, outcomes)
			return nil, "", context.Cause(ctx)
		}
	}
	return nil, "", fmt.Errorf("%w; check that its daemon runs and knows %s", errors.Join(failures...), e.o.Identity.ID)
}

// closeLosers waits for the attempts that are cancelled by now.
func (e *Endpoint) closeLosers(pending int, outcomes <-chan outcome) {
	for pending > 0 {
		o := <-outcomes
		if o.via.addr == nil {
			continue
		}
		pending--
		if o.err == nil {
			_ = o.qc.CloseWithError(codeClosed, reasonSuperseded)
		}
	}
}

func (o *outcome) failure() error {
	if o.via.addr == nil {
		return o.err
	}
	return fmt.Errorf("at %s: %w", o.via.addr, explain(o.err))
}

// resolveAll looks the hosts up side by side, so that a slow name server holds
// up no other address, and closes targets when it is through.
func (e *Endpoint) resolveAll(ctx context.Context, addrs []string, targets chan<- target, outcomes chan<- outcome) {
	defer close(targets)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, text := range addrs {
		wg.Go(func() {
			list, err := e.Resolve(ctx, text)
			if err != nil {
				outcomes <- outcome{err: err}
				return
			}
			for _, a := range list {
				select {
				case targets <- target{net.UDPAddrFromAddrPort(a), text}:
				case <-ctx.Done():
					return
				}
			}
		})
	}
}

// Resolve returns the addresses that host:port stands for now.
func (e *Endpoint) Resolve(ctx context.Context, addr string) ([]netip.AddrPort, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w; write it as HOST:PORT", addr, err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return nil, fmt.Errorf("address %q: the port is not a number from 1 to 65535", addr)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(ip.Unmap(), uint16(port))}, nil
	}
	ips, err := e.o.Resolve(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w; check the name", addr, err)
	}
	list := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		list[i] = netip.AddrPortFrom(ip.Unmap(), uint16(port))
	}
	return list, nil
}
