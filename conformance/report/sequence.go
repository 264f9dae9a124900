package report

import (
	"fmt"
	"slices"
)

// sequence is a transcript made ready to be drawn: what went from one side to the
// other, in order, and how each stream ended on each side.
type sequence struct {
	Rows    []sequenceRow
	Streams []streamEnds
	// Left is how many events in the middle were left out for want of room.
	Left int
}

// sequenceRow is one line of the drawing.
type sequenceRow struct {
	// Side is sent, received or local: who acted. A row of the side left-out
	// stands for events that are not shown, and has only a Gap.
	Side string
	Time string
	// Gap is how long nothing had happened before, when that is long.
	Gap string
	// Place is the stream or connection, Hue its colour from 0 to 5.
	Place string
	Hue   int
	// Stream: Place is one, not a connection.
	Stream bool
	What   string
	// End is fin, reset, stop or close when something ends here.
	End     string
	EndText string
	Note    string
	Data    *sequenceData
}

// sequenceData is the bytes of a row, as text or as hex digits.
type sequenceData struct {
	// Kind is text or hex: how Head and Tail are written.
	Kind       string
	Head, Tail string
	// Cut is how many bytes stand between Head and Tail and are not shown; TailAt
	// is the offset of Tail. Lost is how many at the end were not kept.
	Cut, TailAt, Lost int
}

// streamEnds is how a stream went on its two sides.
type streamEnds struct {
	Place  string
	Hue    int
	Kind   string
	Ours   string
	Theirs string
}

// gapMS is how long nothing happens before a drawing says so.
const gapMS = 100

// rowBytes is about what a row takes in a page besides its data.
const rowBytes = 280

// hues is the number of colours for streams.
const hues = 6

// draw makes a sequence of a transcript. room bounds about what it takes in a
// page, in bytes; each event gets its share, so that no long one hides the others.
func draw(events []Event, room int) sequence {
	var d drawing
	for _, e := range events {
		if e.Connection > 0 && !slices.Contains(d.connections, e.Connection) {
			d.connections = append(d.connections, e.Connection)
		}
		if e.Event == "dial" && e.Direction == "received" {
			d.listened = append(d.listened, e.Connection)
		}
		if size := len(e.Text) + len(e.Hex); size > 0 && e.Event == "data" {
			d.loads++
		}
	}
	// Of the room one half is for rows, whose marks take some too, and what they
	// leave is for data. With very little room the events in the middle go: the
	// first and the last tell most.
	most := max(room/2/rowBytes, 8)
	d.share = max((room-min(len(events), most)*rowBytes)/max(min(d.loads, most), 1), 96)
	out := sequence{}
	last, lastAt := -1, 0.0
	for i, e := range events {
		d.count(e)
		if len(events) > most && i >= most/3 && i < len(events)-(most-most/3) {
			if out.Left++; out.Left == 1 {
				out.Rows = append(out.Rows, sequenceRow{Side: "left-out"})
			}
			continue
		}
		if last >= 0 && joins(out.Rows[last], events[i-1], e) {
			out.Rows[last].End, out.Rows[last].EndText = "fin", "FIN"
			continue
		}
		row := d.row(e)
		if i > 0 && e.AtMS-lastAt >= gapMS && out.Rows[len(out.Rows)-1].Side != "left-out" {
			row.Gap = elapsed(e.AtMS-lastAt) + " later"
		}
		out.Rows = append(out.Rows, row)
		last, lastAt = len(out.Rows)-1, e.AtMS
	}
	for i, row := range out.Rows {
		if row.Side == "left-out" {
			out.Rows[i].Gap = count(out.Left, "event", "events") + " left out; the JSON report has more"
		}
	}
	out.Streams = d.ends()
	return out
}

// joins: a FIN right behind the data of the same stream is drawn as part of it.
func joins(row sequenceRow, before, e Event) bool {
	return e.Event == "fin" && before.Event == "data" && row.End == "" && row.Data != nil &&
		before.Stream == e.Stream && before.Connection == e.Connection && before.Direction == e.Direction
}

// drawing is what draw knows of a whole transcript.
type drawing struct {
	connections []int
	// listened are the connections that the target dialled.
	listened []int
	loads    int
	share    int
	streams  []*streamCount
}

type streamCount struct {
	connection int
	stream     int64
	opener     string
	sent, got  int
	ours       string
	theirs     string
}

