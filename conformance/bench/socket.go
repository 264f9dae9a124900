package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// maxLine is the longest line of the local API (AXON-IPC-009), with its end.
const maxLine = 131072 + 1

// client is a local program at a daemon's socket. It is written for speed: what
// harness/control keeps and parses would cost more than the daemon does.
type client struct {
	conn  net.Conn
	lines *bufio.Reader
	work  sync.WaitGroup
	inbox atomic.Pointer[inbox] // of the round that is played; a watcher's only
	watch bool
}

// errLease says that the handler's lease is not given, perhaps because the daemon has
// not noticed yet that the one before is over.
var errLease = errors.New("it does not give the handler's lease")

// handle takes the handler's lease at a socket and answers each request by an empty
// payload. Closing the client gives the lease back.
func handle(ctx context.Context, socket string) (*client, error) {
	for deadline := time.Now().Add(patience / 4); ; {
		c, err := connect(ctx, socket, "serve")
		if err == nil {
			c.work.Go(c.answer)
			return c, nil
		}
		if !errors.Is(err, errLease) || time.Now().After(deadline) {
			return nil, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// watch looks at what a daemon shows all its local programs.
func watch(ctx context.Context, socket string) (*client, error) {
	// An answer shows that the daemon has taken the client on.
	c, err := connect(ctx, socket, "whoami")
	if err == nil {
		c.watch = true
		c.work.Go(c.look)
	}
	return c, err
}

// connect has a first command answered.
func connect(ctx context.Context, socket, command string) (*client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("the local API: %w; is the daemon running, and is this its socket?", err)
	}
	c := &client{conn: conn, lines: bufio.NewReaderSize(conn, maxLine)}
	if err := c.command(command); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the local API: %w", err)
	}
	return c, nil
}

func (c *client) command(name string) error {
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	defer func() { _ = c.conn.SetDeadline(time.Time{}) }()
	if _, err := c.conn.Write([]byte(`{"cmd":"` + name + `"}` + "\n")); err != nil {
		return err
	}
	for {
		line, err := c.lines.ReadSlice('\n')
		if err != nil {
			return err
		}
		var answer struct {
			Event, Error, Message string
			OK                    bool
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return fmt.Errorf("it answered %.200q: %w", line, err)
		}
		switch {
		case answer.Event != "": // of someone else's doing
			continue
		case !answer.OK && answer.Error == "handler_busy":
			return fmt.Errorf("%w: %s", errLease, answer.Message)
		case !answer.OK:
			return fmt.Errorf("it refused %s: %s: %s", name, answer.Error, answer.Message)
		}
		return nil
	}
}

// answer answers until the connection ends. Replies are written together when several
// requests have come together.
func (c *client) answer() {
	out := bufio.NewWriterSize(c.conn, 64<<10)
	for {
		line, err := c.lines.ReadSlice('\n')
		if err != nil {
			return
		}
		var event struct {
			Event     string `json:"event"`
			RequestID string `json:"request_id"`
		}
		if json.Unmarshal(line, &event) == nil && event.Event == "request" {
			id, _ := json.Marshal(event.RequestID) // a string always can be
			_, _ = fmt.Fprintf(out, `{"cmd":"reply","request_id":%s,"kind":"response","payload":{}}`+"\n", id)
		}
		if c.lines.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

// look counts messages until the connection ends.
func (c *client) look() {
	for {
		line, err := c.lines.ReadSlice('\n')
		if err != nil {
			c.inbox.Load().end()
			return
		}
		if bytes.Contains(line, []byte(`"inbound"`)) {
			c.inbox.Load().show(line)
		}
	}
}

func (c *client) begin(_ context.Context, prefix string) (*inbox, int64, error) {
	if !c.watch {
		return nil, 0, nil
	}
	in := newInbox(prefix)
	c.inbox.Store(in)
	return in, 0, nil
}

func (c *client) end() {}

func (c *client) close() {
	_ = c.conn.Close()
	c.work.Wait()
}
