package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/axonproto/axon/impl/client"
)

const (
	// timeout of a request, unless the account has another; patience is what its caller
	// gives it beyond that, for a daemon that was stopped meanwhile.
	timeout  = 3 * time.Second
	patience = 4 * time.Second
)

var agentID = regexp.MustCompile(`ed25519\.[0-9a-f]+`)

// barrier is the number of the requests that only show that a peer can be reached.
const barrier = 0

// account is what became of all that was sent.
type account struct {
	next    atomic.Int64 // number of the last request or message
	timeout time.Duration

	mu       sync.Mutex // guards the rest
	sent     int
	answered int
	declined int            // answered by an error, the default one or the handler's
	failed   map[string]int // by the reason
	handled  map[int64]int  // how often a handler saw a request
	messages int
	shown    map[int64]int // how often an observer saw a message
	wrong    []string      // what must not be
}

func newAccount() *account {
	return &account{timeout: timeout, failed: map[string]int{}, handled: map[int64]int{}, shown: map[int64]int{}}
}

func (a *account) violation(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.wrong) < 20 {
		a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
	}
}

// String is the account as it is printed.
func (a *account) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var s strings.Builder
	failed := 0
	for _, n := range a.failed {
		failed += n
	}
	fmt.Fprintf(&s, "%d requests sent = %d answered + %d answered by an error + %d failed\n", a.sent, a.answered, a.declined, failed)
	for _, why := range slices.Sorted(maps.Keys(a.failed)) {
		fmt.Fprintf(&s, "  %6d %s\n", a.failed[why], why)
	}
	fmt.Fprintf(&s, "%d messages sent, %d shown\n", a.messages, len(a.shown))
	return s.String()
}

// judge looks for what was answered or shown twice, and for what has no end.
func (a *account) judge() {
	a.mu.Lock()
	defer a.mu.Unlock()
	failed := 0
	for _, n := range a.failed {
		failed += n
	}
	if a.sent != a.answered+a.declined+failed {
		a.wrong = append(a.wrong, fmt.Sprintf("of %d requests %d ended", a.sent, a.answered+a.declined+failed))
	}
	for n, times := range a.handled {
		if times > 1 && n != barrier {
			a.wrong = append(a.wrong, fmt.Sprintf("request %d reached a handler %d times", n, times))
		}
	}
	for n, times := range a.shown {
		if times > 1 {
			a.wrong = append(a.wrong, fmt.Sprintf("message %d was shown %d times", n, times))
		}
	}
}

// attached calls use with a client of the node, and again with a new one when that has
// ended, until ctx ends.
func attached(ctx context.Context, n *node, use func(*client.Client)) {
	for ctx.Err() == nil {
		c, err := client.Dial(ctx, client.Options{StateRoot: n.root})
		if err != nil {
			pause(ctx, 20*time.Millisecond)
			continue
		}
		use(c)
		_ = c.Close()
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// ask sends requests and messages from one node to another, one after the other.
func (a *account) ask(ctx context.Context, from, to *node) {
	attached(ctx, from, func(c *client.Client) {
		for ctx.Err() == nil && c.Err() == nil {
			if rand.IntN(4) == 0 {
				a.message(ctx, c, to)
			} else {
				a.request(c, to)
			}
			pause(ctx, time.Duration(rand.IntN(20))*time.Millisecond)
		}
	})
}

func (a *account) message(ctx context.Context, c *client.Client, to *node) {
	if _, err := c.Send(ctx, to.self.AgentID, payload(a.next.Add(1), 0), client.SendOptions{}); err == nil {
		a.mu.Lock()
		a.messages++
		a.mu.Unlock()
	}
}

// request asks once. It does not end with the load: each request has an end of its own.
func (a *account) request(c *client.Client, to *node) {
	n, pad := a.next.Add(1), 0
	if rand.IntN(20) == 0 {
		pad = 60000
	}
	limit, cancelled := a.timeout+patience, rand.IntN(30) == 0
	if cancelled {
		limit = time.Duration(rand.IntN(20)) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	a.mu.Lock()
	a.sent++
	a.mu.Unlock()
	reply, err := c.Request(ctx, to.self.AgentID, payload(n, pad), client.SendOptions{Timeout: a.timeout})
	var remote *client.RemoteError
	var refusal *client.Error
	var why string
	switch {
	case err == nil:
		var got numbered
		if err := json.Unmarshal(reply.Payload, &got); err != nil || got.N != n || len(got.Pad) != pad {
			a.violation("request %d was answered by %.80s", n, reply.Payload)
		}
	case errors.As(err, &remote):
	case errors.As(err, &refusal):
		why = string(refusal.Code)
		if refusal.Code == client.CodeInternalError {
			why += ": " + agentID.ReplaceAllString(refusal.Message, "…")
		}
	case errors.Is(err, client.ErrClosed):
		why = "the daemon ended"
	case errors.Is(err, context.DeadlineExceeded) && cancelled:
		why = "the caller gave up"
	case errors.Is(err, context.DeadlineExceeded):
		why = "the daemon was stopped"
	default:
		a.violation("request %d: %v", n, err)
		why = "?"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case why != "":
		a.failed[why]++
	case err == nil:
		a.answered++
	default:
		a.declined++
	}
}

// serve answers the requests of a node until ctx ends, over as many lives of the daemon
// and of the handler as it takes. A value in die ends a handler's life.
func (a *account) serve(ctx context.Context, n *node, die <-chan struct{}) {
	attached(ctx, n, func(c *client.Client) {
		life, end := context.WithCancel(ctx)
		defer end()
		go func() {
			select {
			case <-die:
				// As a program that is killed: nothing is finished.
				_ = c.Close()
			case <-life.Done():
			}
		}()
		err := c.Serve(life, func(ctx context.Context, r client.Request) (json.RawMessage, error) {
			var got numbered
			if err := json.Unmarshal(r.Envelope.Payload, &got); err != nil {
				a.violation("a handler got %.80s", r.Envelope.Payload)
			}
			a.mu.Lock()
			a.handled[got.N]++
			a.mu.Unlock()
			switch rand.IntN(40) {
			case 0:
				return nil, client.ErrDecline
			case 1:
				return nil, &client.ReplyError{Code: "no_luck", Message: "this one was unlucky; ask again"}
			case 2:
				pause(ctx, time.Duration(rand.IntN(200))*time.Millisecond)
			}
			return r.Envelope.Payload, nil
		}, client.ServeOptions{Concurrency: 64})
		if err != nil {
			pause(ctx, 20*time.Millisecond)
		}
	})
}

// watch notes each message that a node shows.
func (a *account) watch(ctx context.Context, n *node) {
	attached(ctx, n, func(c *client.Client) {
		events := c.Events()
		defer events.Close()
		for {
			e, err := events.Next(ctx)
			if err != nil {
				return
			}
			var got numbered
			if e.Name != "inbound" || json.Unmarshal(e.Envelope.Payload, &got) != nil {
				continue
			}
			a.mu.Lock()
			a.shown[got.N]++
			a.mu.Unlock()
		}
	})
}
