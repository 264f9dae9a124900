package probe

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/trace"
)

func TestFinishedWithDataAndEmpty(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	for n, content := range []string{"hello", ""} {
		ours := bidi(t, near)
		must(t, ours.Send(within(t), []byte(content)))
		theirs := arrived(t, far, n+1)
		if end := ending(t, theirs); end.How != Finished || string(end.Data) != content {
			t.Errorf("%+v", end)
		}
		if !theirs.Bidi() || theirs.Ours() || theirs.ID() != ours.ID() {
			t.Errorf("stream %d %v", theirs.ID(), theirs.Bidi())
		}
		must(t, theirs.Send(within(t), []byte("re: "+content)))
		if end := ending(t, ours); end.How != Finished || string(end.Data) != "re: "+content {
			t.Errorf("%+v", end)
		}
	}
}

func TestResetAndStopSending(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	ours := bidi(t, near)
	must(t, ours.Write(within(t), []byte("part")))
	theirs := arrived(t, far, 1)
	if b, err := theirs.AwaitBytes(within(t), 4); err != nil || string(b) != "part" {
		t.Fatalf("%q %v", b, err)
	}
	if _, ended := theirs.Ended(); ended {
		t.Error("the stream ended before its time")
	}
	theirs.StopReading(7)
	if err := waitStopped(t, ours); err.Code != 7 {
		t.Errorf("%+v", err)
	}
	if code, ok := ours.StopCode(); !ok || code != 7 {
		t.Errorf("stop code %d %v", code, ok)
	}
	theirs.Reset(9)
	if end := ending(t, ours); end.How != WasReset || end.Code != 9 {
		t.Errorf("%+v", end)
	}
	if end := ending(t, theirs); end.How != Abandoned && end.How != WasReset {
		t.Errorf("%+v", end)
	}
	if near.End() != nil || far.End() != nil {
		t.Error("the connection ended")
	}
	kinds := map[trace.Kind]int{}
	for _, e := range near.endpoint.log.Of(near.Number(), ours.ID()) {
		if e.Direction == trace.Received {
			kinds[e.Kind]++
		}
	}
	if kinds[trace.StopSending] != 1 || kinds[trace.Reset] != 1 {
		t.Errorf("trace: %v", kinds)
	}
}

// waitStopped waits for STOP_SENDING, then returns what a write gets.
func waitStopped(t *testing.T, s *Stream) *StreamError {
	t.Helper()
	select {
	case <-s.send.Context().Done():
	case <-within(t).Done():
		t.Fatal("no STOP_SENDING came")
	}
	var stopped *StreamError
	if err := s.Write(within(t), []byte("x")); !errors.As(err, &stopped) || !stopped.Stopped {
		t.Fatalf("write: %v", err)
	}
	return stopped
}

func TestSendOnlyStreamEndings(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	finished := uni(t, near)
	must(t, finished.Send(within(t), []byte("m")))
	if end := ending(t, finished); end.How != Finished {
		t.Errorf("%+v", end)
	}
	if end := ending(t, arrived(t, far, 1)); end.How != Finished || string(end.Data) != "m" {
		t.Errorf("%+v", end)
	}

	stopped := uni(t, near)
	must(t, stopped.Write(within(t), []byte("m")))
	arrived(t, far, 2).StopReading(3)
	if end := ending(t, stopped); end.How != Stopped || end.Code != 3 {
		t.Errorf("%+v", end)
	}

	abandoned := uni(t, near)
	abandoned.Reset(4)
	if end := ending(t, abandoned); end.How != Abandoned || end.Code != 4 {
		t.Errorf("%+v", end)
	}
	if end := ending(t, arrived(t, far, 3)); end.How != WasReset || end.Code != 4 {
		t.Errorf("%+v", end)
	}
	if _, err := abandoned.AwaitBytes(within(t), 1); !errors.Is(err, ErrNoSide) {
		t.Error(err)
	}
	if err := arrived(t, far, 1).Send(within(t), nil); !errors.Is(err, ErrNoSide) {
		t.Error(err)
	}
}

func TestStopSendingAfterOurFinIsSeen(t *testing.T) {
	near, far := pair(t, ListenOptions{Config: func(c *quic.Config) {
		c.InitialStreamReceiveWindow, c.MaxStreamReceiveWindow = 2048, 2048
	}}, DialOptions{})
	far.OnIncoming(func(s *Stream) { s.StopReading(2) })
	stopped := 0
	for range 20 { // each is a race between the FIN and the stop; both ends are legal
		s := uni(t, near)
		err := s.Send(within(t), bytes.Repeat([]byte("a"), 64<<10))
		var failed *StreamError
		if errors.As(err, &failed) && failed.Stopped {
			if code, ok := s.StopCode(); !ok || code != 2 {
				t.Errorf("stop code %d %v", code, ok)
			}
			stopped++
		}
	}
	if stopped == 0 {
		t.Error("no stop was seen")
	}
}

