package ipc

import (
	"errors"

	"github.com/google/uuid"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/dispatch"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

// acquire takes the handler lease; a client that has it already keeps it. The
// answer is queued before any request can be.
func (c *session) acquire(cmd *command) reply {
	done := yes().raw("serving", []byte("true"))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lease != nil {
		return done
	}
	c.queue.mu.Lock()
	lease, err := c.server.o.Dispatcher.Acquire(c)
	if err != nil {
		c.queue.mu.Unlock()
		return failed(err, codeInternal)
	}
	c.lease = lease
	room := c.queue.addLocked(done.line(cmd.reqID))
	c.queue.mu.Unlock()
	if !room {
		c.lag()
	}
	return nil
}

// release gives the lease back, if this client has it.
func (c *session) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lease != nil {
		c.lease.Release()
		c.lease = nil
	}
}

func (c *session) held() *dispatch.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lease
}

// reply answers a request as its handler.
func (c *session) reply(cmd *command) reply {
	kind, err := cmd.text("kind")
	switch {
	case err != nil:
		return need("kind", err)
	case kind != string(envelope.Response) && kind != string(envelope.Error):
		return fail(codeInvalid, "a reply of kind %.100q is not possible; did you mean %q? Use response or error", kind,
			config.Nearest(kind, []string{string(envelope.Response), string(envelope.Error)}))
	}
	payload, f := cmd.payload()
	if f != nil {
		return f
	}
	return c.end(cmd, func(l *dispatch.Lease, id uuid.UUID, peer identity.AgentID) error {
		return l.Reply(id, peer, envelope.Kind(kind), payload)
	})
}

// decline ends a request with the default error.
func (c *session) decline(cmd *command) reply {
	return c.end(cmd, (*dispatch.Lease).Decline)
}

func (c *session) end(cmd *command, how func(*dispatch.Lease, uuid.UUID, identity.AgentID) error) reply {
	id, err := cmd.uuid("request_id")
	if err != nil {
		return need("request_id", err)
	}
	peer, err := cmd.agent("peer")
	if err != nil && !errors.Is(err, errAbsent) {
		return need("peer", err)
	}
	lease := c.held()
	if lease == nil {
		return fail(codeNotHandler, "this client does not hold the handler lease; send serve first")
	}
	if err := how(lease, id, peer); err != nil {
		return failed(err, codeInternal)
	}
	return yes().uuid("request_id", id)
}
