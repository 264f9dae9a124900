package mutants

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// change makes a manner out of the correct one.
type change = func(*manner)

// altering is a fault in what stands in a reply.
func altering(f func(*call, *answer)) change { return func(m *manner) { m.alter = f } }

// inDefault is a fault in what stands in the default error alone.
func inDefault(f func(*call, *answer)) change {
	return altering(func(c *call, a *answer) {
		if a.Code == `"unhandled"` {
			f(c, a)
		}
	})
}

// inUnknown is a fault in what stands in the reply to an unknown kind.
func inUnknown(f func(*call, *answer)) change {
	return func(m *manner) {
		m.unknown = func(c *call) *answer {
			a := unhandled(c.env.ID)
			f(c, a)
			return a
		}
	}
}

// inInvalid is a fault in what stands in the error for an invalid envelope.
func inInvalid(f func(*answer)) change {
	return altering(func(_ *call, a *answer) {
		if a.Code == `"invalid_envelope"` {
			f(a)
		}
	})
}

// coding is a fault in the code of the default error.
func coding(code string) change {
	return inDefault(func(_ *call, a *answer) { a.Code = code })
}

// wording is a fault in the message of the default error; %s stands for the
// request's id.
func wording(text string) change {
	return inDefault(func(c *call, a *answer) { a.Message = quote(strings.ReplaceAll(text, "%s", c.env.ID)) })
}

// forgiving is a fault that overlooks problems of an envelope.
func forgiving(codes ...wire.ProblemCode) change {
	return func(m *manner) { m.tolerate(codes...) }
}

// repairing is a fault that mends a body instead of refusing it.
func repairing(f func([]byte) []byte) change { return func(m *manner) { m.repair = f } }

// refusing is a fault that finds something against a valid envelope.
func refusing(f func(*call) bool) change {
	return func(m *manner) {
		m.refuse = func(c *call) string {
			if f(c) {
				return "this is not taken here"
			}
			return ""
		}
	}
}

// refusingPayload refuses by the raw bytes of the payload.
func refusingPayload(parts ...string) change {
	return refusing(func(c *call) bool {
		for _, p := range parts {
			if bytes.Contains(c.env.Payload.Raw, []byte(p)) {
				return true
			}
		}
		return false
	})
}

// writing is a fault in how a reply is put on its stream.
func writing(f func(*call, []byte)) change { return func(m *manner) { m.write = f } }

// bytesOf is a fault in the bytes of a reply, which end by FIN.
func bytesOf(f func([]byte) []byte) change {
	return writing(func(c *call, b []byte) { _ = c.stream.Send(c.peer.ctx, f(b)) })
}

// reading is a fault in how a body is read.
func reading(f func(*call) ([]byte, bool)) change { return func(m *manner) { m.read = f } }

// serving wraps all that happens to a stream.
func serving(f func(*call)) change { return func(m *manner) { m.serve = f } }

// together makes one fault of several changes.
func together(changes ...change) change {
	return func(m *manner) {
		for _, c := range changes {
			c(m)
		}
	}
}

// echo is an application that answers each request by its own payload.
func echo(m *manner) {
	m.request = func(c *call) *answer {
		return &answer{ID: quote(wire.NewID()), Kind: quote("response"), Ref: quote(c.env.ID), Payload: string(c.env.Payload.Raw)}
	}
}

// everyWrite calls f for the bytes of each nth reply of the peer.
func everyWrite(n int64, f func(*call, []byte)) change {
	return writing(func(c *call, b []byte) {
		if c.peer.answers.Load()%n == 0 {
			f(c, b)
			return
		}
		_ = c.stream.Send(c.peer.ctx, b)
	})
}

// open writes a body on a new stream of the peer's own.
func (l *link) open(bidi bool, body []byte) {
	ctx, cancel := context.WithTimeout(l.peer.ctx, patience)
	defer cancel()
	var s *probe.Stream
	var err error
	if bidi {
		s, err = l.conn.OpenBidi(ctx)
	} else {
		s, err = l.conn.OpenUni(ctx)
	}
	if err == nil {
		_ = s.Send(ctx, body)
	}
}

// say opens a stream with an envelope of a kind.
func (l *link) say(bidi bool, kind string, ref *string) {
	l.open(bidi, wire.Outgoing{ID: wire.NewID(), Kind: kind, Payload: `{"note":"from the peer"}`, Ref: ref}.Bytes())
}

// answering is a fault that answers what came on a unidirectional stream.
func answering(kind string, f func(*call)) change {
	return func(m *manner) {
		m.oneWay = func(c *call) {
			if kind == "" || c.env.Kind == kind {
				f(c)
			}
		}
	}
}

// perLink keeps a value for each connection.
type perLink[T any] struct {
	mu sync.Mutex
	of map[*link]*T
}

// with lets f use the connection's value while nobody else does.
func (p *perLink[T]) with(l *link, f func(*T)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[*link]*T{}
	}
	if p.of[l] == nil {
		p.of[l] = new(T)
	}
	f(p.of[l])
}

// hangUp ends a connection as an application does that is not pleased.
func (l *link) hangUp(code uint64, reason string) { _ = l.conn.Close(code, reason) }
