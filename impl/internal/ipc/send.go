package ipc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/links"
	"github.com/axonproto/axon/impl/internal/transport"
)

// outgoing is a checked send command.
type outgoing struct {
	to      identity.AgentID
	e       envelope.Envelope
	timeout time.Duration
}

// send puts a request or a message on its way. The time-out of a request
// bounds all of it, dialling included.
func (c *session) send(cmd *command) reply {
	m, f := takeOutgoing(cmd)
	if f != nil {
		return f
	}
	s := c.server
	p, known := s.o.Book.Lookup(m.to)
	switch {
	case m.to == s.o.Own:
		return fail(codeSelfSend, "%s is this daemon itself; name another agent, `axon peers` lists the known ones", m.to)
	case !known:
		return failed(fmt.Errorf("%s: %w", m.to, links.ErrUnknown), codeInternal)
	case p.Candidate:
		return failed(fmt.Errorf("%s: %w", m.to, links.ErrCandidate), codeInternal)
	}
	wire := m.e.Append(make([]byte, 0, len(m.e.Payload)+160))
	if len(wire) > envelope.MaxSize {
		return fail(codeMessageTooLarge, "the envelope would have %d bytes, %d more than the %d that a peer has to accept; send less, or send it in parts",
			len(wire), len(wire)-envelope.MaxSize, envelope.MaxSize)
	}
	if m.e.Kind == envelope.Message {
		return s.notify(m, wire)
	}
	return c.request(m, wire)
}

func takeOutgoing(cmd *command) (m outgoing, f *failure) {
	to, err := cmd.agent("to")
	if err != nil {
		return m, need("to", err)
	}
	kind, err := cmd.text("kind")
	if err != nil {
		return m, need("kind", err)
	}
	if kind != string(envelope.Request) && kind != string(envelope.Message) {
		return m, fail(codeInvalid, "an envelope of kind %.100q cannot be sent; did you mean %q? Use request or message", kind,
			config.Nearest(kind, []string{string(envelope.Request), string(envelope.Message)}))
	}
	payload, f := cmd.payload()
	if f != nil {
		return m, f
	}
	m = outgoing{to: to, e: envelope.New(envelope.Kind(kind), payload), timeout: defaultTimeout}
	switch ref, err := cmd.uuid("ref"); {
	case err == nil:
		m.e.Ref, m.e.HasRef = ref, true
	case !errors.Is(err, errAbsent):
		return m, fail(codeInvalid, "%v; send the id of the envelope meant, or leave ref out", err)
	}
	if raw := cmd.members["timeout_secs"]; raw != nil {
		secs, err := strconv.ParseFloat(string(raw), 64)
		switch {
		case m.e.Kind == envelope.Message:
			return m, fail(codeInvalid, "timeout_secs belongs to a request, and a message waits for nothing; leave it out")
		case err != nil || secs != float64(int(secs)) || secs < 1 || secs > 3600:
			return m, fail(codeInvalid, "timeout_secs is %.40s; send a whole number from 1 to 3600", raw)
		}
		m.timeout = time.Duration(secs) * time.Second
	}
	return m, nil
}

// notify sends a message. It goes on when the client leaves: a program may
// write its line and end.
func (s *Server) notify(m outgoing, wire []byte) reply {
	ctx, cancel := context.WithTimeout(s.ctx, m.timeout)
	defer cancel()
	err := s.connected(ctx, m.to, func() error { return s.o.Network.Send(ctx, m.to, wire) })
	if err != nil {
		return m.failed(ctx, err)
	}
	s.sent.Add(1)
	return yes().uuid("msg_id", m.e.ID)
}

// request sends a request and waits for its reply. It ends when the client
// leaves, and its stream with it, so that the peer knows.
func (c *session) request(m outgoing, wire []byte) reply {
	s := c.server
	ctx, cancel := context.WithTimeout(c.ctx, m.timeout)
	defer cancel()
	var body []byte
	err := s.connected(ctx, m.to, func() (err error) {
		body, err = s.o.Network.Exchange(ctx, m.to, wire)
		return err
	})
	if err != nil {
		return m.failed(ctx, err)
	}
	s.sent.Add(1)
	e, err := checkReply(&m.e, body)
	if err != nil {
		return fail(codeUnreachable, "%s answered with something that is no reply to this request, and it was dropped: %v; ask the peer's owner to update its daemon", m.to, err)
	}
	s.received.Add(1)
	return yes().uuid("msg_id", m.e.ID).raw("response", appendEnvelope(nil, &e, m.to, s.o.Own))
}

// connected connects and sends. What has reached nobody, because the peer turned out to
// have restarted, is sent once more; what may have reached somebody is not.
func (s *Server) connected(ctx context.Context, to identity.AgentID, send func() error) error {
	for again := true; ; again = false {
		if err := s.o.Links.Connect(ctx, to); err != nil {
			return err
		}
		err := send()
		if err == nil || !again || !transport.Undelivered(err) || ctx.Err() != nil {
			return err
		}
	}
}

// failed tells the end of the time from all other failures.
func (m *outgoing) failed(ctx context.Context, err error) *failure {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && m.e.Kind == envelope.Request:
		return fail(codeTimeout, "%s gave no reply within %s, and the request was given up; the peer may be slow or away: look at `axon peers`, and give more time with timeout_secs", m.to, m.timeout)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fail(codeTimeout, "the message could not be handed over to %s within %s; the peer may be slow or away: look at `axon peers`, and send it again", m.to, m.timeout)
	case ctx.Err() != nil:
		return fail(codeInternal, "the daemon is shutting down; start it again with `axon daemon`")
	}
	return failed(err, codeUnreachable)
}

// checkReply returns the reply to a request, if body is one.
func checkReply(request *envelope.Envelope, body []byte) (envelope.Envelope, error) {
	e, err := envelope.Decode(body)
	switch {
	case err != nil:
		return e, shorten(err)
	case e.Kind != envelope.Response && e.Kind != envelope.Error:
		return e, fmt.Errorf("it has the kind %.100q", e.Kind)
	case !e.HasRef:
		return e, errors.New("it has no ref")
	case e.Ref != request.ID:
		return e, fmt.Errorf("its ref is %s, which is another request", e.Ref)
	}
	return e, nil
}
