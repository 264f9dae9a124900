// Package trace keeps what a probe sent, saw and noted, in order and with times.
//
// It records and never judges. It imports the standard library only, so that
// every instrument and every report may use it. Each requirement whose failure
// is explained to a reader (all of AXON-…) shows its evidence from here.
package trace

import (
	"sync"
	"time"
)

// Direction tells who acted.
type Direction string

// The directions.
const (
	Sent     Direction = "sent"     // by the probe, towards the target
	Received Direction = "received" // from the target
	Local    Direction = "local"    // a note of the probe, nothing on the wire
)

// Kind tells what happened.
type Kind string

// The kinds of event.
const (
	Dial        Kind = "dial"         // a connection attempt began
	Handshake   Kind = "handshake"    // a handshake ended, well or badly: see Text
	Open        Kind = "open"         // a stream was opened
	Data        Kind = "data"         // stream bytes
	Fin         Kind = "fin"          // the clean end of a stream side
	Reset       Kind = "reset"        // the abrupt end of a stream side; Code is set
	StopSending Kind = "stop-sending" // a reader asked the writer to stop; Code is set
	Close       Kind = "close"        // the end of a connection; Code and Text are set
	Note        Kind = "note"         // anything else worth reading
)

// KeptBytes is how many bytes of one event's data are kept.
const KeptBytes = 4096

// DefaultLimit is how many events a Log keeps when New is given 0.
const DefaultLimit = 20000

// ConnectionLevel is the Stream of events that concern a whole connection.
const ConnectionLevel int64 = -1

// Event is one thing that happened.
type Event struct {
	At         time.Duration // since the log began; set by Log.Add
	Connection int           // the probe's number of the connection, from 1; 0: none yet
	Stream     int64         // the QUIC stream id; -1: the connection itself
	Direction  Direction
	Kind       Kind
	Data       []byte // a copy, at most KeptBytes of it
	Bytes      int    // the true length of the data
	Code       uint64 // error code of a reset, stop-sending or close
	Text       string // reason or remark
}

// Log is a bounded list of events, safe for concurrent use. The zero Log is not
// usable: take one from New. A nil *Log is, and keeps nothing.
type Log struct {
	began time.Time
	limit int

	mu      sync.Mutex // guards what follows
	show    func(Event)
	events  []Event
	dropped int
}

// Show begins a log that keeps nothing and shows each event as it comes. The calls
// come one after the other; they must not use the log.
func Show(show func(Event)) *Log {
	return &Log{began: time.Now(), show: show}
}

// New begins a log that keeps up to limit events (0 or less: DefaultLimit). Once
// it is full the oldest events are kept and later ones are only counted.
func New(limit int) *Log {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Log{began: time.Now(), limit: limit}
}

// Add appends an event. It sets At, copies Data (at most KeptBytes of it) and
// sets Bytes to the length of Data unless the caller gave a larger number.
func (l *Log) Add(e Event) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.At = time.Since(l.began)
	e.Bytes = max(e.Bytes, len(e.Data))
	if l.show != nil {
		l.show(e)
	}
	if len(l.events) >= l.limit {
		l.dropped++
		return
	}
	if len(e.Data) > 0 {
		kept := e.Data[:min(len(e.Data), KeptBytes)]
		e.Data = append(make([]byte, 0, len(kept)), kept...)
	}
	l.events = append(l.events, e)
}

// Events returns a copy of what was kept, in order. The Data of the events is
// shared with the log and must not be changed.
func (l *Log) Events() []Event {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Event(nil), l.events...)
}

// Of returns the events of one stream together with the connection-level ones
// of its connection, in order.
func (l *Log) Of(connection int, stream int64) []Event {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []Event
	for _, e := range l.events {
		if e.Connection == connection && (e.Stream == stream || e.Stream == ConnectionLevel) {
			found = append(found, e)
		}
	}
	return found
}

// Dropped returns how many events came after the log was full.
func (l *Log) Dropped() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}
