package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

// Dial connects to a pinned peer at host:port, trying each address of the host
// in turn. It does nothing when the peer has a connection already. The listener
// may still refuse us a moment after Dial has returned.
func (e *Endpoint) Dial(ctx context.Context, peer identity.AgentID, addr string) error {
	if e.Connected(peer) {
		return nil
	}
	if _, known := e.o.Pins.Pinned(peer); !known {
		return fmt.Errorf("dial %s: %w", peer, ErrNotPinned)
	}
	addrs, err := resolve(ctx, addr)
	if err != nil {
		return fmt.Errorf("dial %s: %w", peer, err)
	}
	var failures []error
	for _, a := range addrs {
		qc, err := e.quic.Dial(ctx, a, e.creds.dial(peer), e.quicConfig)
		if err != nil {
			failures = append(failures, fmt.Errorf("at %s: %w", a, err))
			continue
		}
		if err := e.adopt(qc, true); err != nil {
			return fmt.Errorf("dial %s: %w", peer, err)
		}
		return nil
	}
	return fmt.Errorf("dial %s: %w; check that its daemon runs and knows %s", peer, errors.Join(failures...), e.o.Identity.ID)
}

func resolve(ctx context.Context, addr string) ([]*net.UDPAddr, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w; write it as HOST:PORT", addr, err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address %q: the port is not a number from 1 to 65535", addr)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w; check the name", addr, err)
	}
	list := make([]*net.UDPAddr, len(ips))
	for i, ip := range ips {
		list[i] = &net.UDPAddr{IP: ip.Unmap().AsSlice(), Zone: ip.Zone(), Port: int(port)}
	}
	return list, nil
}

// Exchange sends a request body to a connected peer on a fresh stream and
// returns the body of the reply. ctx bounds the whole of it; when it ends the
// stream is given up.
func (e *Endpoint) Exchange(ctx context.Context, peer identity.AgentID, body []byte) ([]byte, error) {
	c, err := e.ready(peer, body)
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w", peer, err)
	}
	c.streams.add()
	defer c.streams.done()
	reply, err := exchange(ctx, c.qc, body)
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w", peer, err)
	}
	return reply, nil
}

func exchange(ctx context.Context, qc *quic.Conn, body []byte) ([]byte, error) {
	s, err := qc.OpenStreamSync(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() {
		s.CancelWrite(codeNone)
		s.CancelRead(codeNone)
	})
	defer stop()
	reply, err := func() ([]byte, error) {
		if _, err := s.Write(body); err != nil {
			return nil, err
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
		return readBody(s, &buffers{in: make([]byte, 0, smallBuffer)})
	}()
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		code := abortCode(err)
		s.CancelWrite(code)
		s.CancelRead(code)
		return nil, err
	}
	return reply, nil
}

// Send puts a body on a fresh unidirectional stream to a connected peer. It
// returns when the body is handed to QUIC, which does not mean that it arrived.
func (e *Endpoint) Send(ctx context.Context, peer identity.AgentID, body []byte) error {
	c, err := e.ready(peer, body)
	if err != nil {
		return fmt.Errorf("send to %s: %w", peer, err)
	}
	c.streams.add()
	defer c.streams.done()
	if err := send(ctx, c.qc, body); err != nil {
		return fmt.Errorf("send to %s: %w", peer, err)
	}
	return nil
}

func send(ctx context.Context, qc *quic.Conn, body []byte) error {
	s, err := qc.OpenUniStreamSync(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { s.CancelWrite(codeNone) })
	_, err = s.Write(body)
	if !stop() && err != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.CancelWrite(codeNone)
		return err
	}
	return s.Close()
}

func (e *Endpoint) ready(peer identity.AgentID, body []byte) (*conn, error) {
	if len(body) > envelope.MaxSize {
		return nil, ErrTooLarge
	}
	if e.draining.Load() {
		return nil, ErrClosed
	}
	if c := e.choose(peer); c != nil {
		return c, nil
	}
	return nil, ErrNotConnected
}
