package driver

import (
	"context"
	"errors"
	"slices"

	"github.com/axonproto/axon/harness/control"
)

// Bounds of what one subscription keeps.
const (
	maxEvents     = 20000
	maxEventBytes = 256 << 20
)

// subscription is one who watches for events of a name. Its fields are guarded by
// the driver's mu.
type subscription struct {
	driver  *Driver
	name    string
	events  []control.Event
	ids     []string // request_id of each
	bytes   int
	next    int
	trouble string // why events may be missing; empty when none is
	changed chan struct{}
}

// subscribe begins to watch.
func (d *Driver) subscribe(name string) *subscription {
	s := &subscription{driver: d, name: name, changed: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readers[s] = struct{}{}
	return s
}

func (s *subscription) end() {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	delete(s.driver.readers, s)
}

// add keeps an event; the driver's mu is held.
func (s *subscription) add(e control.Event, id string) {
	if len(s.events) >= maxEvents || s.bytes+len(e.Raw) > maxEventBytes {
		s.spoil("the driver wrote more events than the suite keeps")
		return
	}
	s.events = append(s.events, e)
	s.ids = append(s.ids, id)
	s.bytes += len(e.Raw)
	s.wake()
}

// spoil notes the first reason why events may be missing; the driver's mu is held.
func (s *subscription) spoil(why string) {
	if s.trouble == "" {
		s.trouble = why
	}
}

// wake lets everybody who waits look again; the driver's mu is held.
func (s *subscription) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// await is the next event and its request_id.
func (s *subscription) await(ctx context.Context) (control.Event, string, error) {
	d := s.driver
	for {
		d.mu.Lock()
		if s.next < len(s.events) {
			e, id := s.events[s.next], s.ids[s.next]
			s.next++
			d.mu.Unlock()
			return e, id, nil
		}
		ended, changed := d.ended, s.changed
		d.mu.Unlock()
		if ended != "" {
			return control.Event{}, "", d.fault("%s, so no %s can come", ended, s.name)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return control.Event{}, "", s.silence(ctx)
		}
	}
}

// silence tells whether the driver is to blame for an event that did not come.
func (s *subscription) silence(ctx context.Context) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if err := s.troubled(); err != nil {
		return err
	}
	if !s.driver.pulse() {
		s.driver.mu.Lock()
		s.driver.hanging++
		s.driver.mu.Unlock()
		return s.driver.fault("the driver hangs: no %s came, and it did not answer hello", s.name)
	}
	return ctx.Err()
}

// troubled tells why events may be missing.
func (s *subscription) troubled() error {
	s.driver.mu.Lock()
	trouble, ended := s.trouble, s.driver.ended
	s.driver.mu.Unlock()
	switch {
	case trouble != "":
		return s.driver.fault("%s", trouble)
	case ended != "":
		return s.driver.fault("%s", ended)
	}
	return nil
}

func (s *subscription) seen() []control.Event {
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	return slices.Clone(s.events)
}