// place names where an event happened, and gives it a colour.
func (d *drawing) place(connection int, stream int64) (string, int) {
	many := len(d.connections) > 1
	switch {
	case connection == 0:
		return "", 0
	case stream < 0:
		if many {
			return fmt.Sprintf("connection %d", connection), 0
		}
		return "connection", 0
	case many:
		return fmt.Sprintf("connection %d stream %d", connection, stream), d.hue(connection, stream)
	}
	return fmt.Sprintf("stream %d", stream), d.hue(connection, stream)
}

func (d *drawing) hue(connection int, stream int64) int {
	return slices.Index(d.streams, d.find(connection, stream)) % hues
}

func (d *drawing) find(connection int, stream int64) *streamCount {
	for _, s := range d.streams {
		if s.connection == connection && s.stream == stream {
			return s
		}
	}
	s := &streamCount{connection: connection, stream: stream}
	d.streams = append(d.streams, s)
	return s
}

// count adds an event to the ends of its stream.
func (d *drawing) count(e Event) {
	if e.Stream < 0 || e.Connection == 0 {
		return
	}
	s := d.find(e.Connection, e.Stream)
	end := ""
	switch e.Event {
	case "open":
		s.opener = e.Direction
	case "data":
		if e.Direction == "sent" {
			s.sent += e.Bytes
		} else {
			s.got += e.Bytes
		}
	case "fin":
		end = "FIN at " + elapsed(e.AtMS)
	case "reset":
		end = fmt.Sprintf("reset with code %s at %s", code(e.Code), elapsed(e.AtMS))
	case "stop-sending":
		// It is about the other side's end of the stream.
		end = fmt.Sprintf("asked to stop with code %s at %s", code(e.Code), elapsed(e.AtMS))
		if e.Direction == "sent" {
			s.theirs = also(s.theirs, end)
		} else {
			s.ours = also(s.ours, end)
		}
		return
	}
	if end == "" {
		return
	}
	switch e.Direction {
	case "sent":
		s.ours = also(s.ours, end)
	case "received":
		s.theirs = also(s.theirs, end)
	}
}

func also(before, more string) string {
	if before == "" {
		return more
	}
	return before + ", " + more
}

// ends says of each stream how it went on both sides. The id of a QUIC stream
// tells who opened it and whether it has a way back.
func (d *drawing) ends() []streamEnds {
	var list []streamEnds
	for _, s := range d.streams {
		place, hue := d.place(s.connection, s.stream)
		dialerOpened := s.stream&1 == 0
		weDialled := !slices.Contains(d.listened, s.connection)
		ours := s.opener == "sent" || s.opener == "" && dialerOpened == weDialled
		one := streamEnds{Place: place, Hue: hue}
		by := "by the target"
		if ours {
			by = "by the suite"
		}
		one.Kind = "bidirectional, opened " + by
		if s.stream&2 != 0 {
			one.Kind = "unidirectional, opened " + by
		}
		one.Ours, one.Theirs = side(s.sent, s.ours), side(s.got, s.theirs)
		if s.stream&2 != 0 {
			if ours {
				one.Theirs = also(s.theirs, "nothing can come back")
			} else {
				one.Ours = also(s.ours, "nothing can be sent back")
			}
		}
		list = append(list, one)
	}
	return list
}

func side(bytes int, end string) string {
	if end == "" {
		end = "no end seen"
	}
	return fmt.Sprintf("%s B, %s", thousands(bytes), end)
}

// row draws one event.
func (d *drawing) row(e Event) sequenceRow {
	r := sequenceRow{Side: e.Direction, Time: elapsed(e.AtMS), Note: PrintableLines(cut(e.Text, maxLine))}
	r.Place, r.Hue = d.place(e.Connection, e.Stream)
	r.Stream = e.Stream >= 0 && e.Connection > 0
	switch e.Event {
	case "data":
		r.What, r.Note = thousands(e.Bytes)+" B", ""
		r.Data = excerpt(e, d.share)
		if e.Fin {
			r.End, r.EndText = "fin", "FIN"
		}
	case "fin":
		r.End, r.EndText = "fin", "FIN"
	case "reset":
		r.End, r.EndText = "reset", "reset, code "+code(e.Code)
	case "stop-sending":
		r.End, r.EndText = "stop", "stop sending, code "+code(e.Code)
	case "close":
		r.End, r.EndText = "close", "close, code "+code(e.Code)
	case "open":
		r.What = "opens the stream"
	case "note":
	default:
		r.What = Printable(e.Event)
	}
	return r
}
