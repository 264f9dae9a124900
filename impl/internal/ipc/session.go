package ipc

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/axonproto/axon/impl/internal/dispatch"
)

// session is one client. Commands that carry a req_id run side by side; those
// that do not are answered in their order, in a lane of their own, since the
// client has nothing else to tell the answers apart by.
type session struct {
	server  *Server
	conn    *net.UnixConn
	queue   *queue
	written chan struct{} // closed when the writer has ended

	ctx  context.Context // ends when the client is gone
	gone context.CancelFunc

	lane    chan func()
	running chan struct{}  // one token for each command under way with a req_id
	wg      sync.WaitGroup // the lane and those commands

	mu    sync.Mutex // guards lease
	lease *dispatch.Lease
}

// laneRoom is how many commands wait in the lane before no more is read.
const laneRoom = 32

func newSession(s *Server, conn *net.UnixConn) *session {
	c := &session{
		server: s, conn: conn, queue: newQueue(), written: make(chan struct{}),
		lane: make(chan func(), laneRoom), running: make(chan struct{}, maxRunning),
	}
	c.ctx, c.gone = context.WithCancel(context.Background())
	return c
}

// serve runs until the client has gone and all that it began has ended.
func (c *session) serve() {
	defer c.gone()
	go c.write() // ends with the queue; waited for below
	c.wg.Go(func() {
		for f := range c.lane {
			f()
		}
	})
	err := c.read()
	close(c.lane)
	if !errors.Is(err, io.EOF) {
		c.gone()
	}
	c.await()
	c.release()
	c.queue.end()
	_ = c.conn.SetWriteDeadline(time.Now().Add(parting))
	<-c.written
	if errors.Is(err, errLongLine) {
		part(c.conn)
		return
	}
	_ = c.conn.Close()
}

// finish ends the session from the server's side.
func (c *session) finish() {
	c.gone()
	_ = c.conn.SetReadDeadline(time.Unix(1, 0))
}

// await waits for the commands under way. A client that has only said all that
// it wanted to still gets its answers; one that is gone ends them.
func (c *session) await() {
	done := make(chan struct{})
	go func() {
		c.wg.Wait()
		close(done)
	}()
	c.watch(done, nil)
	<-done
}

// watchInterval is how often a client that cannot be read from is looked at.
const watchInterval = 50 * time.Millisecond

// watch looks whether the client is still there, until done is closed or push
// took f. It returns when the client is gone.
func (c *session) watch(done <-chan struct{}, push func(<-chan time.Time) bool) {
	t := time.NewTicker(watchInterval)
	defer t.Stop()
	for c.ctx.Err() == nil {
		if push != nil {
			if push(t.C) {
				return
			}
		} else {
			select {
			case <-done:
				return
			case <-c.ctx.Done():
				return
			case <-t.C:
			}
		}
		if hungUp(c.conn) {
			c.gone()
		}
	}
}

func (c *session) read() error {
	r := bufio.NewReaderSize(c.conn, 16<<10)
	for {
		line, err := readLine(r)
		if errors.Is(err, errLongLine) {
			_, reqID, _ := parse(line)
			c.enqueue(fail(codeTooLarge, "a line may have %d bytes and this one has more; send less, or in parts, and connect again", MaxLine).line(reqID))
			return err
		}
		if err != nil {
			return err
		}
		c.handle(line)
	}
}

func (c *session) handle(line []byte) {
	cmd, reqID, failure := parse(line)
	answer := func() reply { return failure }
	quick := true
	if failure == nil {
		answer = func() reply { return cmd.run.do(c, cmd) }
		quick = cmd.run.quick
	}
	do := func() {
		if r := answer(); r != nil {
			c.enqueue(r.line(reqID))
		}
	}
	switch {
	case reqID == nil:
		c.inOrder(do)
	case quick:
		do()
	default:
		select {
		case c.running <- struct{}{}:
			c.wg.Go(func() {
				defer func() { <-c.running }()
				do()
			})
		default:
			c.enqueue(fail(codeOverloaded, "%d commands of this client are under way; wait for some of their answers", maxRunning).line(reqID))
		}
	}
}

// inOrder puts a command into the lane, and waits while that is full.
func (c *session) inOrder(do func()) {
	select {
	case c.lane <- do:
		return
	default:
	}
	c.watch(nil, func(tick <-chan time.Time) bool {
		select {
		case c.lane <- do:
			return true
		case <-c.ctx.Done():
		case <-tick:
		}
		return false
	})
}
