package driver

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// said is a driver that says certain lines once it has been spoken to, and ends.
type said struct {
	lines  *bytes.Reader
	spoken chan struct{}
	once   sync.Once
}

func (s *said) Read(b []byte) (int, error) {
	<-s.spoken
	return s.lines.Read(b)
}

func (s *said) Write(b []byte) (int, error) {
	s.once.Do(func() { close(s.spoken) })
	return len(b), nil
}
func (s *said) lastWords() []string { return nil }
func (s *said) ending() string      { return "it ended" }
func (s *said) close()              { s.once.Do(func() { close(s.spoken) }) }

// FuzzLines: whatever a driver says, it is told what is wrong in a few words, and nobody
// waits for ever.
func FuzzLines(f *testing.F) {
	const hello = `{"answer":"hello","number":1,"version":1,"capabilities":["drive","handle","observe"]}` + "\n"
	const no = `{"answer":"invented","number":2,"error":{"code":"unsupported","message":"no"}}` + "\n"
	for _, seed := range []string{
		hello, hello + no, hello + hello, strings.Replace(hello, "1}", "2}", 1), `{"event":"inbound","from":"x","envelope":{}}` + "\n", hello + `{"event":"inbound","from":"x","to":"y","envelope":{"id":1}}` + "\n",
		"{}\n", "\n\n", "nonsense\n", "\xff\n", `{"answer":"hello","number":1e0}` + "\n", `{"answer":"hello","answer":"x","number":1}` + "\n", hello[:20], `{"answer":7,"number":"1"}` + "\n", `{"answer":"hello","number":1,"error":{}}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		d, err := meet(ctx, &said{lines: bytes.NewReader(text), spoken: make(chan struct{})}, true, Options{})
		if ctx.Err() != nil {
			t.Fatalf("%q: it waits for a driver that has ended", text)
		}
		if err != nil {
			if len(err.Error()) > 4000 {
				t.Fatalf("%q: %d bytes of error", text, len(err.Error()))
			}
			return
		}
		for _, remark := range d.Remarks() {
			if len(remark) > 2000 {
				t.Errorf("%q: %d bytes of remark", text, len(remark))
			}
		}
		if err := d.Close(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
