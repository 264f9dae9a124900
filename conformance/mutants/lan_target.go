package mutants

import (
	"context"
	"crypto/ed25519"
	"net/netip"
	"strings"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// driven is a neighbour that the suite can make act, without a local API between
// them.
type driven struct{ n *neighbour }

var _ interface {
	control.Target
	control.Lister
} = driven{}

func (d driven) Capabilities() []string { return []string{"drive"} }

// Enroll pins a peer at an address.
func (d driven) Enroll(_ context.Context, key ed25519.PublicKey, address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	id := credential.AgentID(key)
	d.n.mu.Lock()
	p := d.n.people[id]
	if p == nil {
		p = &acquaintance{id: id, key: key}
		d.n.people[id] = p
	}
	p.pinned, p.proven = true, at
	d.n.mu.Unlock()
	d.n.meet(sighting{id: id, key: key, at: at})
	return nil
}

func (d driven) Forget(_ context.Context, agentID string) error {
	d.n.mu.Lock()
	p := d.n.people[agentID]
	delete(d.n.people, agentID)
	d.n.mu.Unlock()
	if p != nil && p.conn != nil {
		return p.conn.Close(0, "the peer was removed")
	}
	return nil
}

// Send sends a message, or a request whose reply it waits for.
func (d driven) Send(ctx context.Context, s control.Send) (control.Sent, error) {
	failed := func(code, message string) (control.Sent, error) {
		return control.Sent{Code: code, Message: message, Raw: []byte(code + ": " + message)}, nil
	}
	d.n.mu.Lock()
	p := d.n.people[s.To]
	d.n.mu.Unlock()
	if p == nil {
		return failed("peer_not_found", "nobody of that Agent ID is known; add the peer first")
	}
	c, err := d.n.reach(ctx, p)
	if err != nil {
		return failed("peer_unreachable", err.Error())
	}
	var stream *probe.Stream
	if s.Kind == "request" {
		stream, err = c.OpenBidi(ctx)
	} else {
		stream, err = c.OpenUni(ctx)
	}
	if err != nil {
		return failed("peer_unreachable", err.Error())
	}
	id := wire.NewID()
	if err := stream.Send(ctx, wire.Outgoing{ID: id, Kind: s.Kind, Payload: string(s.Payload)}.Bytes()); err != nil {
		return failed("peer_unreachable", err.Error())
	}
	if s.Kind != "request" {
		return control.Sent{OK: true, ID: id}, nil
	}
	end, err := stream.Wait(ctx)
	if err != nil || end.How != probe.Finished {
		return failed("peer_unreachable", "no reply came")
	}
	return control.Sent{OK: true, ID: id, Response: end.Data, Raw: end.Data}, nil
}

func (d driven) Handle(context.Context) (control.Handler, error) {
	return nil, control.ErrUnsupported
}

func (d driven) Observe(context.Context) (control.Observer, error) {
	return nil, control.ErrUnsupported
}

func (d driven) Close() error { return nil }

// Peers lists whom it knows.
func (d driven) Peers(context.Context) ([]control.Listed, error) {
	d.n.mu.Lock()
	defer d.n.mu.Unlock()
	var list []control.Listed
	for _, p := range d.n.people {
		l := control.Listed{AgentID: p.id, Status: "discovered", Trust: "trusted", Source: "discovered"}
		if p.connected() {
			l.Status = "connected"
		}
		if d.n.settings.enrolment && !p.pinned {
			l.Trust = "candidate"
		}
		var at []string
		for _, o := range p.heard {
			at = append(at, o.at.String())
		}
		l.Address = strings.Join(at, " ")
		list = append(list, l)
	}
	return list, nil
}
