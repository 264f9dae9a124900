package ipc

import (
	"github.com/google/uuid"

	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
)

// Inbound implements dispatch.Observer: all clients are shown the envelope.
func (s *Server) Inbound(from identity.AgentID, e *envelope.Envelope) {
	if !s.watched() {
		return
	}
	b := make([]byte, 0, len(e.Payload)+384)
	b = append(b, `{"event":"inbound","from":"`...)
	b = append(b, from...)
	b = append(b, `","envelope":`...)
	b = appendEnvelope(b, e, from, s.o.Own)
	s.broadcast(append(b, '}', '\n'))
}

// Candidate shows all clients a daemon that waits for its enrolment.
func (s *Server) Candidate(p peers.Peer) {
	b := append([]byte(`{"event":"peer_candidate","agent_id":"`), p.ID...)
	b = append(b, `","public_key":"`...)
	b = append(b, identity.EncodePublicKey(p.PublicKey)...)
	b = append(b, `","addr":`...)
	b = envelope.AppendString(b, p.Addr)
	s.broadcast(append(b, `,"source":"mdns"}`+"\n"...))
}

// Request implements dispatch.Handler for the client that holds the lease.
func (c *session) Request(from identity.AgentID, e *envelope.Envelope) bool {
	b := make([]byte, 0, len(e.Payload)+384)
	b = append(b, `{"event":"request","request_id":"`...)
	b = envelope.AppendUUID(b, e.ID)
	b = append(b, `","from":"`...)
	b = append(b, from...)
	b = append(b, `","envelope":`...)
	b = appendEnvelope(b, e, from, c.server.o.Own)
	return c.enqueue(append(b, '}', '\n'))
}

// Cancelled implements dispatch.Handler.
func (c *session) Cancelled(from identity.AgentID, id uuid.UUID) {
	b := append([]byte(nil), `{"event":"request_cancelled","request_id":"`...)
	b = envelope.AppendUUID(b, id)
	b = append(b, `","from":"`...)
	b = append(b, from...)
	c.enqueue(append(b, '"', '}', '\n'))
}
