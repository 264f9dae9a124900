package transport

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/envelope"
)

// buffers of one stream: a body comes in, a reply goes out.
type buffers struct{ in, out []byte }

const (
	smallBuffer = 2 << 10  // enough for most bodies; what a stalled stream costs
	keepBuffer  = 16 << 10 // larger ones are left to the garbage collector
)

var bufferPool = sync.Pool{New: func() any {
	return &buffers{in: make([]byte, 0, smallBuffer), out: make([]byte, 0, smallBuffer)}
}}

func (b *buffers) release() {
	if cap(b.in) > keepBuffer || cap(b.out) > keepBuffer {
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

// readBody reads to the FIN. The result is b.in, grown as data come, so that a
// peer has to send what it wants us to hold.
func readBody(r io.Reader, b *buffers) ([]byte, error) {
	buf := b.in[:0]
	for {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(4*cap(buf), envelope.MaxSize+1))
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		b.in = buf
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
	switch err {
	case errBodyTooLarge:
		return codeTooLarge
	case errBodyLate:
		return codeLate
	}
	return codeNone
}
