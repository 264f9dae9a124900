package mutants

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// localClient is a program that is connected to the local API.
type localClient struct {
	d      *localDaemon
	conn   *net.UnixConn
	number int

	ctx    context.Context // ends when it has gone
	cancel context.CancelFunc
	lane   chan func()    // commands that are answered in their order
	under  sync.WaitGroup // the lane and the commands under way

	mu      sync.Mutex // guards what follows
	queue   chan []byte
	ended   bool // nothing more is queued
	written chan struct{}
}

func (d *localDaemon) accept() {
	for {
		conn, err := d.listener.AcceptUnix()
		if err != nil {
			return
		}
		if !sameUser(conn) && !d.lax("other users are refused") {
			_, _ = conn.Write(d.m.line(nil, no("invalid_command", "this socket belongs to another user; use your own daemon")))
			_ = conn.Close()
			continue
		}
		d.mu.Lock()
		full := d.taken >= d.m.places
		if !full {
			d.taken++
		}
		d.mu.Unlock()
		if full {
			d.turnAway(conn)
			continue
		}
		c := d.newClient(conn)
		if d.lax("clients are served side by side") {
			c.serve()
			continue
		}
		if d.lax("nothing is read while clients are taken in") {
			// The first line of a client is awaited before the next one is taken in.
			first := make([]byte, 1)
			if _, err := io.ReadFull(conn, first); err != nil {
				c.leave()
				continue
			}
			d.work.Go(func() { c.serveFrom(first) })
			continue
		}
		d.work.Go(c.serve)
	}
}

// turnAway deals with a client for whom there is no place.
func (d *localDaemon) turnAway(conn *net.UnixConn) {
	if d.lax("a client too many is answered") {
		_ = conn.Close()
		return
	}
	if d.lax("a client too many is let go") {
		_, _ = conn.Write(d.m.line(nil, no("overloaded", "64 clients are connected; close one and connect again")))
		d.work.Go(func() {
			<-d.peer.ctx.Done()
			_ = conn.Close()
		})
		return
	}
	code := "overloaded"
	if d.lax("a client too many is told why") {
		code = "internal_error"
	}
	_, _ = conn.Write(d.m.line(nil, no(code, "64 clients are connected; close one and connect again")))
	d.work.Go(func() { part(conn) })
}

// part ends a connection so that what was written can still be read: closing with
// unread input might tell of a fault in its place.
func part(conn *net.UnixConn) {
	_ = conn.CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}

func (d *localDaemon) newClient(conn *net.UnixConn) *localClient {
	c := &localClient{d: d, conn: conn, queue: make(chan []byte, d.m.maxQueue), lane: make(chan func(), 64), written: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(d.peer.ctx)
	d.mu.Lock()
	d.numbered++
	c.number = d.numbered
	d.clients = append(d.clients, c)
	past := append([]*record(nil), d.past...)
	d.mu.Unlock()
	for _, e := range past { // by a fault
		c.push(d.m.line(c, e))
	}
	return c
}

func (c *localClient) serve() { c.serveFrom(nil) }

// serveFrom serves a client of whom some bytes have been read.
func (c *localClient) serveFrom(first []byte) {
	go c.write() // leave waits for it
	c.under.Go(func() {
		for do := range c.lane {
			do()
		}
	})
	c.read(first)
	if !c.d.lax("requests end with their client") {
		c.cancel()
	}
	close(c.lane)
	c.under.Wait()
	c.cancel()
	c.finish()
	<-c.written
	part(c.conn)
	c.leave()
}

// leave gives back what the client held.
func (c *localClient) leave() {
	d := c.d
	d.release(c)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clients = slices.DeleteFunc(d.clients, func(o *localClient) bool { return o == c })
	if !d.lax("places are given back") {
		d.taken--
	}
	if d.lax("delivery outlives a client that leaves") {
		d.stopped = true
	}
}

// read takes lines until the client is gone.
func (c *localClient) read(first []byte) {
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(first), c.conn), 16<<10)
	for {
		line, err := c.readLine(r)
		switch {
		case errors.Is(err, errLong):
			if !c.d.lax("a line too long is answered") {
				c.say(nil, no("command_too_large", "a line may have 131,072 bytes; send less and connect again"))
			}
			if c.d.lax("a line too long ends the connection") {
				_, _ = io.Copy(io.Discard, r)
			}
			if c.d.lax("others outlive a line too long") {
				c.d.hangUpAll()
			}
			return
		case err != nil:
			return
		}
		if !c.d.m.look(c, line) {
			c.take(line)
		}
	}
}

func (d *localDaemon) hangUpAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.clients {
		_ = o.conn.CloseRead()
	}
}

var errLong = errors.New("the line is too long")

func (c *localClient) readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		whole := err == nil
		length := len(line)
		if whole {
			length--
		}
		if length > c.d.m.maxLine && !(c.d.lax("half a line too long is refused") && !whole) {
			return nil, errLong
		}
		switch {
		case whole:
			return line[:length], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// say answers a line.
func (c *localClient) say(cmd *localCommand, a *record) {
	if cmd != nil && cmd.reqID != "" && !(a.failed() && c.d.lax("errors repeat req_id")) {
		a.set("req_id", cmd.reqID)
	}
	for _, r := range c.d.m.answer(c, cmd, a) {
		c.push(c.d.m.line(c, r))
	}
}

// push queues a line. A client whose queue is full is let go.
func (c *localClient) push(line []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || len(line) == 0 {
		return false
	}
	if c.d.lax("nobody waits for a slow client") {
		select {
		case c.queue <- line:
		case <-c.ctx.Done():
		}
		return true
	}
	select {
	case c.queue <- line:
		return true
	default:
	}
	if c.d.lax("a client that lags is let go") {
		return true // the line is dropped
	}
	c.ended = true
	close(c.queue)
	_ = c.conn.Close()
	if c.d.lax("delivery outlives a client that lags") {
		c.d.work.Go(func() { // d.mu may be held
			c.d.mu.Lock()
			c.d.stopped = true
			c.d.mu.Unlock()
		})
	}
	return false
}

// finish lets what is queued be written, and nothing more.
func (c *localClient) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.ended = true
		close(c.queue)
	}
}

// write is the one writer of the connection.
func (c *localClient) write() {
	defer close(c.written)
	for line := range c.queue {
		if _, err := c.conn.Write(line); err != nil {
			c.cancel()
			_ = c.conn.CloseRead()
			for range c.queue { // until finish
			}
			return
		}
	}
}
