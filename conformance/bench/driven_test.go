package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
)

// stage is a target with whom a local program can be played: its requests wait for
// the handler, and its messages are shown, unless it loses some.
type stage struct {
	control.Target // nothing else of it is called

	loses    bool
	requests chan chan []byte
	messages chan []byte
}

func aStage(t *testing.T) (*stage, Peer) {
	t.Helper()
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := id.Certificate(credential.CertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{alpn}, MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAnyClientCert,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{requests: make(chan chan []byte, 100), messages: make(chan []byte, 2*window)}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept(context.Background())
			if err != nil {
				return
			}
			work.Go(func() { s.bidi(c, &work) })
			work.Go(func() { s.uni(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); work.Wait() })
	return s, Peer{Address: l.Addr().String(), Key: id.Public()}
}

func (s *stage) bidi(c *quic.Conn, work *sync.WaitGroup) {
	for first := true; ; first = false {
		stream, err := c.AcceptStream(c.Context())
		if err != nil {
			return
		}
		work.Go(func() {
			defer func() { _ = stream.Close() }()
			_, _ = io.Copy(io.Discard, stream)
			if first { // it shows that the target serves, and comes before the handler
				_, _ = stream.Write([]byte(`{"kind":"error"}`))
				return
			}
			answer := make(chan []byte, 1)
			select {
			case s.requests <- answer:
			case <-c.Context().Done():
				return
			}
			select {
			case text := <-answer:
				_, _ = stream.Write(text)
			case <-c.Context().Done():
			}
		})
	}
}

func (s *stage) uni(c *quic.Conn) {
	for i := 0; ; i++ {
		stream, err := c.AcceptUniStream(c.Context())
		if err != nil {
			return
		}
		text, err := io.ReadAll(stream)
		if err == nil && (!s.loses || i%2 == 0) {
			s.messages <- bytes.Clone(text)
		}
	}
}

func (s *stage) Handle(context.Context) (control.Handler, error) { return &stageHandler{stage: s}, nil }
func (s *stage) Observe(context.Context) (control.Observer, error) {
	return &stageObserver{stage: s}, nil
}

type stageHandler struct {
	control.Handler
	stage *stage
	mu    sync.Mutex
	next  int
	asked map[string]chan []byte
}

func (h *stageHandler) Next(ctx context.Context) (control.Request, error) {
	select {
	case answer := <-h.stage.requests:
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.asked == nil {
			h.asked = map[string]chan []byte{}
		}
		h.next++
		id := fmt.Sprint(h.next)
		h.asked[id] = answer
		return control.Request{ID: id}, nil
	case <-ctx.Done():
		return control.Request{}, ctx.Err()
	}
}

func (h *stageHandler) Reply(_ context.Context, r control.Request, kind string, payload []byte) (control.Outcome, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked[r.ID] <- fmt.Appendf(nil, `{"kind":%q,"payload":%s}`, kind, payload)
	return control.Outcome{OK: true}, nil
}

func (h *stageHandler) Close() error { return nil }

type stageObserver struct {
	control.Observer
	stage *stage
}

func (o *stageObserver) Next(ctx context.Context) (control.Event, error) {
	if o.stage.loses {
		select {
		case text := <-o.stage.messages:
			return control.Event{Name: "inbound", Envelope: text}, nil
		case <-time.After(100 * time.Millisecond):
			return control.Event{}, errors.New("the driver ended")
		}
	}
	select {
	case text := <-o.stage.messages:
		return control.Event{Name: "inbound", Envelope: text}, nil
	case <-ctx.Done():
		return control.Event{}, ctx.Err()
	}
}

func (o *stageObserver) Close() error { return nil }

// TestDriven: a handler and an observer that a driver plays are counted.
func TestDriven(t *testing.T) {
	o := small(t)
	stage, peer := aStage(t)
	o.Target, o.Control, o.Loads = peer, stage, []Load{Handler, Delivery}
	r, err := Run(t.Context(), o)
	if err != nil || len(r.Rows) != 8 || !r.Complete {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, row := range r.Rows {
		if row.Target.Exchanges == 0 || row.Target.Errors != 0 || (row.Load == Handler) != (row.Target.P50 > 0) {
			t.Errorf("%+v", row)
		}
	}
}

// TestLost: messages that the local program was not shown are no exchanges.
func TestLost(t *testing.T) {
	o := small(t)
	stage, peer := aStage(t)
	stage.loses = true
	o.Target, o.Control, o.Loads, o.InFlight, o.Sizes, o.Rounds = peer, stage, []Load{Delivery}, []int{1}, []int{200}, 1
	r, err := Run(t.Context(), o)
	if err != nil || len(r.Rows) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if f := r.Rows[0].Target; f.Errors == 0 || f.Exchanges == 0 || len(r.Notes) == 0 {
		t.Errorf("%+v, %q", f, r.Notes)
	}
}

// TestNothing: a load in which nothing was done is an error, and those behind it are
// measured all the same.
func TestNothing(t *testing.T) {
	o := small(t)
	// The bare peer's answer is no response.
	o.Control, o.Loads, o.InFlight, o.Sizes = &stage{}, []Load{Handler, Request}, []int{1}, []int{200}
	r, err := Run(t.Context(), o)
	if !errors.Is(err, ErrNothing) || !errors.Is(err, errNotHandled) || len(r.Rows) != 1 || r.Rows[0].Load != Request || r.Complete {
		t.Errorf("%+v, %v", r, err)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), "not measured") {
		t.Errorf("%q", r.Notes)
	}
}
