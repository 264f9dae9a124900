package probe

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// within bounds everything that a test waits for; a passing test never waits that long.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func newEndpoint(t *testing.T) *Endpoint {
	t.Helper()
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(Options{Identity: id, Log: trace.New(0)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

func listen(t *testing.T, o ListenOptions) (*Endpoint, *Listener) {
	t.Helper()
	e := newEndpoint(t)
	l, err := e.Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	return e, l
}

func dial(t *testing.T, to *Endpoint, o DialOptions) *Conn {
	t.Helper()
	o.Address = to.Addr().String()
	c, err := newEndpoint(t).Dial(within(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pair connects two endpoints; far listens.
func pair(t *testing.T, lo ListenOptions, do DialOptions) (near, far *Conn) {
	t.Helper()
	e, l := listen(t, lo)
	near = dial(t, e, do)
	far, err := l.Accept(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return near, far
}

// arrived returns the stream that the other side opened as number n.
func arrived(t *testing.T, c *Conn, n int) *Stream {
	t.Helper()
	streams, err := c.AwaitIncoming(within(t), n)
	if err != nil {
		t.Fatal(err)
	}
	return streams[n-1]
}

func ending(t *testing.T, s *Stream) Ending {
	t.Helper()
	end, err := s.Wait(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func bidi(t *testing.T, c *Conn) *Stream {
	t.Helper()
	s, err := c.OpenBidi(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func uni(t *testing.T, c *Conn) *Stream {
	t.Helper()
	s, err := c.OpenUni(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func done(t *testing.T, c *Conn) *Closing {
	t.Helper()
	select {
	case <-c.Done():
	case <-within(t).Done():
		t.Fatal("the connection did not end")
	}
	return c.End()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// echo answers each bidirectional stream with what came on it.
func echo(c *Conn) {
	c.OnIncoming(func(s *Stream) {
		if end, err := s.Wait(context.Background()); err == nil && end.How == Finished && s.Bidi() {
			_ = s.Send(context.Background(), end.Data)
		}
	})
}
