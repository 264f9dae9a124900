package driver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

// read sorts every line of the driver until there are no more, and then lets
// everybody who waits know.
func (d *Driver) read() {
	reader := bufio.NewReaderSize(d.link, 64<<10)
	for {
		line, whole, err := readLine(reader)
		if len(line) > 0 {
			d.spoken.add(string(line[:min(len(line), 2*tailBytes)]))
			if whole {
				d.take(line)
			} else {
				d.bad(line, fmt.Errorf("it is longer than %d bytes, or has no end", MaxLine), bytes.ContainsRune(line, '{'))
			}
		}
		if err != nil {
			d.finish(d.link.ending())
			return
		}
	}
}

// readLine reads a line without its end. Of one that is too long the beginning is
// returned and the rest is skipped.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			part, whole = part[:max(0, MaxLine-len(line))], false
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimRight(line, "\r\n"), whole && err == nil, err
	}
}

// take handles one line.
func (d *Driver) take(line []byte) {
	value, err := wire.Parse(line)
	if err != nil {
		d.bad(line, err, bytes.ContainsRune(line, '{'))
		return
	}
	_, answers := value.Get("answer")
	_, events := value.Get("event")
	switch {
	case events > 0 && answers == 0:
		if err := d.event.Validate(line); err != nil {
			d.bad(line, err, true)
			return
		}
		d.show(line, value)
	case answers > 0 && events == 0:
		d.answered(line, value)
	default:
		d.bad(line, errors.New("it is neither an answer nor an event"), events > 0)
	}
}

// answered gives an answer to the one who waits for it.
func (d *Driver) answered(line []byte, value wire.Value) {
	number := 0
	if n, _ := value.Get("number"); n.Kind == wire.Number {
		_, _ = fmt.Sscan(n.Number, &number)
	}
	invalid := d.answer.Validate(line)

	d.mu.Lock()
	w := d.waiting[number]
	late := d.given[number]
	delete(d.waiting, number)
	delete(d.given, number)
	next := d.next
	if w != nil || late != "" {
		d.hanging = 0
	}
	d.mu.Unlock()

	command := late
	if w != nil {
		command = w.command
	}
	answer := member(value, "answer")
	var problem error
	switch {
	case command == "" && number > 0 && number <= next:
		problem = fmt.Errorf("it answers number %d a second time", number)
	case command == "":
		problem = fmt.Errorf("it answers number %d, which was not asked", number)
	case answer != command:
		problem = fmt.Errorf("it answers number %d as %q, but that was %s", number, excerpt(answer), command)
	case invalid != nil:
		problem = invalid
	}
	if problem != nil {
		d.bad(line, problem, false)
		if w != nil {
			w.done <- outcome{fault: d.fault("the driver's answer to %s (number %d) cannot be used: %v", w.command, number, problem)}
		}
		return
	}
	if w == nil {
		return // too late for the one who asked
	}
	failure, _ := value.Get("error")
	w.done <- outcome{reply: reply{
		raw: bytes.Clone(line), value: value, code: member(failure, "code"), message: excerpt(member(failure, "message")),
	}}
}

// show gives an event to everybody who watches for its kind.
func (d *Driver) show(line []byte, value wire.Value) {
	name := member(value, "event")
	if d.hello.Load() == nil {
		return // nobody watches yet
	}
	if need := map[string]string{"inbound": "observe", "request": "handle"}[name]; !d.Offers(need) {
		d.mu.Lock()
		d.remarks.unclaimed(name, need)
		d.mu.Unlock()
		return
	}
	envelope, _ := value.Get("envelope")
	e := control.Event{Name: name, From: member(value, "from"), To: member(value, "to"), Envelope: envelope.Raw, Raw: line}
	id := member(value, "request_id")
	d.mu.Lock()
	defer d.mu.Unlock()
	for s := range d.readers {
		if s.name == name {
			s.add(e, id)
		}
	}
}

// bad remembers a line that the protocol does not have. One in which an event may
// have been lost keeps those who watch from concluding anything from silence.
func (d *Driver) bad(line []byte, problem error, lost bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remarks.badLine(line, problem)
	if !lost {
		return
	}
	for s := range d.readers {
		s.spoil(fmt.Sprintf("the driver wrote a line that is none of its protocol, which may have been an event: %s (%v)", excerpt(string(line)), problem))
	}
}

// finish ends all waiting.
func (d *Driver) finish(why string) {
	d.mu.Lock()
	d.ended = why
	waiting := d.waiting
	d.waiting = map[int]*waiter{}
	for s := range d.readers {
		s.wake()
	}
	d.mu.Unlock()
	for number, w := range waiting {
		w.done <- outcome{fault: d.fault("%s without an answer to %s (number %d)", why, w.command, number)}
	}
	close(d.over)
}
