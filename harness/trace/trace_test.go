package trace

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLogIsBoundedAndCopies(t *testing.T) {
	l := New(3)
	data := bytes.Repeat([]byte("a"), KeptBytes+10)
	l.Add(Event{Connection: 1, Stream: 4, Kind: Data, Data: data})
	data[0] = 'b'
	for range 4 {
		l.Add(Event{Connection: 1, Stream: 4, Kind: Note})
	}
	events := l.Events()
	if len(events) != 3 || l.Dropped() != 2 {
		t.Fatalf("%d kept, %d dropped", len(events), l.Dropped())
	}
	first := events[0]
	if len(first.Data) != KeptBytes || first.Bytes != KeptBytes+10 || first.Data[0] != 'a' {
		t.Errorf("%d of %d bytes, first %c", len(first.Data), first.Bytes, first.Data[0])
	}
	for i := 1; i < len(events); i++ {
		if events[i].At < events[i-1].At {
			t.Error("times run backwards")
		}
	}
}

func TestOf(t *testing.T) {
	l := New(0)
	l.Add(Event{Connection: 1, Stream: ConnectionLevel, Text: "conn 1"})
	l.Add(Event{Connection: 2, Stream: ConnectionLevel, Text: "conn 2"})
	l.Add(Event{Connection: 1, Stream: 0, Text: "stream 0"})
	l.Add(Event{Connection: 1, Stream: 4, Text: "stream 4"})
	l.Add(Event{Connection: 2, Stream: 0, Text: "other"})
	var got []string
	for _, e := range l.Of(1, 0) {
		got = append(got, e.Text)
	}
	if strings.Join(got, ",") != "conn 1,stream 0" {
		t.Errorf("%v", got)
	}
}

func TestNilLog(t *testing.T) {
	var l *Log
	l.Add(Event{})
	if l.Events() != nil || l.Of(1, 0) != nil || l.Dropped() != 0 {
		t.Error("a nil log holds something")
	}
}

func TestConcurrentUse(t *testing.T) {
	l := New(100)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				l.Add(Event{Data: []byte("x")})
				l.Events()
			}
		})
	}
	all.Wait()
	if len(l.Events()) != 100 || l.Dropped() != 300 {
		t.Errorf("%d %d", len(l.Events()), l.Dropped())
	}
}

func TestPrint(t *testing.T) {
	at := 12300 * time.Microsecond
	for want, e := range map[string]Event{
		`   12.3ms  c1 s4    sent      data 14 B  {"id":"über"}`: {At: at, Connection: 1, Stream: 4, Direction: Sent, Kind: Data, Data: []byte(`{"id":"über"}`)},
		`   12.3ms  c2       received  close code 7  bye now`:    {At: at, Connection: 2, Stream: -1, Direction: Received, Kind: Close, Code: 7, Text: "bye\nnow"},
		`   12.3ms  c1 s0    sent      data 3 B  hex 00ff80`:     {At: at, Connection: 1, Direction: Sent, Kind: Data, Data: []byte{0, 0xff, 0x80}, Bytes: 3},
		`   12.3ms  c1 s0    sent      stop-sending code 0`:      {At: at, Connection: 1, Direction: Sent, Kind: StopSending},
		`   12.3ms  c1 s0    received  fin`:                      {At: at, Connection: 1, Direction: Received, Kind: Fin},
	} {
		if e.Kind == Data {
			e.Bytes = len(e.Data)
		}
		if got := e.String(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestLongDataIsCutBetweenCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé€😀")), 0, 3000, -1).Draw(t, "text")
		l := New(0)
		l.Add(Event{Connection: 1, Kind: Data, Data: []byte(text)})
		line := l.Events()[0].String()
		if !utf8.ValidString(line) || strings.ContainsRune(line, utf8.RuneError) || strings.Contains(line, "hex") {
			t.Fatalf("%q", line)
		}
		if len(line) > 400 {
			t.Fatalf("the line has %d bytes", len(line))
		}
	})
}

func TestAnyDataPrintsOnOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Event{Data: rapid.SliceOfN(rapid.Byte(), 0, 600).Draw(t, "data"), Text: rapid.String().Draw(t, "text"), Kind: Data}
		e.Bytes = len(e.Data) + rapid.IntRange(0, 1).Draw(t, "cut")*1000
		e.Text = e.Text[:min(len(e.Text), 100)]
		if line := e.String(); strings.ContainsAny(line, "\n\r\x1b") || !utf8.ValidString(line) {
			t.Fatalf("%q", line)
		}
	})
}
