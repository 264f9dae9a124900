package mutants

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/trace"
	"github.com/axonproto/axon/harness/wire"
)

// PlayOptions say what peer to play.
type PlayOptions struct {
	Identity credential.Identity // required
	Listen   string              // UDP address; "": a free port of 127.0.0.1
	Dial     []string            // HOST:PORT to connect to at once
	// Admit is the one key whose holder is let in; nil lets everybody in.
	Admit ed25519.PublicKey
	// Fault is the name of a mutant or an oddity that shows on the wire; empty is
	// none.
	Fault string
	// Reply makes the whole answer to a request, empty for no bytes. Nil: a fault's
	// own, or the default error.
	Reply func(request wire.Envelope) []byte
	// Log gets all that happens.
	Log *trace.Log
	// Ready is called with the address once the peer listens. It may be nil.
	Ready func(address string)
}

// ErrNotOnTheWire says that a fault is not one of a peer on the wire.
var ErrNotOnTheWire = errors.New("it is a fault of a local API, a command line or of discovery, and shows in `axon-conformance selftest` only")

// Faults names the mutants and oddities that Play can play.
func Faults() []string {
	var names []string
	for _, m := range Mutants() {
		if m.change != nil {
			names = append(names, m.Name)
		}
	}
	for _, o := range Oddities() {
		names = append(names, o.Name)
	}
	return names
}

// Play is a peer until ctx ends. Its errors concern the options, and connections
// that cannot be made.
func Play(ctx context.Context, o PlayOptions) error {
	m, err := mannerOf(o.Fault)
	if err != nil {
		return err
	}
	if o.Reply != nil {
		write := m.write
		m.write = func(c *call, b []byte) {
			if c.env.Kind == "request" {
				b = o.Reply(c.env)
			}
			write(c, b)
		}
	}
	admitted := ""
	if o.Admit != nil {
		admitted = credential.AgentID(o.Admit)
	}
	p, err := openPeer(m, admitted, probe.Options{Identity: o.Identity, Listen: o.Listen, Log: o.Log})
	if err != nil {
		return err
	}
	defer p.close()
	if o.Ready != nil {
		o.Ready(p.address())
	}
	for _, address := range o.Dial {
		c, err := p.endpoint.Dial(ctx, probe.DialOptions{Address: address, ExpectKey: o.Admit})
		if err != nil {
			return fmt.Errorf("connect to %s: %w", address, err)
		}
		p.take(c)
	}
	select {
	case <-ctx.Done():
	case <-p.ctx.Done(): // the fault is that it dies
	}
	return nil
}

func mannerOf(fault string) (manner, error) {
	m := correct()
	if fault == "" {
		return m, nil
	}
	jobs, err := choose([]string{fault})
	if err != nil {
		return m, fmt.Errorf("%w; the nearest is %s", err, nearestFault(fault))
	}
	if j := jobs[0]; j.change == nil || j.lan != nil || j.local != nil || j.command {
		return m, fmt.Errorf("%s: %w", fault, ErrNotOnTheWire)
	}
	jobs[0].change(&m)
	return m, nil
}

// nearestFault has the longest beginning in common with a name, or a part.
func nearestFault(name string) string {
	best, most := "odd-correct", 0
	for _, f := range Faults() {
		n := 0
		for n < len(f) && n < len(name) && f[n] == name[n] {
			n++
		}
		if strings.Contains(f, name) {
			n += len(name)
		}
		if n > most {
			best, most = f, n
		}
	}
	return best
}

// AsWritten answers each request by a text in which «request id» stands for the
// request's id and «id» for a new one.
func AsWritten(text string) func(wire.Envelope) []byte {
	return func(request wire.Envelope) []byte {
		return []byte(strings.NewReplacer("«request id»", request.ID, "«id»", wire.NewID()).Replace(text))
	}
}

// Echo answers a request by its own payload.
func Echo(request wire.Envelope) []byte {
	return wire.Outgoing{ID: wire.NewID(), Kind: "response", Ref: &request.ID, Payload: string(request.Payload.Raw)}.Bytes()
}
