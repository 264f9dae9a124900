package driver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

// Error codes that the protocol itself gives a meaning.
const (
	codeUnsupported = "unsupported"
	codeFailed      = "driver_failed"
	codeBusy        = "handler_busy" // to serve: ask again, the last handler is still leaving
)

// maxGiven bounds the commands that are remembered although nobody waits any more.
const maxGiven = 10000

// reply is a valid answer.
type reply struct {
	raw           []byte
	value         wire.Value
	code, message string // of its error; empty when it has none
}

// waiter is a command that waits for its answer.
type waiter struct {
	command string
	done    chan outcome // takes exactly one
}

type outcome struct {
	reply reply
	fault error
}

// call sends a command and waits for its answer. The members are raw JSON without
// braces. That the driver is to blame for there being no answer is a *control.Fault;
// when ctx ends first its error is returned, unless the driver hangs.
func (d *Driver) call(ctx context.Context, command, members string) (reply, error) {
	number, w, err := d.register(command)
	if err != nil {
		return reply{}, err
	}
	line := `{"command":` + wire.Quote(command) + `,"number":` + strconv.Itoa(number)
	if members != "" {
		line += "," + members
	}
	line += "}"
	if err := d.command.Validate([]byte(line)); err != nil {
		d.giveUp(number)
		return reply{}, fmt.Errorf("%w: %w", errOutgoing, err)
	}
	if len(line)+1 > MaxLine {
		d.giveUp(number)
		return reply{}, fmt.Errorf("%w: it has %d bytes, and a line has %d at most", errOutgoing, len(line), MaxLine)
	}
	began := time.Now()
	select {
	case d.outgoing <- append([]byte(line), '\n'):
	case <-ctx.Done():
		d.giveUp(number)
		return reply{}, d.unanswered(ctx, command, number, time.Since(began))
	case <-d.over:
	}
	select {
	case o := <-w.done:
		return o.reply, o.fault
	case <-ctx.Done():
		d.giveUp(number)
		return reply{}, d.unanswered(ctx, command, number, time.Since(began))
	}
}

// register gives a command its number, unless there is no use in sending it.
func (d *Driver) register(command string) (int, *waiter, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended != "" {
		return 0, nil, d.fault("%s, so %s could not be asked of it", d.ended, command)
	}
	if d.hanging >= maxHanging {
		return 0, nil, d.fault("the driver hangs: it has left %d commands in a row unanswered, so %s was not asked of it", d.hanging, command)
	}
	d.next++
	w := &waiter{command: command, done: make(chan outcome, 1)}
	d.waiting[d.next] = w
	return d.next, w, nil
}

func (d *Driver) giveUp(number int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.waiting[number]; w != nil {
		delete(d.waiting, number)
		if len(d.given) < maxGiven {
			d.given[number] = w.command
		}
	}
}

// unanswered finds out why there is no answer: a driver that answers hello was
// waiting for the target, one that does not hangs.
func (d *Driver) unanswered(ctx context.Context, command string, number int, waited time.Duration) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if command == "hello" || !d.pulse() {
		d.mu.Lock()
		d.hanging++
		d.remarks.unanswered(command)
		d.mu.Unlock()
		if command == "hello" {
			return d.fault("the driver hangs: it did not answer hello (number %d) within %s", number, waited.Round(time.Millisecond))
		}
		return d.fault("the driver hangs: it did not answer %s (number %d) within %s, nor hello after it", command, number, waited.Round(time.Millisecond))
	}
	return ctx.Err()
}

// pulse sees whether the driver still answers.
func (d *Driver) pulse() bool {
	number, w, err := d.register("hello")
	if err != nil {
		return false
	}
	defer d.giveUp(number)
	timer := time.NewTimer(d.options.Pulse)
	defer timer.Stop()
	line := fmt.Sprintf(`{"command":"hello","number":%d,%s}`, number, helloMembers(d.options.Suite))
	select {
	case d.outgoing <- append([]byte(line), '\n'):
	case <-timer.C:
		return false
	}
	select {
	case o := <-w.done:
		return o.fault == nil
	case <-timer.C:
		return false
	}
}

// hangs tells whether there is no use in asking the driver anything more.
func (d *Driver) hangs() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hanging > 0 || d.ended != ""
}

// owed is for commands whose answer waits for nothing but the driver's own work: a
// driver that answers hello and not these is to blame as well.
func (d *Driver) owed(ctx context.Context, command, members string) (reply, error) {
	a, err := d.call(ctx, command, members)
	if errors.Is(err, context.DeadlineExceeded) {
		d.mu.Lock()
		d.remarks.unanswered(command)
		d.mu.Unlock()
		return a, d.fault("the driver did not answer %s in time, although it answers hello", command)
	}
	if err != nil {
		return a, err
	}
	return a, d.refused(command, a)
}

// refused is the fault in an answer that is the driver's own and not the target's.
func (d *Driver) refused(command string, a reply) error {
	switch a.code {
	case codeUnsupported:
		return d.fault("the driver claims what it does not have: it answers %s with the error code unsupported (%s)", command, a.message)
	case codeFailed:
		return d.fault("the driver could not do %s: %s", command, a.message)
	}
	return nil
}

// done is owed for commands that have to succeed.
func (d *Driver) done(ctx context.Context, command, members string) error {
	a, err := d.owed(ctx, command, members)
	if err == nil && a.code != "" {
		err = fmt.Errorf("the driver answers %s by %s: %s", command, a.code, a.message)
	}
	return err
}

// write hands the driver one line after the other.
func (d *Driver) write() {
	for {
		select {
		case line := <-d.outgoing:
			if _, err := d.link.Write(line); err != nil {
				// What ended it is told by the reading side.
				d.drain()
				return
			}
		case <-d.stop:
			return
		}
	}
}

// drain lets callers go on until Close; their answers never come.
func (d *Driver) drain() {
	for {
		select {
		case <-d.outgoing:
		case <-d.stop:
			return
		}
	}
}

// outcomeOf is what the target said to something that it may refuse.
func outcomeOf(a reply) control.Outcome {
	return control.Outcome{OK: a.code == "", Code: a.code, Message: a.message}
}
