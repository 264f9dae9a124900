package client

import (
	"context"
	"encoding/json"
	"sync"
)

// defaultEventBuffer is how many bytes an EventStream keeps for its reader by
// default. The daemon keeps 1,024 lines more.
const defaultEventBuffer = 64 << 20

// Event is something that the daemon tells of its own accord.
type Event struct {
	// Name is inbound or peer_candidate; a later daemon may know more.
	Name string `json:"event"`
	// From and Envelope belong to inbound: a message, an unsolicited error, or
	// an envelope of a kind that this edition does not know.
	From     string   `json:"from"`
	Envelope Envelope `json:"envelope"`
	// AgentID, PublicKey, Addr and Source belong to peer_candidate: a daemon
	// that was met and waits for AddPeer. Source is mdns or handshake.
	AgentID   string `json:"agent_id"`
	PublicKey string `json:"public_key"`
	Addr      string `json:"addr"`
	Source    string `json:"source"`
	// Raw is the whole line.
	Raw json.RawMessage `json:"-"`
}

// EventStream gives the events from its start on, each once and in order.
type EventStream struct {
	c     *Client
	ready chan struct{} // has room for one: there is something to look at

	mu    sync.Mutex // guards what follows
	queue []Event
	held  int   // bytes of the queue's lines
	err   error // no event is added after it is set
}

// Events starts a stream of events. Read it by Next and end it by Close.
func (c *Client) Events() *EventStream {
	s := &EventStream{c: c, ready: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.cause != nil:
		s.end(c.cause)
	case c.closed:
		s.end(ErrClosed)
	default:
		c.streams[s] = struct{}{}
	}
	return s
}

// Next waits for the next event. After the stream has ended it first returns the
// events that came before; then its error wraps ErrClosed, or is ErrLagging for
// a reader that is more than Options.EventBuffer behind.
func (s *EventStream) Next(ctx context.Context) (Event, error) {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 {
			e := s.queue[0]
			s.queue = s.queue[1:]
			s.held -= len(e.Raw)
			if len(s.queue) > 0 {
				s.wake() // for another caller of Next
			}
			s.mu.Unlock()
			return e, nil
		}
		err := s.err
		s.mu.Unlock()
		if err != nil {
			s.wake()
			return Event{}, err
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}

// Close ends the stream; Next then returns ErrClosed.
func (s *EventStream) Close() {
	s.c.mu.Lock()
	delete(s.c.streams, s)
	s.c.mu.Unlock()
	s.end(ErrClosed)
}

func (s *EventStream) end(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
	s.wake()
}

// add reports false when the stream has ended.
func (s *EventStream) add(e Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false
	}
	if len(s.queue) > 0 && s.held+len(e.Raw) > s.c.eventBuffer {
		s.err = ErrLagging
		s.wake()
		return false
	}
	s.queue = append(s.queue, e)
	s.held += len(e.Raw)
	s.wake()
	return true
}

func (s *EventStream) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// event passes an event on. An event that cannot be read is left out: what it
// tells is unknown to this edition.
func (c *Client) event(name string, line []byte) {
	switch name {
	case eventRequest, eventCancelled:
		c.mu.Lock()
		server := c.server
		c.mu.Unlock()
		c.serveEvent(server, name, line)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.streams) == 0 {
		return
	}
	raw := append([]byte(nil), line...)
	e := Event{Raw: raw}
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	for s := range c.streams {
		if !s.add(e) {
			delete(c.streams, s)
		}
	}
}
