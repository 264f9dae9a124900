package transport

import (
	"time"

	"github.com/axonproto/axon/impl/internal/identity"
)

// lowerDialled reports whether c was dialled by the lower of the two Agent IDs.
func (c *conn) lowerDialled(own identity.AgentID) bool { return c.dialled == (own < c.peer) }

// crossDialWindow is how far apart two connections may have been made to count
// as dialled across each other. One that is that much newer was dialled by a
// peer that has lost the older one, by a restart for example, even if we have
// not noticed yet.
const crossDialWindow = 10 * time.Second

// choose returns the connection to send on, nil when there is none: one that
// the lower Agent ID dialled before one that the higher did, so that both ends
// choose the same, and among equals the newest, which is the likeliest to live.
func (e *Endpoint) choose(peer identity.AgentID) *conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return chosen(e.o.Identity.ID, e.byPeer[peer])
}

func chosen(own identity.AgentID, list []*conn) *conn {
	var best *conn
	for _, c := range list {
		if c.qc.Context().Err() != nil {
			continue
		}
		if best == nil || c.lowerDialled(own) || !best.lowerDialled(own) || c.since.Sub(best.since) >= crossDialWindow {
			best = c
		}
	}
	return best
}

// crossDialLoser returns the connection to give up after both sides dialled:
// the one that we, having the higher Agent ID, dialled. The other side sees to
// the connections that it dialled; what a peer opens is served in any case.
func crossDialLoser(own identity.AgentID, list []*conn) *conn {
	var loser *conn
	winner := false
	for _, c := range list {
		switch {
		case c.lowerDialled(own):
			winner = true
		case c.dialled:
			loser = c
		}
	}
	if !winner {
		return nil
	}
	return loser
}

// retireGrace is how long a connection must have been without streams before
// it is given up: the peer may have opened one just before it knew the other.
const retireGrace = time.Second

// retire closes the connection once its streams are done.
func (c *conn) retire() {
	for {
		select {
		case <-c.streams.idle():
		case <-c.e.accepting.Done():
			return
		case <-c.qc.Context().Done():
			return
		}
		t := time.NewTimer(retireGrace)
		select {
		case <-t.C:
		case <-c.e.accepting.Done():
			t.Stop()
			return
		case <-c.qc.Context().Done():
			t.Stop()
			return
		}
		if c.streams.isZero() {
			c.close(reasonSuperseded)
			return
		}
	}
}
