package steps

import (
	"context"
	"slices"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/probe"
)

// Sent is a stream of a scenario that is used without a feature file: several things
// are sent, one barrier is passed for all of them, and then each is judged by the
// steps that judge it in a feature.
type Sent struct{ x *exchange }

// Connect dials the connection on which Put sends.
func (s *Scenario) Connect(ctx context.Context) error {
	_, err := s.dial(ctx)
	return err
}

// Put opens a stream and writes a body, in pieces unless their size is 0, and its FIN
// if that is wanted.
func (s *Scenario) Put(ctx context.Context, bidi bool, body []byte, pieces int, fin bool) (Sent, error) {
	x, err := s.open(ctx, bidi)
	if err != nil {
		return Sent{x}, err
	}
	x.note(body)
	if x.fair && fin {
		s.Target.Record.sent(x.id)
	}
	if pieces > 0 {
		err = x.stream.WritePieces(ctx, body, pieces)
	} else {
		err = x.stream.Write(ctx, body)
	}
	if err == nil && fin {
		return Sent{x}, s.finish(x)
	}
	return Sent{x}, s.wrote(x, err)
}

// Finish ends a stream that was left open, by FIN.
func (s *Scenario) Finish(o Sent) error {
	s.barred = false
	return s.finish(o.x)
}

// Reset takes back what was written on a stream.
func (s *Scenario) Reset(o Sent) {
	s.barred = false
	o.x.stream.Reset(0)
	o.x.due = false
}

// Unowed says that the target owes no reply to what a stream carries.
func (s *Scenario) Unowed(o Sent) { o.x.due = false }

// GiveUp waits for no reply any more.
func (s *Scenario) GiveUp(o Sent) {
	o.x.stream.StopReading(0)
	o.x.due = false
}

// Bar is the barrier for all that was sent: good requests on the same connection, and
// a moment for the replies that may be on their way.
func (s *Scenario) Bar(ctx context.Context) error {
	for range 2 {
		if err := s.survives(ctx); err != nil {
			return err
		}
	}
	wait, cancel := context.WithTimeout(ctx, s.grace())
	defer cancel()
	for _, x := range s.exchanges {
		if x.conn == s.conn && x.stream.Bidi() && (x.fin || x.writeErr != nil) {
			_, _ = x.awaitEnd(wait)
		}
	}
	s.barred = true
	return nil
}

// Judge performs a step about one stream, for the sake of some requirements.
func (s *Scenario) Judge(ctx context.Context, about Sent, ids []string, step string) error {
	s.last, s.IDs, s.Err = about.x, ids, nil
	err := perform(With(ctx, s), step, "")
	s.IDs = nil
	return err
}

// Perform carries a step out as in a feature file.
func (s *Scenario) Perform(ctx context.Context, step string) error {
	return perform(With(ctx, s), step, "")
}

// Open tells whether the target has not ended its side of a stream yet.
func (o Sent) Open() bool {
	if o.x == nil || o.x.stream == nil {
		return false
	}
	_, ended := o.x.stream.Ended()
	return !ended
}

// Is tells whether a failure is about the stream.
func (o Sent) Is(f *verdict.Failure) bool {
	return o.x != nil && o.x.stream != nil && o.x.conn.Number() == f.Connection && o.x.stream.ID() == f.Stream
}

// Ended tells how the connection ended, empty while it lives; closed is true when the
// target closed it in so many words.
func (s *Scenario) Ended() (how string, closed bool) {
	if s.conn == nil {
		return "", false
	}
	end := s.conn.End()
	if end == nil {
		return "", false
	}
	return describeClosing(end), end.Remote && !end.IdleTimeout && !end.StatelessReset
}

// Answer is a stream that the target opened and that may answer something.
type Answer struct {
	// To is the place of what it names, -1 when it names nothing that was sent.
	To int
	// Complaint: it is an error on a unidirectional stream, which the text allows for
	// what goes wrong on the level of the protocol.
	Complaint bool
	// What says what came.
	What string
}

// Answers are the streams that the target opened, but for those that an application
// opens of its own accord.
func (s *Scenario) Answers(ctx context.Context, sent []Sent) []Answer {
	var list []Answer
	for _, in := range s.conn.Incoming() {
		r := s.arrived(ctx, &exchange{conn: s.conn, stream: in})
		if s.ownAccord(r) {
			continue
		}
		to := slices.IndexFunc(sent, func(o Sent) bool { return o.x != nil && r.names([]*exchange{o.x}) })
		list = append(list, Answer{to, r.protocolError(in), r.describe()})
	}
	return list
}

// Broken are the sentences on what a target sends that it broke in the scenario, as
// the Record has them.
func (s *Scenario) Broken() []string {
	s.inspectOnce.Do(s.inspect)
	return s.Target.Record.brokenIDs()
}

// Grants tells how many bidirectional streams the target grants at a time, up to a
// number.
func (s *Scenario) Grants(ctx context.Context, most int) (int, error) {
	c, err := s.connection(ctx)
	if err != nil {
		return 0, err
	}
	var open []*probe.Stream
	defer func() {
		for _, o := range open {
			o.Reset(0)
		}
	}()
	for len(open) < most {
		o, granted, err := c.TryOpenBidi()
		if err != nil || !granted {
			return len(open), err
		}
		open = append(open, o)
	}
	return len(open), nil
}

// RecordOf is what the Record has of a sentence.
func (s *Scenario) RecordOf(id string) (f *verdict.Failure, looked int) {
	f, _, looked = s.Target.Record.Verdict(id)
	return f, looked
}
