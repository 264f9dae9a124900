package probe

import (
	"context"
	"errors"
	"testing"
)

func TestAwaitStop(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	ours := bidi(t, near)
	must(t, ours.Write(within(t), []byte("part")))
	theirs := arrived(t, far, 1)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := ours.AwaitStop(over); !errors.Is(err, context.Canceled) {
		t.Errorf("before the stop: %v", err)
	}
	theirs.StopReading(7)
	if code, stopped, err := ours.AwaitStop(within(t)); err != nil || !stopped || code != 7 {
		t.Errorf("%d %v %v", code, stopped, err)
	}
}

func TestAwaitStopOfWhatEndsOtherwise(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	ours := bidi(t, near)
	must(t, ours.Write(within(t), []byte("part")))
	theirs := arrived(t, far, 1)
	must(t, far.Close(0, "done"))
	if _, stopped, err := ours.AwaitStop(within(t)); err != nil || stopped {
		t.Errorf("%v %v", stopped, err)
	}
	lone := &Stream{conn: theirs.conn}
	if _, _, err := lone.AwaitStop(within(t)); !errors.Is(err, ErrNoSide) {
		t.Errorf("a stream without such a side: %v", err)
	}
}
