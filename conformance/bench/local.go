package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// local is a program behind the target: its handler, or one that is shown messages.
type local interface {
	// begin prepares for a round of which the ids have a prefix. The inbox is nil unless
	// messages are to arrive. Budget bounds the exchanges of the round; 0: nothing does.
	begin(ctx context.Context, prefix string) (in *inbox, budget int64, err error)
	end()   // of the round
	close() // of the program
}

// nobody is the program of a load that needs none.
type nobody struct{}

func (nobody) begin(context.Context, string) (*inbox, int64, error) { return nil, 0, nil }
func (nobody) end()                                                 {}
func (nobody) close()                                               {}

// attach brings a row's local program to the target.
func (m *measurement) attach(ctx context.Context, row Row) (local, error) {
	switch {
	case !row.Load.local():
		return nobody{}, nil
	case m.Socket == "":
		return &driven{target: m.Control, row: row}, nil
	case row.Load == Handler:
		return handle(ctx, m.Socket)
	}
	return watch(ctx, m.Socket)
}

// window is the most messages that are under way to a local program: half of what a
// daemon queues for one at least (AXON-IPC), beyond which it may cut it off.
const window = 512

// errLocalGone says that the local program can see nothing more.
var errLocalGone = errors.New("the target ended the connection of the local program")

// inbox counts the messages of a round that are under way to a local program.
type inbox struct {
	prefix []byte
	room   chan struct{} // holds one for each that is under way
	moved  chan struct{} // has one after each change
	gone   chan struct{} // closed when no more can arrive
	once   sync.Once
}

func newInbox(id string) *inbox {
	return &inbox{
		prefix: []byte(id[:prefixLength]), room: make(chan struct{}, window),
		moved: make(chan struct{}, 1), gone: make(chan struct{}),
	}
}

// enter waits for room for one more.
func (in *inbox) enter(ctx context.Context) error {
	select {
	case <-in.gone:
		return errLocalGone
	default:
	}
	select {
	case in.room <- struct{}{}:
		return nil
	case <-in.gone:
		return errLocalGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave takes one off.
func (in *inbox) leave() {
	select {
	case <-in.room:
	default:
	}
	select {
	case in.moved <- struct{}{}:
	default:
	}
}

// show is called with what the program sees. A message of another round is not
// counted.
func (in *inbox) show(text []byte) {
	if in != nil && bytes.Contains(text, in.prefix) {
		in.leave()
	}
}

// end: no more can arrive.
func (in *inbox) end() {
	if in != nil {
		in.once.Do(func() { close(in.gone) })
	}
}

// settle waits until all have arrived, and returns how many have not.
func (in *inbox) settle(ctx context.Context) (lost int, err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for len(in.room) > 0 {
		select {
		case <-in.moved:
		case <-in.gone:
			return len(in.room), errLocalGone
		case <-ctx.Done():
			return len(in.room), context.Cause(ctx)
		case <-late.C:
			return len(in.room), fmt.Errorf("a message was not shown to the local program in %s", patience)
		}
	}
	return 0, nil
}
