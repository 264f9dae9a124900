package mutants

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

// outgoing is an envelope that a client sends.
type outgoing struct {
	to, id, kind string
	payload      string // raw
	ref          *string
	timeout      time.Duration
}

func (o outgoing) bytes() []byte {
	return wire.Outgoing{ID: o.id, Kind: o.kind, Payload: o.payload, Ref: o.ref}.Bytes()
}

// patienceOfSend is the time of a request that names none.
const patienceOfSend = 30 * time.Second

// takeOutgoing checks the members of send.
func (c *localClient) takeOutgoing(cmd *localCommand) (o outgoing, problem *record) {
	d := c.d
	invalid := func(what string) *record { return no("invalid_command", what+"; correct it and send the line again") }
	to, ok := cmd.text("to")
	if !ok || !strings.HasPrefix(strings.ToLower(to), "ed25519.") || len(to) != 40 {
		return o, invalid("to is no Agent ID")
	}
	kind, ok := cmd.text("kind")
	if !ok || kind != "request" && kind != "message" && !d.lax("only requests and messages are sent") {
		return o, invalid("kind is neither request nor message")
	}
	payload, n := cmd.v.Get("payload")
	if n == 0 && d.lax("a payload is needed") {
		payload = wire.Value{Kind: wire.Object, Raw: []byte("{}")}
	} else if n != 1 || payload.Kind != wire.Object && !d.lax("a payload is an object") {
		return o, invalid("payload is no object")
	}
	o = outgoing{to: d.lower(to), id: wire.NewID(), kind: kind, payload: string(payload.Raw), timeout: patienceOfSend}
	switch ref, n := cmd.v.Get("ref"); {
	case n == 0, ref.Kind == wire.Null:
	case ref.Kind == wire.String && wire.SameUUID(ref.String, ref.String):
		o.ref = &ref.String
	case !d.lax("a ref is a UUID"):
		return o, invalid("ref is no UUID")
	}
	secs, n := cmd.v.Get("timeout_secs")
	if n == 0 {
		return o, nil
	}
	number := secs.Number
	if secs.Kind == wire.String && d.lax("a time-out is a number") {
		number = secs.String
	}
	f, err := strconv.ParseFloat(number, 64)
	switch {
	case kind == "message" && !d.lax("a message has no time-out"):
		return o, invalid("timeout_secs belongs to a request")
	case err == nil && d.lax("a time-out is within its bounds"):
		f = min(max(f, 1), 3600)
	case err != nil || f != float64(int(f)) || f < 1 || f > 3600:
		return o, invalid("timeout_secs is no whole number from 1 to 3600")
	}
	o.timeout = time.Duration(f * float64(time.Second))
	return o, nil
}

func (c *localClient) send(cmd *localCommand) *record {
	d := c.d
	o, problem := c.takeOutgoing(cmd)
	if problem != nil {
		return problem
	}
	k := d.lookup(o.to)
	switch {
	case o.to == d.own() && !d.lax("the receiver is another"):
		return no("self_send", "that is this daemon itself; name another agent")
	case k == nil:
		return no("peer_not_found", "no such peer is known; add it first")
	}
	body := d.m.encode(o)
	size := len(body)
	if d.lax("the envelope is measured") {
		size = len(o.payload)
	}
	if size > d.m.maxEnvelope {
		return no("message_too_large", "the envelope would have more than 65,536 bytes; send less")
	}
	if d.lax("requests delay no other client") && o.kind == "request" {
		d.single.Lock()
		defer d.single.Unlock()
	}
	parent, timeout := c.ctx, o.timeout
	if o.kind == "message" || d.lax("requests end with their client") {
		parent = d.peer.ctx
	}
	if d.lax("a request waits for as long as it is told") {
		timeout /= 2
	}
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	dialling := ctx
	if d.lax("the time includes dialling") {
		var done context.CancelFunc
		dialling, done = context.WithTimeout(parent, patienceOfSend)
		defer done()
	}
	l, err := d.connect(dialling, k)
	if err != nil {
		return c.failed(ctx, o, err)
	}
	x := &carriage{d: d, ctx: ctx, link: l, o: o, body: body}
	back, err := d.m.carry(x)
	if err != nil {
		return c.failed(ctx, o, err)
	}
	d.mu.Lock()
	if !d.lax("what is sent is counted") && !(o.kind == "request" && d.lax("requests sent are counted")) {
		d.sent++
	}
	d.mu.Unlock()
	if o.kind != "request" {
		return yes("msg_id", quote(o.id))
	}
	env, problems := wire.Inspect(back)
	if why := d.noReply(o, env, problems); why != "" {
		return no("peer_unreachable", "what came back is no reply ("+why+"); ask the peer's owner")
	}
	return yes("msg_id", quote(o.id), "response", d.m.shown(shownEnvelope{env: env, from: k.id, to: d.own()}).text())
}

