package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// call sends a command, waits for its answer and stores that in into, unless it
// is nil.
func (c *Client) call(ctx context.Context, cmd command, into any) error {
	waiting := make(chan result, 1)
	c.mu.Lock()
	if c.closed || c.cause != nil {
		cause := c.cause
		c.mu.Unlock()
		if cause == nil {
			cause = ErrClosed
		}
		return fmt.Errorf("%s: %w", cmd.Cmd, cause)
	}
	c.last++
	cmd.ReqID = strconv.FormatUint(c.last, 10)
	c.calls[cmd.ReqID] = waiting
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, cmd.ReqID)
		c.mu.Unlock()
	}()
	line, err := cmd.encode()
	if err != nil {
		return err
	}
	if err := c.write(line); err != nil {
		// The reader knows best why the connection ended.
		select {
		case r := <-waiting:
			err = r.err
		case <-ctx.Done():
		}
		return fmt.Errorf("%s: %w", cmd.Cmd, err)
	}
	select {
	case r := <-waiting:
		if r.err != nil {
			return fmt.Errorf("%s: %w", cmd.Cmd, r.err)
		}
		if into == nil {
			return nil
		}
		if err := json.Unmarshal(r.line, into); err != nil {
			return fmt.Errorf("%s: the daemon's answer: %w; use a client and a daemon of the same version", cmd.Cmd, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", cmd.Cmd, context.Cause(ctx))
	}
}

// write sends a whole line. A line that could not be written whole ends the
// connection: what follows would be taken for its rest.
func (c *Client) write(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.trace(Sent, line[:len(line)-1])
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeCeiling))
	if _, err := c.conn.Write(line); err != nil {
		_ = c.conn.Close()
		return fmt.Errorf("the daemon did not take the command: %w", err)
	}
	return nil
}