func TestApplicationClose(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	ours := bidi(t, near)
	must(t, ours.Write(within(t), []byte("x")))
	arrived(t, far, 1)
	must(t, far.Close(42, "enough"))
	end := done(t, near)
	if !end.Remote || !end.Application || end.Transport || end.TLSAlert || end.Code != 42 || end.Reason != "enough" {
		t.Errorf("%+v", end)
	}
	if e := ending(t, ours); e.How != ConnectionClosed || e.Closing == nil || e.Closing.Code != 42 {
		t.Errorf("%+v", e)
	}
	if e := done(t, far); e.Remote || !e.Application || e.Code != 42 {
		t.Errorf("%+v", e)
	}
	var gone *StreamError
	if err := ours.Write(within(t), []byte("x")); !errors.As(err, &gone) || gone.Closing == nil {
		t.Errorf("write: %v", err)
	}
	if _, err := near.OpenBidi(within(t)); !errors.As(err, &gone) || gone.Closing == nil {
		t.Errorf("open: %v", err)
	}
	if _, err := near.AwaitIncoming(within(t), 1); !errors.As(err, &gone) || gone.Closing == nil {
		t.Errorf("await: %v", err)
	}
}

func TestVanish(t *testing.T) {
	short := func(c *quic.Config) { c.MaxIdleTimeout = 300 * time.Millisecond }
	near, far := pair(t, ListenOptions{}, DialOptions{Config: short})
	other, err := near.endpoint.Dial(within(t), DialOptions{Address: far.endpoint.Addr().String()})
	must(t, err)
	s := bidi(t, near)
	must(t, s.Write(within(t), []byte("x")))
	arrived(t, far, 1)
	far.Vanish()
	if end := far.End(); !end.Vanished || end.Remote {
		t.Errorf("%+v", end)
	}
	if end := done(t, near); !end.IdleTimeout || end.Remote || end.Application {
		t.Errorf("%+v", end)
	}
	if end := ending(t, s); end.How != ConnectionClosed || !end.Closing.IdleTimeout {
		t.Errorf("%+v", end)
	}
	// Another connection between the same two sockets goes on.
	far2, err := far.endpoint.listener.Accept(within(t))
	must(t, err)
	echo(far2)
	again := bidi(t, other)
	must(t, again.Send(within(t), []byte("still here")))
	if end := ending(t, again); string(end.Data) != "still here" {
		t.Errorf("%+v", end)
	}
}

func TestVanishOfTheDialer(t *testing.T) {
	short := func(c *quic.Config) { c.MaxIdleTimeout = 300 * time.Millisecond }
	near, far := pair(t, ListenOptions{Config: short}, DialOptions{})
	near.Vanish()
	if end := done(t, far); !end.IdleTimeout || end.Remote {
		t.Errorf("%+v", end)
	}
}

func TestTooLong(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	s := uni(t, near)
	must(t, s.Send(within(t), make([]byte, maxKept+1)))
	if end := ending(t, arrived(t, far, 1)); end.How != TooLong || len(end.Data) != maxKept {
		t.Errorf("%s %d", end.How, len(end.Data))
	}
}

func TestCallersTimeOut(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	s := bidi(t, near)
	must(t, s.Write(within(t), []byte("x")))
	theirs := arrived(t, far, 1)
	must(t, theirs.Write(within(t), []byte("abc")))
	if _, err := s.AwaitBytes(within(t), 3); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if end, err := s.Wait(over); !errors.Is(err, context.Canceled) || string(end.Data) != "abc" {
		t.Errorf("%+v %v", end, err)
	}
	if err := s.Write(over, []byte("x")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	must(t, s.Send(within(t), []byte("y"))) // a time-out spoils nothing
	if end := ending(t, theirs); string(end.Data) != "xy" {
		t.Errorf("%+v", end)
	}
}

func TestWriteWithoutRoomEndsWithTheContext(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	s := uni(t, near)
	far.watch.mute() // neither acknowledgements nor credit come any more
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := s.Write(ctx, make([]byte, 8<<20)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestAStreamDoesNotEndBeforeItsConnection: who has seen a stream end with its
// connection finds the connection ended.
func TestAStreamDoesNotEndBeforeItsConnection(t *testing.T) {
	for range 50 {
		near, far := pair(t, ListenOptions{}, DialOptions{})
		ours := bidi(t, near)
		must(t, ours.Write(within(t), []byte("x")))
		arrived(t, far, 1)
		go func() { _ = far.Close(42, "enough") }()
		if e := ending(t, ours); e.How != ConnectionClosed || near.End() == nil || near.End().Code != 42 {
			t.Fatalf("the stream ended by %+v, the connection by %+v", e, near.End())
		}
	}
}
