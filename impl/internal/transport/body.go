package transport

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/envelope"
)

// buffers of one stream: a body comes in, a reply goes out.
type buffers struct{ in, out []byte }

const (
	smallBuffer = 2 << 10  // enough for most bodies; what a stalled stream costs
	keepBuffer  = 16 << 10 // larger replies are left to the garbage collector
)

var bufferPool = sync.Pool{New: func() any {
	return &buffers{in: make([]byte, 0, smallBuffer), out: make([]byte, 0, smallBuffer)}
}}

func (b *buffers) release() {
	if cap(b.out) > keepBuffer {
		return
	}
	bufferPool.Put(b)
}

// Why a stream did not give a body.
var (
	errBodyTooLarge = errors.New("body over the size limit")
	errBodyLate     = errors.New("no FIN in time")
	errBodyReset    = errors.New("stream reset by the peer")
)

// source is the receiving side of a stream.
type source interface {
	io.Reader
	SetReadDeadline(time.Time) error
}

// receive reads a body that a peer sends, within StreamTimeout; what it waits
// for a slot does not count. A large body keeps its slot until free is called, when it
// has been answered.
func (c *conn) receive(s source, b *buffers) (body []byte, free func(), err error) {
	deadline := time.Now().Add(c.e.o.StreamTimeout)
	_ = s.SetReadDeadline(deadline)
	free = func() {}
	body, err = readBody(s, b, func() error {
		begin := time.Now()
		waited, err := c.e.slots.acquire(c.qc.Context(), c.peer)
		if err != nil {
			return context.Cause(c.qc.Context())
		}
		free = func() { c.e.slots.release(c.peer) }
		if waited {
			_ = s.SetReadDeadline(deadline.Add(time.Since(begin)))
		}
		return nil
	})
	if err == nil {
		c.heard()
	}
	return body, free, err
}

// readBody reads to the FIN. The result is b.in, or a larger buffer that grows
// as data come, so that a peer has to send what it wants us to hold. large is
// called once, before more than smallBuffer is taken.
func readBody(r io.Reader, b *buffers, large func() error) ([]byte, error) {
	buf := b.in[:0]
	small := true
	for {
		if len(buf) == cap(buf) {
			if small {
				if err := large(); err != nil {
					return nil, err
				}
				small = false
			}
			grown := make([]byte, len(buf), min(4*cap(buf), envelope.MaxSize+1))
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) > envelope.MaxSize {
			return nil, errBodyTooLarge
		}
		if err == nil {
			continue
		}
		var reset *quic.StreamError
		switch {
		case err == io.EOF:
			return buf, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, errBodyLate
		case errors.As(err, &reset):
			return nil, errBodyReset
		}
		return nil, err
	}
}

// abortCode is the code with which a stream that failed in readBody is ended.
func abortCode(err error) quic.StreamErrorCode {
	switch {
	case errors.Is(err, errBodyTooLarge):
		return codeTooLarge
	case errors.Is(err, errBodyLate):
		return codeLate
	}
	return codeNone
}
