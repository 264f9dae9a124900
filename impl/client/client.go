package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// SocketFile is the name of the daemon's socket in its state root.
const SocketFile = "axon.sock"

const (
	// partCeiling is how long the daemon may take to see that a handler has
	// left.
	partCeiling = time.Second
	// writeCeiling is how long the daemon may take to read a command.
	writeCeiling = 10 * time.Second
	// maxSocketPath is what the address of a Unix socket has room for on every
	// platform; Linux alone takes four bytes more.
	maxSocketPath = 103
)

// Direction says which way a traced line went.
type Direction string

// The directions, as seen by the program that uses the client.
const (
	Sent     Direction = "sent"
	Received Direction = "received"
)

// Options of Dial.
type Options struct {
	// StateRoot is the folder of the daemon's state. Empty: what
	// DefaultStateRoot returns.
	StateRoot string
	// Socket is the path of the daemon's socket. Empty: axon.sock in StateRoot.
	Socket string
	// EventBuffer is how many bytes of events are kept for the reader of each
	// EventStream. Zero: 64 MiB.
	EventBuffer int
	// Trace, when set, is called with each line that goes over the socket,
	// without its line feed, from one goroutine at a time for each direction.
	// It must not block and must not keep the line.
	Trace func(Direction, []byte)
}

// DefaultStateRoot returns the state root where none is given: $AXON_ROOT, else
// .axon in the home folder.
func DefaultStateRoot() (string, error) {
	if root := os.Getenv("AXON_ROOT"); root != "" {
		return filepath.Abs(root)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home folder: %w; name the state root instead", err)
	}
	return filepath.Join(home, ".axon"), nil
}

// Client is a connection to the local daemon. Its methods may be called from any
// goroutine.
type Client struct {
	conn        net.Conn
	trace       func(Direction, []byte)
	eventBuffer int
	ended       chan struct{} // closed when the reader has ended

	writing sync.Mutex // held while a line is written

	mu      sync.Mutex // guards all below
	last    uint64     // number of the last req_id
	calls   map[string]chan result
	streams map[*EventStream]struct{}
	server  *server
	closed  bool  // by Close
	refusal error // told by the daemon before it ended the connection
	cause   error // why the reader ended
}

type result struct {
	line []byte
	err  error
}

// Dial connects to the daemon of a state root and waits until it has answered.
// The error wraps ErrNoDaemon when no daemon listens there. ctx bounds the
// dialling only.
func Dial(ctx context.Context, o Options) (*Client, error) {
	if o.EventBuffer < 0 {
		return nil, errors.New("client: Options.EventBuffer is negative; use zero for the default")
	}
	if o.EventBuffer == 0 {
		o.EventBuffer = defaultEventBuffer
	}
	path := o.Socket
	if path == "" {
		root := o.StateRoot
		if root == "" {
			var err error
			if root, err = DefaultStateRoot(); err != nil {
				return nil, err
			}
		}
		path = filepath.Join(root, SocketFile)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, dialError(path, err)
	}
	c := &Client{
		conn: conn, trace: o.Trace, eventBuffer: o.EventBuffer, ended: make(chan struct{}),
		calls: map[string]chan result{}, streams: map[*EventStream]struct{}{},
	}
	if c.trace == nil {
		c.trace = func(Direction, []byte) {}
	}
	go c.read()
	// The answer shows that the connection is admitted: events from now on
	// reach it.
	if _, err := c.WhoAmI(ctx); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("meet the daemon at %s: %w", path, err)
	}
	return c, nil
}

func dialError(path string, err error) error {
	switch {
	case len(path) > maxSocketPath && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("socket path %s has %d bytes, and platforms take %d: %w; choose a state root with a shorter path", path, len(path), maxSocketPath, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTSOCK):
		return fmt.Errorf("%w at %s; start one with `axon daemon`", ErrNoDaemon, path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("reach the daemon: %w; only the user who runs it may talk to it", err)
	}
	return fmt.Errorf("reach the daemon: %w", err)
}

// Close ends the connection, and with it the handler lease, the calls under way
// and the event streams. It waits until they have ended; handlers that run are
// told by their context, and are waited for by Serve.
func (c *Client) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	serving := c.server != nil
	c.mu.Unlock()
	var err error
	if first {
		if serving {
			c.part()
		}
		if err = c.conn.Close(); errors.Is(err, net.ErrClosed) {
			err = nil // the reader was first
		}
	}
	<-c.ended
	return err
}

// part says goodbye and waits until the daemon has taken the lease back, so that
// whoever serves next is not refused.
func (c *Client) part() {
	half, ok := c.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	late := time.NewTimer(partCeiling)
	defer late.Stop()
	select {
	case <-c.ended:
	case <-late.C:
	}
}

// Done is closed when the connection has ended; Err then tells why.
func (c *Client) Done() <-chan struct{} { return c.ended }

// Err returns nil while the connection is up, and afterwards an error that wraps
// ErrClosed.
func (c *Client) Err() error {
	select {
	case <-c.ended:
	default:
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// read takes the lines from the daemon until the connection ends. It never waits
// for whoever uses the client.
func (c *Client) read() {
	r := bufio.NewReaderSize(c.conn, 64<<10)
	var held []byte
	var err error
	for err == nil {
		var line []byte
		if line, err = readLine(r, held); err == nil {
			held = line
			c.trace(Received, line)
			err = c.take(line)
		}
	}
	_ = c.conn.Close()

	c.mu.Lock()
	switch {
	case c.closed:
		c.cause = ErrClosed
	case c.refusal != nil:
		c.cause = fmt.Errorf("%w: %w", ErrClosed, c.refusal)
	default:
		c.cause = fmt.Errorf("%w (%w)", ErrClosed, err)
	}
	for id, waiting := range c.calls {
		delete(c.calls, id)
		waiting <- result{err: c.cause}
	}
	for s := range c.streams {
		delete(c.streams, s)
		s.end(c.cause)
	}
	server := c.server
	c.mu.Unlock()
	if server != nil {
		server.end(c.cause)
	}
	close(c.ended)
}

// take handles one line.
func (c *Client) take(line []byte) error {
	var h head
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("the daemon sent a line that is not JSON: %w; use a client and a daemon of the same version", err)
	}
	if h.Event != "" {
		c.event(h.Event, line)
		return nil
	}
	if h.OK == nil {
		return nil // something that a later daemon may say
	}
	var r result
	if *h.OK {
		r.line = append([]byte(nil), line...)
	} else {
		r.err = &Error{Code: h.Error, Message: h.Message}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.ReqID == nil {
		// Told of the connection as a whole, before it ends.
		if r.err != nil {
			c.refusal = r.err
		}
		return nil
	}
	if waiting, ok := c.calls[*h.ReqID]; ok {
		delete(c.calls, *h.ReqID)
		waiting <- r // has room for its one result
	}
	return nil
}
