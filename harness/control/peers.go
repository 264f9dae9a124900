package control

import (
	"context"
	"fmt"

	"github.com/axonproto/axon/harness/wire"
)

// Listed is a peer as the target shows it to its owner.
type Listed struct {
	AgentID, Address string
	// Status, Trust and Source are words of the local API: "connected",
	// "candidate", "discovered".
	Status, Trust, Source string
}

// Lister is a Target that shows its peers.
type Lister interface {
	Peers(ctx context.Context) ([]Listed, error)
}

// Peers asks for the peers that the target lists.
func (t *IPC) Peers(ctx context.Context) ([]Listed, error) {
	l, err := t.command(ctx, `"cmd":"peers"`)
	if err != nil {
		return nil, fmt.Errorf("list the peers over the local API: %w", err)
	}
	if o := outcomeOf(l); !o.OK {
		return nil, fmt.Errorf("list the peers over the local API: %s: %s", o.Code, o.Message)
	}
	var list []Listed
	peers, _ := l.Value.Get("peers")
	for _, e := range peers.Array {
		text := func(name string) string { v, _ := e.Get(name); return v.String }
		list = append(list, Listed{
			AgentID: text("agent_id"), Address: text("addr"), Status: text("status"), Trust: text("trust"), Source: text("source"),
		})
	}
	return list, nil
}

// Identity asks who the target is.
func (t *IPC) Identity(ctx context.Context) (agentID, publicKey string, err error) {
	l, err := t.command(ctx, `"cmd":"whoami"`)
	if err != nil {
		return "", "", fmt.Errorf("ask over the local API who the target is: %w", err)
	}
	key, _ := l.Value.Get("public_key")
	if key.Kind != wire.String {
		return "", "", fmt.Errorf("ask over the local API who the target is: the answer is %s", l.Raw)
	}
	return l.Member("agent_id"), key.String, nil
}
