package driver

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
	"github.com/axonproto/axon/schemas"
)

// script is a driver that has said all that it will say.
type script struct{ io.Reader }

func (script) Write(b []byte) (int, error) { return len(b), nil }
func (script) lastWords() []string         { return nil }
func (script) ending() string              { return "the script ended" }
func (script) close()                      {}

// heard is what came of a script.
type heard struct {
	events   map[string][]control.Event
	outcomes map[string]outcome
	remarks  []string
}

// listen reads a script to its end, while send, hello and an unknown command wait for
// their answers, nobody waits for that to serve any more, and all events are watched.
func listen(t *testing.T, r io.Reader) heard {
	d := &Driver{
		link: script{r}, answer: schemas.MustCompile(schemas.DriverAnswer), event: schemas.MustCompile(schemas.DriverEvent),
		over: make(chan struct{}), waiting: map[int]*waiter{}, given: map[int]string{4: "serve"}, readers: map[*subscription]struct{}{}, next: 4,
	}
	d.hello.Store(&Hello{Capabilities: []string{"observe", "handle"}})
	waiters := map[string]*waiter{}
	for number, command := range map[int]string{1: "hello", 2: "send", 3: "invented_1"} {
		waiters[command] = &waiter{command: command, done: make(chan outcome, 1)}
		d.waiting[number] = waiters[command]
	}
	subscriptions := map[string]*subscription{"inbound": d.subscribe("inbound"), "request": d.subscribe("request")}
	d.read()
	<-d.over
	h := heard{events: map[string][]control.Event{}, outcomes: map[string]outcome{}, remarks: d.Remarks()}
	for name, s := range subscriptions {
		h.events[name] = s.seen()
	}
	for command, w := range waiters {
		if len(d.waiting) != 0 || len(w.done) != 1 {
			t.Fatalf("%s was told %d outcomes, and %d commands wait", command, len(w.done), len(d.waiting))
		}
		h.outcomes[command] = <-w.done
	}
	return h
}

