package mutants

import (
	"context"
	"time"

	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// patience is how long the correct peer waits for a FIN.
const patience = 10 * time.Second

// call is one stream that the suite opened.
type call struct {
	peer     *peer
	link     *link
	stream   *probe.Stream
	nth      int64 // on its connection, from 1
	nthOfAll int64 // on the peer, from 1
	body     []byte
	env      wire.Envelope
	// replied: a reply to it was written, on whichever stream.
	replied bool
}

// serve is the whole way of a stream, each step by the peer's manner.
func (c *call) serve() {
	m := &c.peer.manner
	body, ok := m.read(c)
	if !ok {
		return
	}
	c.handle(body)
}

// handle deals with a body whose FIN has come.
func (c *call) handle(body []byte) {
	m := &c.peer.manner
	c.body = m.repair(body)
	env, problems := wire.Inspect(c.body)
	c.env = env
	wrong := ""
	for _, p := range problems {
		switch {
		case m.forgive[p.Code]:
		case p.Code == wire.KindUnknown, p.Code == wire.ExtraMember:
		case p.Code == wire.IDNil, p.Code == wire.IDNotV4, p.Code == wire.IDNotRFCVariant, p.Code == wire.PayloadNotObject, p.Code == wire.RefNotUUID:
			wrong = p.String()
		default:
			c.link.malformed.Add(1)
			m.malformed(c)
			return
		}
	}
	if wrong == "" {
		wrong = m.refuse(c)
	}
	if wrong != "" {
		m.invalid(c, wrong)
		return
	}
	c.dispatch()
}

// dispatch acts on a valid envelope.
func (c *call) dispatch() {
	m := &c.peer.manner
	if !c.stream.Bidi() {
		m.oneWay(c)
		return
	}
	switch c.env.Kind {
	case "request":
		c.reply(m.request(c))
	case "message", "response", "error":
		m.misplaced(c)
	default:
		c.reply(m.unknown(c))
	}
}

// readToFIN reads up to the limit. A reset is dropped, what is too large or stalls
// is stopped.
func (c *call) readToFIN() ([]byte, bool) {
	ctx, cancel := context.WithTimeout(c.peer.ctx, patience)
	defer cancel()
	most := c.peer.manner.limit
	data, err := c.stream.AwaitBytes(ctx, most+1)
	switch end, ended := c.stream.Ended(); {
	case err != nil:
		c.drop(codeStalled)
		return nil, false
	case len(data) > most:
		c.drop(codeTooLarge)
		return nil, false
	case ended && end.How == probe.Finished:
		return end.Data, true
	}
	c.drop(codeMalformed)
	return nil, false
}

// drop gives a stream up: nothing more is read, nothing is answered.
func (c *call) drop(code uint64) {
	c.stream.StopReading(code)
	c.stream.Reset(code)
}

// invalid refuses an envelope by an error of its own, where a reply is possible.
func (c *call) invalid(why string) {
	if !c.stream.Bidi() {
		return
	}
	if !wire.SameUUID(c.env.ID, c.env.ID) {
		c.drop(codeMalformed)
		return
	}
	c.reply(&answer{
		ID: quote(wire.NewID()), Kind: quote("error"), Ref: quote(c.env.ID), Code: quote("invalid_envelope"),
		Message: quote("the envelope cannot be taken: " + why + "; correct it and send it again"), Retryable: "false",
	})
}

// reply writes an answer.
func (c *call) reply(a *answer) {
	if a == nil {
		return
	}
	c.link.answers.Add(1)
	c.peer.answers.Add(1)
	c.peer.manner.alter(c, a)
	c.peer.manner.write(c, a.bytes())
	c.link.mu.Lock()
	c.link.last = c.env.ID
	c.link.mu.Unlock()
}
