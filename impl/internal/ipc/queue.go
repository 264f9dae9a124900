package ipc

import (
	"log/slog"
	"net"
	"sync"
	"time"
)

// queue holds the lines that wait for a client. Whoever adds one never waits:
// a client that falls too far behind is let go, so that nobody misses a line
// without knowing it.
type queue struct {
	mu    sync.Mutex // guards the rest
	lines [][]byte
	bytes int           // in lines
	ended bool          // no line is added any more
	wake  chan struct{} // there is something to write, or the end
}

const (
	// batch is how many lines are handed to the system at once.
	batch = 256
	// ahead and aheadBytes are what the writer may be behind with before lines
	// count as queued: a client that reads all the time is not to be lost by
	// having to wait for the processor.
	ahead      = 1024
	aheadBytes = 4 << 20
)

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// add returns false when there is no room; the queue has ended then.
func (q *queue) add(line []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.addLocked(line)
}

func (q *queue) addLocked(line []byte) bool {
	if q.ended {
		return true // the client is on its way out and misses nothing
	}
	if n := len(q.lines); n >= MaxQueue+ahead || n >= MaxQueue && q.bytes > aheadBytes {
		q.ended = true
		q.lines, q.bytes = nil, 0
		q.signal()
		return false
	}
	q.lines = append(q.lines, line)
	q.bytes += len(line)
	q.signal()
	return true
}

// end lets what waits be written, and nothing more.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns the next lines; more is false after the last ones.
func (q *queue) take() (lines net.Buffers, more bool) {
	for {
		q.mu.Lock()
		n := min(len(q.lines), batch)
		if n > 0 {
			lines = append(lines, q.lines[:n]...)
			for _, line := range lines {
				q.bytes -= len(line)
			}
			q.lines = append(q.lines[:0], q.lines[n:]...)
			q.mu.Unlock()
			return lines, true
		}
		ended := q.ended
		q.mu.Unlock()
		if ended {
			return nil, false
		}
		<-q.wake
	}
}

// write is the one writer of a client's connection.
func (c *session) write() {
	defer close(c.written)
	for {
		lines, more := c.queue.take()
		if !more {
			return
		}
		if _, err := lines.WriteTo(c.conn); err != nil {
			c.queue.end()
			c.gone()
			return
		}
	}
}

// enqueue adds a line; a client without room is let go at once.
func (c *session) enqueue(line []byte) bool {
	if c.queue.add(line) {
		return true
	}
	c.lag()
	return false
}

// lag lets a client go whose queue is full.
func (c *session) lag() {
	c.server.rare.Note(slog.LevelWarn, "a local client does not read what it is sent and was disconnected; it must read all the time",
		slog.Int("queued_lines", MaxQueue))
	c.gone()
	_ = c.conn.Close()
}

// part closes a connection so that the other end can still read what was
// written: closing with unread input would tell it of a fault in place of that.
func part(conn *net.UnixConn) {
	_ = conn.CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(parting))
	var b [16 << 10]byte
	const most = 16 << 20
	for total := 0; total < most; {
		n, err := conn.Read(b[:])
		if err != nil {
			break
		}
		total += n
	}
	_ = conn.Close()
}
