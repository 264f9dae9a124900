package client

import (
	"context"
	"time"
)

// Peer is another daemon that the local one knows.
type Peer struct {
	AgentID   string `json:"agent_id"`
	PublicKey string `json:"public_key"` // standard base64
	Addr      string `json:"addr"`       // HOST:PORT; empty: not known
	// Status is discovered, connecting, connected, backoff or disconnected.
	Status string `json:"status"`
	// Source is static, discovered, cached or enrolled.
	Source string `json:"source"`
	// Trust is trusted, or candidate for one that AddPeer has yet to admit.
	Trust string `json:"trust"`
	// RTT is the round-trip time in milliseconds; nil: not measured.
	RTT *float64 `json:"rtt_ms,omitempty"`
}

// NewPeer names a peer to enrol, in one of three ways: by Token alone, by
// PublicKey and Addr, or by the AgentID of a candidate.
type NewPeer struct {
	Token     string // axon://PUBLIC_KEY@HOST:PORT
	PublicKey string // standard base64
	Addr      string // HOST:PORT
	AgentID   string
}

// Status tells what the daemon has done since it started.
type Status struct {
	UptimeSecs       float64 `json:"uptime_secs"`
	PeersConnected   int     `json:"peers_connected"`
	MessagesSent     uint64  `json:"messages_sent"`
	MessagesReceived uint64  `json:"messages_received"`
}

// Uptime is how long the daemon has been running.
func (s Status) Uptime() time.Duration { return seconds(s.UptimeSecs) }

// Self tells who the daemon is.
type Self struct {
	AgentID    string  `json:"agent_id"`
	PublicKey  string  `json:"public_key"` // standard base64
	Name       string  `json:"name,omitempty"`
	Version    string  `json:"version"`
	UptimeSecs float64 `json:"uptime_secs"`
}

// Uptime is how long the daemon has been running.
func (s Self) Uptime() time.Duration { return seconds(s.UptimeSecs) }

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// PeerList is what the daemon knows of other daemons.
type PeerList struct {
	Peers []Peer `json:"peers"`
	// Omitted is how many more there are that did not fit into the answer.
	Omitted int `json:"omitted,omitempty"`
}

// Peers lists the peers that the daemon knows.
func (c *Client) Peers(ctx context.Context) (PeerList, error) {
	var list PeerList
	err := c.call(ctx, command{Cmd: "peers"}, &list)
	return list, err
}

// AddPeer enrols a peer, durably, and returns its Agent ID. ErrPeerConflict
// reports that another key is pinned for it.
func (c *Client) AddPeer(ctx context.Context, p NewPeer) (agentID string, err error) {
	var answer struct {
		AgentID string `json:"agent_id"`
	}
	err = c.call(ctx, command{Cmd: "add_peer", Token: p.Token, PublicKey: p.PublicKey, Addr: p.Addr, AgentID: p.AgentID}, &answer)
	return answer.AgentID, err
}

// RemovePeer forgets a peer and closes the connection with it.
func (c *Client) RemovePeer(ctx context.Context, agentID string) error {
	return c.call(ctx, command{Cmd: "remove_peer", AgentID: agentID}, nil)
}

// Status asks what the daemon has done so far.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.call(ctx, command{Cmd: "status"}, &s)
	return s, err
}

// WhoAmI asks who the daemon is.
func (c *Client) WhoAmI(ctx context.Context) (Self, error) {
	var s Self
	err := c.call(ctx, command{Cmd: "whoami"}, &s)
	return s, err
}