// failed tells the end of the time from other failures.
func (c *localClient) failed(ctx context.Context, o outgoing, err error) *record {
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	switch {
	case late && !c.d.lax("a time-out is told as one"):
		return no("timeout", "no reply came within the time; the peer may be slow, so give more time")
	case !late && c.d.lax("a lost peer is told at once"):
		<-ctx.Done()
		return no("timeout", "no reply came within the time; the peer may be slow, so give more time")
	case !late && c.d.lax("a lost peer is no time-out"):
		return no("timeout", "the peer is away; try again later")
	}
	return no("peer_unreachable", fmt.Sprintf("the peer could not be reached (%v); check its address", err))
}

// noReply tells why what came back is no reply to a request, "" when it is one.
func (d *localDaemon) noReply(o outgoing, e wire.Envelope, problems []wire.Problem) string {
	for _, p := range problems {
		switch p.Code {
		case wire.ExtraMember, wire.KindUnknown:
		case wire.TrailingData:
			if !d.lax("one reply comes back") {
				return p.String()
			}
		case wire.RefNotString, wire.RefNotUUID:
			if !d.lax("a reply names its request") {
				return p.String()
			}
		case wire.PayloadNotObject, wire.MissingPayload, wire.MissingID:
			if !d.lax("a reply is an envelope") {
				return p.String()
			}
		default:
			return p.String()
		}
	}
	if e.Kind != "response" && e.Kind != "error" && !d.lax("a reply has one of two kinds") {
		return "its kind is " + e.Kind
	}
	switch {
	case e.Ref != nil && wire.SameUUID(*e.Ref, o.id), d.lax("a reply names its request"):
	case e.Ref == nil && d.lax("a reply without ref is none"):
	default:
		return "it does not name the request"
	}
	return ""
}

// carriage is one envelope on its way.
type carriage struct {
	d    *localDaemon
	ctx  context.Context
	link *link
	o    outgoing
	body []byte
}

// run puts the body on a fresh stream: a message on a unidirectional one, for which
// nothing comes back, a request on a bidirectional one.
func (x *carriage) run() ([]byte, error) {
	if x.o.kind != "request" {
		s, err := x.link.conn.OpenUni(x.ctx)
		if err == nil {
			err = s.Send(x.ctx, x.body)
		}
		return nil, err
	}
	s, err := x.link.conn.OpenBidi(x.ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Send(x.ctx, x.body); err != nil {
		return nil, err
	}
	return x.await(s)
}

// await brings what comes back on a stream. One that takes too long is given up.
func (x *carriage) await(s *probe.Stream) ([]byte, error) {
	end, err := s.Wait(x.ctx)
	if err != nil {
		if !x.d.lax("a stream is given up") {
			s.StopReading(0)
		}
		return nil, err
	}
	if end.How != probe.Finished {
		return nil, fmt.Errorf("%w: the stream ended by %s", errNoWay, end.How)
	}
	return end.Data, nil
}