// fit tells whether text may stand in a report: of one line, printable, and short.
func fit(text string) bool {
	return len(text) < 16000 && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// FuzzLines: whatever a driver writes, each command has one outcome, which is a valid
// answer to it or a fault of the driver; the events that are shown are those lines
// that the schema takes for one, in their order; and what is said of the others may
// stand in a report. It does not matter in which pieces the lines come.
func FuzzLines(f *testing.F) {
	const (
		agent   = `"ed25519.00000000000000000000000000000000"`
		inbound = `{"event":"inbound","from":` + agent + `,"to":` + agent + `,"envelope":{"id":"a","kind":"message","payload":{"n":1e400,"n":2}}}`
		request = `{"event":"request","request_id":"r1","from":` + agent + `,"envelope":{"id":"a","kind":"request","payload":{}}}`
		hello   = `{"answer":"hello","number":1,"version":1,"capabilities":["drive"],"implementation":{"name":"x","version":""}}`
		sent    = `{"answer":"send","number":2,"id":"x","response":{"id":"y","kind":"response","payload":{}}}`
		refused = `{"answer":"invented_1","number":3,"error":{"code":"unsupported","message":"no\u0007"}}`
	)
	for _, lines := range []string{
		inbound + "\n" + hello + "\r\n" + request + "\n" + sent + "\n\n" + refused + "\n" + inbound + "\n",
		sent + "\n" + sent + "\n", hello, "Welcome!\n\x1b[31m{\n" + hello + "\n", `{"answer":"serve","number":4}` + "\n" + `{"answer":"serve","number":4}` + "\n",
		`{"answer":"send","number":2e0}` + "\n", `{"answer":"send","number":99999999999999999999}` + "\n", `{"answer":"hello","number":2}` + "\n",
		`{"answer":"send","number":2,"event":"inbound"}` + "\n", `{"event":"inbound","event":"inbound"}` + "\n", strings.Replace(inbound, `"to"`, `"too\u001b"`, 1) + "\n",
		"[[[[[\n\ufeff{}\n\xff\n" + strings.Repeat("x", 500) + "\n",
		`{"answer":"send","number":2,"` + strings.Repeat("é\\u0007", 3000) + `":1}` + "\n",
	} {
		f.Add([]byte(lines))
	}
	answer, event := schemas.MustCompile(schemas.DriverAnswer), schemas.MustCompile(schemas.DriverEvent)
	f.Fuzz(func(t *testing.T, text []byte) {
		h := listen(t, bytes.NewReader(text))
		lines := bytes.Split(text, []byte("\n"))
		want := map[string][]string{}
		for _, line := range lines[:len(lines)-1] {
			line = bytes.TrimRight(line, "\r")
			if len(line) > MaxLine-2 || event.Validate(line) != nil {
				continue
			}
			if v, err := wire.Parse(line); err == nil {
				want[member(v, "event")] = append(want[member(v, "event")], string(line))
			}
		}
		for name, events := range h.events {
			var got []string
			for _, e := range events {
				got = append(got, string(e.Raw))
				if v, err := wire.Parse(e.Envelope); err != nil || v.Kind != wire.Object || e.Name != name {
					t.Fatalf("%q: event %+v, %v", text, e, err)
				}
			}
			if !slices.Equal(got, want[name]) {
				t.Fatalf("%q: %s shown: %q, want %q", text, name, got, want[name])
			}
		}
		for command, o := range h.outcomes {
			if o.fault != nil {
				var fault *control.Fault
				if !errors.As(o.fault, &fault) || !fit(fault.Error()) || o.reply.raw != nil {
					t.Fatalf("%q: %s: %d bytes: %.4000q", text, command, len(o.fault.Error()), o.fault.Error())
				}
				continue
			}
			if err := answer.Validate(o.reply.raw); err != nil || member(o.reply.value, "answer") != command || !bytes.Contains(text, o.reply.raw) || !fit(o.reply.message) {
				t.Fatalf("%q: %s is answered by %+v, %v", text, command, o.reply, err)
			}
		}
		for _, remark := range h.remarks {
			if !fit(remark) {
				t.Fatalf("%q: %d bytes of remark: %.4000q", text, len(remark), remark)
			}
		}
		if again := listen(t, iotest.OneByteReader(bytes.NewReader(text))); !reflect.DeepEqual(h.events, again.events) || !slices.Equal(h.remarks, again.remarks) {
			t.Fatalf("%q: in single bytes: %+v, %q, in one piece: %+v, %q", text, again.events, again.remarks, h.events, h.remarks)
		}
	})
}

// FuzzSplit: words that are quoted, in each of the ways that there are, come out as
// they were.
func FuzzSplit(f *testing.F) {
	for _, words := range []string{"python3 driver.py", `a 'b c' "d \" e" f\ g`, "'", `"`, `\`, "", " ", "a''b", "''", "a\tb\nc", "é 'č'"} {
		f.Add(words, "it's", "\\\"")
	}
	f.Fuzz(func(t *testing.T, line, a, b string) {
		words, err := Split(line)
		if err != nil && (!errors.Is(err, ErrNoCommand) || words != nil) || err == nil && (len(words) == 0 || words[0] == "") {
			t.Fatalf("%q: %q, %v", line, words, err)
		}
		if !validAll(line, a, b) {
			return
		}
		single := func(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
		double := func(word string) string {
			return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(word) + `"`
		}
		want := append([]string{"x"}, append(words, a, b, a+b)...)
		quoted := []string{"x"}
		for i, word := range want[1:] {
			if i%2 == 0 {
				quoted = append(quoted, single(word))
			} else {
				quoted = append(quoted, double(word))
			}
		}
		if got, err := Split(strings.Join(quoted, " \t")); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q: split into %q, %v; want %q", quoted, got, err, want)
		}
	})
}

func validAll(texts ...string) bool {
	for _, text := range texts {
		if strings.ToValidUTF8(text, "") != text {
			return false
		}
	}
	return true
}
