package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/wire"
)

const (
	// alpn is AXON's token, which the bare peer takes as well.
	alpn = "axon/1"
	// patience is how long one exchange may take before it counts as failed.
	patience = 10 * time.Second
	// maxHandshakes is the most connections that are begun at a time.
	maxHandshakes = 64
	// maxErrors ends a measurement in which nothing works.
	maxErrors = 100
)

// ErrNothing says that a side did nothing in all the time.
var ErrNothing = errors.New("nothing was exchanged")

// dialer makes connections of one identity.
type dialer struct {
	transport *quic.Transport
	socket    *net.UDPConn
	tls       *tls.Config
	peer      *net.UDPAddr
}

func newDialer(peer Peer, me credential.Identity) (*dialer, error) {
	address, err := net.ResolveUDPAddr("udp", peer.Address)
	if err != nil {
		return nil, fmt.Errorf("%w; write HOST:PORT", err)
	}
	certificate, err := me.Certificate(credential.CertOptions{})
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUDP("udp", nil)
	if err != nil {
		return nil, err
	}
	return &dialer{
		transport: &quic.Transport{Conn: socket}, socket: socket, peer: address,
		tls: &tls.Config{
			Certificates: []tls.Certificate{certificate}, NextProtos: []string{alpn}, MinVersion: tls.VersionTLS13,
			InsecureSkipVerify: true, // the key is compared below: there are no authorities
			VerifyConnection: func(s tls.ConnectionState) error {
				if peer.Key != nil && !peer.Key.Equal(s.PeerCertificates[0].PublicKey) {
					return errors.New("the peer has another key than the one that was given")
				}
				return nil
			},
		},
	}, nil
}

func (d *dialer) dial(ctx context.Context) (*quic.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return d.transport.Dial(ctx, d.peer, d.tls, &quic.Config{MaxIdleTimeout: 3 * patience})
}

func (d *dialer) close() {
	_ = d.transport.Close()
	_ = d.socket.Close()
}

// once plays a row against one side for the duration, adds it to all and returns it.
func (o *Options) once(ctx context.Context, side Peer, row Row, all *tally) (*tally, error) {
	d, err := newDialer(side, o.Identity)
	if err != nil {
		return nil, err
	}
	defer d.close()
	work := func(ctx context.Context, t *tally, deadline time.Time) error {
		return d.handshakes(ctx, t, deadline)
	}
	if row.Load != Handshake {
		conn, err := d.dial(ctx)
		if err != nil {
			return nil, fmt.Errorf("connect to %s: %w; does it admit the key of `axon-conformance identity`?", side.Address, err)
		}
		defer func() { _ = conn.CloseWithError(0, "measured") }()
		// The first exchange, which no figure has, shows that the other side serves.
		if err := request(ctx, conn, newBody("request", 200), make([]byte, 1024)); err != nil {
			return nil, fmt.Errorf("%s does not answer a request: %w", side.Address, err)
		}
		work = func(ctx context.Context, t *tally, deadline time.Time) error {
			if row.Load == Message {
				return messages(ctx, conn, row.Size, t, deadline)
			}
			return requests(ctx, conn, row.Size, t, deadline)
		}
	}
	sum, err := together(ctx, row.InFlight, o.Duration, work)
	if err != nil {
		return nil, err
	}
	if sum.exchanges == 0 {
		return nil, fmt.Errorf("%s: %w in %s (%d failed)", side.Address, ErrNothing, o.Duration, sum.errors)
	}
	all.add(sum)
	return sum, nil
}

// together has n workers at once, each with a tally of its own, and joins these.
func together(ctx context.Context, n int, d time.Duration, work func(context.Context, *tally, time.Time) error) (*tally, error) {
	sum := newTally()
	var workers sync.WaitGroup
	var mu sync.Mutex
	var first error
	began := time.Now()
	for range n {
		workers.Go(func() {
			mine := newTally()
			err := work(ctx, mine, began.Add(d))
			mine.took = 0
			sum.add(mine)
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = err
			}
		})
	}
	workers.Wait()
	sum.took = time.Since(began)
	if ctx.Err() != nil {
		first = context.Cause(ctx)
	}
	return sum, first
}

// requests sends one after the other until the deadline.
func requests(ctx context.Context, conn *quic.Conn, size int, t *tally, deadline time.Time) error {
	body := newBody("request", size)
	buffer := make([]byte, 4096)
	for ctx.Err() == nil {
		began := time.Now()
		if began.After(deadline) {
			break
		}
		if err := request(ctx, conn, body, buffer); err != nil {
			if t.errors++; t.errors > maxErrors || conn.Context().Err() != nil {
				return fmt.Errorf("a request failed: %w", err)
			}
			continue
		}
		t.record(time.Since(began))
	}
	return nil
}

// request makes one exchange; the answer is read to its end.
func request(ctx context.Context, conn *quic.Conn, body *body, buffer []byte) error {
	s, err := conn.OpenStreamSync(ctx)
	if err != nil {
		return err
	}
	_ = s.SetDeadline(time.Now().Add(patience))
	if _, err := s.Write(body.next()); err != nil {
		s.CancelRead(0)
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	n := 0
	for {
		m, err := s.Read(buffer)
		n += m
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if n == 0 {
		return errors.New("the stream ended without an answer")
	}
	return nil
}

// messages sends until the deadline, as fast as streams are granted; one request
// behind them shows that they were taken.
func messages(ctx context.Context, conn *quic.Conn, size int, t *tally, deadline time.Time) error {
	body := newBody("message", size)
	for ctx.Err() == nil && time.Now().Before(deadline) {
		s, err := conn.OpenUniStreamSync(ctx)
		if err == nil {
			_ = s.SetWriteDeadline(time.Now().Add(patience))
			_, err = s.Write(body.next())
		}
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			if t.errors++; t.errors > maxErrors || conn.Context().Err() != nil {
				return fmt.Errorf("a message failed: %w", err)
			}
			continue
		}
		t.record(0)
	}
	return request(ctx, conn, newBody("request", 200), make([]byte, 1024))
}

// handshakes begins connections until the deadline.
func (d *dialer) handshakes(ctx context.Context, t *tally, deadline time.Time) error {
	for ctx.Err() == nil {
		began := time.Now()
		if began.After(deadline) {
			break
		}
		conn, err := d.dial(ctx)
		if err != nil {
			if t.errors++; t.errors > maxErrors {
				return fmt.Errorf("a handshake failed: %w", err)
			}
			continue
		}
		t.record(time.Since(began))
		_ = conn.CloseWithError(0, "measured")
	}
	return nil
}

// body is an envelope of a size, with a new id each time.
type body struct {
	text  []byte
	id    []byte // the part of text that holds the id
	count uint64
}

func newBody(kind string, size int) *body {
	id := wire.NewID()
	bare := wire.Outgoing{ID: id, Kind: kind, Payload: `{"t":""}`}.Bytes()
	text := wire.Outgoing{ID: id, Kind: kind, Payload: `{"t":"` + strings.Repeat("x", max(size-len(bare), 0)) + `"}`}.Bytes()
	at := strings.Index(string(text), id)
	return &body{text: text, id: text[at : at+len(id)]}
}

// next counts in the last twelve digits of the id.
func (b *body) next() []byte {
	const digits = "0123456789abcdef"
	b.count++
	n := b.count
	for i := len(b.id) - 1; i >= len(b.id)-12; i-- {
		b.id[i] = digits[n&15]
		n >>= 4
	}
	return b.text
}
