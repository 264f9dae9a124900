package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/wire"
	"github.com/axonproto/axon/schemas"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// aRawPeer starts a bare peer and ends it with the test.
func aRawPeer(t *testing.T) Peer {
	t.Helper()
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- ServeRaw(ctx, id, func(address string) { ready <- address }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return Peer{Address: <-ready, Key: id.Public()}
}

func small(t *testing.T) Options {
	t.Helper()
	me, err := credential.New()
	another, otherErr := credential.New()
	if err := errors.Join(err, otherErr); err != nil {
		t.Fatal(err)
	}
	return Options{
		Target: aRawPeer(t), Raw: aRawPeer(t), Identities: []credential.Identity{me, another}, Connections: []int{1},
		Loads: []Load{Request, Message, Handshake}, InFlight: []int{1, 3}, Sizes: []int{200, 3000}, Duration: 50 * time.Millisecond, Rounds: 2,
	}
}

// TestRun: there is a row for each combination, with something in it, and each form of
// the report can be made of it. No figure is judged.
func TestRun(t *testing.T) {
	o := small(t)
	o.Connections, o.Sizes = []int{1, 2}, []int{200}
	o.Target.PID = os.Getpid() // of some process
	steps := 0
	o.Progress = func(done, total int, next string) {
		if steps++; done != steps-1 || total != 10 || next == "" {
			t.Errorf("progress says %d of %d, %q", done, total, next)
		}
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 10 {
		t.Errorf("%d rows", len(r.Rows))
	}
	for _, row := range r.Rows {
		answered := row.Load != Message
		if row.Target.Exchanges == 0 || row.Target.Errors != 0 || row.Raw.Errors != 0 || row.Raw.Exchanges == 0 || row.RateRatio <= 0 || answered != (row.Target.P50 > 0) || answered != (row.P99Ratio > 0) {
			t.Errorf("%+v", row)
		}
	}
	var stored, text, html, diff bytes.Buffer
	if err := errors.Join(WriteJSON(&stored, r), WriteText(&text, r), WriteHTML(&html, r), WriteDiff(&diff, r, r)); err != nil {
		t.Fatal(err)
	}
	if err := schemas.MustCompile("bench/report").Validate(stored.Bytes()); err != nil {
		t.Error(err)
	}
	if again, err := ReadJSON(&stored); err != nil || len(again.Rows) != len(r.Rows) {
		t.Errorf("%v", err)
	}
	if strings.Count(text.String(), "\n") < 12 || strings.Count(html.String(), "<svg") < 10 || strings.Count(diff.String(), "+0 %") == 0 {
		t.Errorf("%s\n%d plots\n%s", text.String(), strings.Count(html.String(), "<svg"), diff.String())
	}
	for _, elsewhere := range []string{"http:", "https:", "src=", "@import"} {
		if strings.Contains(html.String(), elsewhere) {
			t.Errorf("the page holds %q", elsewhere)
		}
	}
}

func TestMistakes(t *testing.T) {
	good := small(t)
	for want, change := range map[string]func(*Options){
		"nothing to measure": func(o *Options) { o.Loads = nil },
		"0 in flight":        func(o *Options) { o.InFlight = []int{0} },
		"size of 70000":      func(o *Options) { o.Sizes = []int{70000} },
		"--ipc":              func(o *Options) { o.Loads = Loads() },
		"1001 connections":   func(o *Options) { o.Connections = []int{1001} },
		"as many identities": func(o *Options) { o.Connections = []int{3} },
		"nothing is left":    func(o *Options) { o.Loads, o.InFlight, o.Sizes = []Load{Request}, []int{10000}, []int{65536} },
		"no load":            func(o *Options) { o.Loads = []Load{"requests"} },
		"duration":           func(o *Options) { o.Duration = 0 },
		"round":              func(o *Options) { o.Rounds = 0 },
		"HOST:PORT":          func(o *Options) { o.Target.Address = "nowhere" },
		"another key":        func(o *Options) { o.Target.Key = good.Raw.Key },
	} {
		o := good
		change(&o)
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestInterrupted: what was measured by then is not lost.
func TestInterrupted(t *testing.T) {
	o := small(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(done, _ int, _ string) {
		if done == 1 {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) || len(r.Rows) != 1 {
		t.Errorf("%d rows, %v", len(r.Rows), err)
	}
}

func TestBody(t *testing.T) {
	b := newBody(wire.NewID(), "request", 200)
	first := string(b.next())
	if second := string(b.next()); first == second || len(first) != 200 || len(second) != 200 {
		t.Errorf("%s\n%s", first, second)
	}
	if err := schemas.MustCompile("wire/envelope").Validate([]byte(first)); err != nil {
		t.Error(err)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{1, 9, 2}, 2}, {[]float64{4, 1, 2, 3}, 2.5}} {
		if got := median(c.list); got != c.want {
			t.Errorf("%v: %v", c.list, got)
		}
	}
}
