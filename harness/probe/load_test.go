package probe

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

func TestManyStreamsInARow(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	echo(far)
	ctx := within(t)
	before := runtime.NumGoroutine()
	for i := range 1200 {
		s, err := near.OpenBidi(ctx)
		must(t, err)
		text := fmt.Sprint("message ", i)
		must(t, s.Send(ctx, []byte(text)))
		end, err := s.Wait(ctx)
		must(t, err)
		if end.How != Finished || string(end.Data) != text {
			t.Fatalf("%d: %+v", i, end)
		}
	}
	if after := runtime.NumGoroutine(); after > before+20 {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
	for range 1200 {
		s, err := near.OpenUni(ctx)
		must(t, err)
		must(t, s.Send(ctx, []byte("x")))
	}
	if _, err := far.AwaitIncoming(ctx, 2400); err != nil {
		t.Error(err)
	}
}

func TestManyStreamsAtOnceWithLittleCredit(t *testing.T) {
	near, far := pair(t, ListenOptions{MaxIncomingStreams: 8, MaxIncomingUniStreams: 8}, DialOptions{})
	echo(far)
	ctx := within(t)
	failures := make(chan error, 256)
	var all sync.WaitGroup
	for i := range 256 {
		all.Go(func() {
			s, err := near.OpenBidi(ctx)
			if err == nil {
				err = s.Send(ctx, []byte(fmt.Sprint(i)))
			}
			if err == nil {
				var end Ending
				if end, err = s.Wait(ctx); err == nil && string(end.Data) != fmt.Sprint(i) {
					err = fmt.Errorf("%+v", end)
				}
			}
			if err != nil {
				failures <- err
			}
		})
	}
	all.Wait()
	close(failures)
	for err := range failures {
		t.Error(err)
	}
}

func TestOnIncomingTakesEarlierStreamsToo(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	first := bidi(t, near)
	must(t, first.Send(within(t), []byte("1")))
	arrived(t, far, 1)
	echo(far)
	if end := ending(t, first); string(end.Data) != "1" {
		t.Errorf("%+v", end)
	}
	second := bidi(t, near)
	must(t, second.Send(within(t), []byte("2")))
	if end := ending(t, second); string(end.Data) != "2" {
		t.Errorf("%+v", end)
	}
}

func TestTheListenerOpensStreams(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{MaxIncomingStreams: -1})
	s := uni(t, far)
	must(t, s.Send(within(t), []byte("hi")))
	if got := arrived(t, near, 1); got.Bidi() || string(ending(t, got).Data) != "hi" {
		t.Errorf("%v", got.Bidi())
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := far.OpenBidi(over); err == nil {
		t.Error("a stream was opened without credit")
	}
}

func TestAHandlerMayCloseItsConnection(t *testing.T) {
	near, far := pair(t, ListenOptions{}, DialOptions{})
	far.OnIncoming(func(s *Stream) { _ = s.Conn().Close(5, "from the handler") })
	s := bidi(t, near)
	must(t, s.Send(within(t), []byte("x")))
	if end := ending(t, s); end.How != ConnectionClosed || end.Closing.Code != 5 {
		t.Errorf("%+v", end)
	}
}

// framesPerPacket counts the bytes of one stream in each packet sent.
type framesPerPacket struct {
	mu      sync.Mutex
	packets [][]int64
}

func (f *framesPerPacket) AddProducer() qlogwriter.Recorder { return f }
func (f *framesPerPacket) Close() error                     { return nil }

func (f *framesPerPacket) RecordEvent(event qlogwriter.Event) {
	sent, ok := event.(qlog.PacketSent)
	if !ok {
		return
	}
	var lengths []int64
	for _, frame := range sent.Frames {
		if s, ok := frame.Frame.(*qlog.StreamFrame); ok && s.Length > 0 {
			lengths = append(lengths, s.Length)
		}
	}
	if len(lengths) > 0 {
		f.mu.Lock()
		f.packets = append(f.packets, lengths)
		f.mu.Unlock()
	}
}

func TestPiecesTravelInPacketsOfTheirOwn(t *testing.T) {
	seen := &framesPerPacket{}
	near, far := pair(t, ListenOptions{}, DialOptions{Config: func(c *quic.Config) {
		c.Tracer = func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace { return seen }
	}})
	echo(far)
	s := bidi(t, near)
	content := bytes.Repeat([]byte("0123456789"), 30)
	must(t, s.WritePieces(within(t), content, 7))
	must(t, s.Finish())
	if end := ending(t, s); !bytes.Equal(end.Data, content) {
		t.Errorf("%d bytes", len(end.Data))
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	pieces := 0
	for _, lengths := range seen.packets {
		if len(lengths) != 1 || lengths[0] > 7 {
			t.Errorf("a packet with stream frames of %v bytes", lengths)
		}
		pieces++
	}
	if pieces < 43 {
		t.Errorf("%d packets for 43 pieces", pieces)
	}
	if err := s.WritePieces(within(t), content, 0); err == nil {
		t.Error("pieces of 0 bytes were taken")
	}
}
