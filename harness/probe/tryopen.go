package probe

import (
	"errors"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/trace"
)

// TryOpenBidi opens a bidirectional stream without waiting. It returns false when
// the target grants none at the moment.
func (c *Conn) TryOpenBidi() (*Stream, bool, error) {
	q, err := c.quic.OpenStream()
	var limit *quic.StreamLimitReachedError
	var limitValue quic.StreamLimitReachedError
	if errors.As(err, &limit) || errors.As(err, &limitValue) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, c.openError("bidirectional", err)
	}
	s := &Stream{conn: c, id: int64(q.StreamID()), send: q, recv: q, ours: true}
	s.note(trace.Sent, trace.Open, 0, "bidirectional")
	if !c.start(s.read) {
		return nil, false, c.openError("bidirectional", ErrClosed)
	}
	return s, true, nil
}
