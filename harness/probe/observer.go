package probe

import (
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"

	"github.com/axonproto/axon/harness/trace"
)

// maxStops bounds how many STOP_SENDING codes one connection remembers.
const maxStops = 1 << 16

// observer watches the frames of one connection. Through quic-go's event hook it
// sees what the stream API hides: a STOP_SENDING after our FIN, and the
// connection IDs that our packets go to.
//
// It is called from the connection's own loop and so must never block.
type observer struct {
	number int
	log    *trace.Log
	socket *socket

	mu           sync.Mutex
	lastID       quic.ConnectionID
	destinations map[quic.ConnectionID]struct{}
	muted        bool
	stops        map[int64]uint64
}

func newObserver(number int, log *trace.Log, s *socket) *observer {
	return &observer{number: number, log: log, socket: s}
}

// stopped notes that the target asked us to stop sending on a stream.
func (o *observer) stopped(stream int64, code uint64) {
	o.mu.Lock()
	_, known := o.stops[stream]
	if !known && len(o.stops) < maxStops {
		if o.stops == nil {
			o.stops = make(map[int64]uint64)
		}
		o.stops[stream] = code
	}
	o.mu.Unlock()
	if !known {
		o.log.Add(trace.Event{Connection: o.number, Stream: stream, Direction: trace.Received, Kind: trace.StopSending, Code: code})
	}
}

func (o *observer) stopCode(stream int64) (uint64, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	code, ok := o.stops[stream]
	return code, ok
}

func (o *observer) sentTo(id quic.ConnectionID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.destinations != nil && id == o.lastID {
		return
	}
	o.lastID = id
	if o.destinations == nil {
		o.destinations = make(map[quic.ConnectionID]struct{})
	}
	if _, known := o.destinations[id]; known {
		return
	}
	o.destinations[id] = struct{}{}
	if o.muted {
		o.socket.mute(id.Bytes())
	}
}

// mute makes the socket drop whatever the connection still wants to send.
func (o *observer) mute() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.muted {
		return
	}
	o.muted = true
	for id := range o.destinations {
		o.socket.mute(id.Bytes())
	}
}

// AddProducer makes the observer a qlogwriter.Trace.
func (o *observer) AddProducer() qlogwriter.Recorder { return o }

// Close makes the observer a qlogwriter.Recorder; there is nothing to release.
func (o *observer) Close() error { return nil }

// RecordEvent looks at the packets that go and come.
func (o *observer) RecordEvent(event qlogwriter.Event) {
	switch e := event.(type) {
	case qlog.PacketSent:
		o.sentTo(e.Header.DestConnectionID)
	case qlog.PacketReceived:
		for _, f := range e.Frames {
			if stop, ok := f.Frame.(*qlog.StopSendingFrame); ok {
				o.stopped(int64(stop.StreamID), uint64(stop.ErrorCode))
			}
		}
	}
}

// both passes each event to the observer and to a trace of the caller's.
type both struct {
	own    *observer
	theirs qlogwriter.Trace
}

func (b both) AddProducer() qlogwriter.Recorder {
	return bothRecorder{b.own, b.theirs.AddProducer()}
}

type bothRecorder struct {
	own    *observer
	theirs qlogwriter.Recorder
}

func (b bothRecorder) RecordEvent(e qlogwriter.Event) {
	b.own.RecordEvent(e)
	b.theirs.RecordEvent(e)
}

func (b bothRecorder) Close() error { return b.theirs.Close() }
