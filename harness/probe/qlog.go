package probe

import (
	"bytes"
	"context"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlogwriter"
)

// qlogRoom bounds what one QLog keeps, over all its connections, in bytes.
const qlogRoom = 64 << 20

// QLog keeps a qlog of each connection of the endpoints that it is given to. It is
// safe for concurrent use.
type QLog struct {
	mu     sync.Mutex // guards what follows
	room   int
	newest int
	logs   map[int]*qlogBuffer
}

// NewQLog makes an empty one.
func NewQLog() *QLog { return &QLog{room: qlogRoom, logs: map[int]*qlogBuffer{}} }

// qlogBuffer is the log of one connection; the QLog's mu guards it.
type qlogBuffer struct {
	owner *QLog
	text  bytes.Buffer
	cut   bool
	// written is closed when the connection has ended and all of it is here.
	written chan struct{}
}

// Write keeps what there is room for. It never fails: what is too much is left out.
func (b *qlogBuffer) Write(p []byte) (int, error) {
	b.owner.mu.Lock()
	defer b.owner.mu.Unlock()
	if b.cut = b.cut || len(p) > b.owner.room; !b.cut {
		b.owner.room -= len(p)
		b.text.Write(p)
	}
	return len(p), nil
}

// Close is called when the connection has ended; what was kept stays.
func (b *qlogBuffer) Close() error { return nil }

// trace begins the log of a connection. Its writer ends when the connection does.
func (q *QLog) trace(number int, dialer bool, id quic.ConnectionID) qlogwriter.Trace {
	b := &qlogBuffer{owner: q, written: make(chan struct{})}
	q.mu.Lock()
	q.logs[number] = b
	q.newest = max(q.newest, number)
	q.mu.Unlock()
	file := qlogwriter.NewConnectionFileSeq(b, dialer, id)
	go func() {
		defer close(b.written)
		file.Run()
	}()
	return file
}

// Connection returns the qlog of the connection of that number, in the JSON-SEQ
// form, and nil when there is none; number 0 means the newest. Call it once the
// endpoints are closed: it waits until everything is written, or for ctx.
func (q *QLog) Connection(ctx context.Context, number int) []byte {
	q.mu.Lock()
	if number == 0 {
		number = q.newest
	}
	b := q.logs[number]
	q.mu.Unlock()
	if b == nil {
		return nil
	}
	whole := true
	select {
	case <-b.written:
	case <-ctx.Done():
		whole = false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	text := bytes.Clone(b.text.Bytes())
	if b.cut || !whole { // the last record may have lost its end
		text = text[:max(bytes.LastIndexByte(text, qlogwriter.RecordSeparator), 0)]
	}
	return text
}
