package client

import (
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// DefaultConcurrency is how many requests Serve handles at once by default.
const DefaultConcurrency = 16

const (
	eventRequest   = "request"
	eventCancelled = "request_cancelled"
)

// ErrDecline is returned by a Handler that does not want to answer: the peer is
// told that nobody handles its request.
var ErrDecline = errors.New("request declined")

// errGivenUp is the cause of a handler's context when the peer, or the daemon,
// waits no longer.
var errGivenUp = errors.New("the requester gave up")

// Request is a request from another agent.
type Request struct {
	ID       string   `json:"request_id"`
	From     string   `json:"from"` // Agent ID, proven by the connection
	Envelope Envelope `json:"envelope"`
}

// Handler answers a request by the payload of the response, a JSON object. An
// error that is a *ReplyError is sent as it says, ErrDecline declines, and any
// other is sent to the peer as an error with the code handler_failed and its
// text. ctx ends when the requester gives up, when the connection to the daemon
// is lost, and when Serve is to end; an answer is not sent after that.
type Handler func(ctx context.Context, r Request) (json.RawMessage, error)

// ReplyError is an error to send to the peer.
type ReplyError struct {
	Code      string // snake_case
	Message   string // what went wrong and what to try
	Retryable bool   // whether the same request may succeed later
	// Payload, when set, is sent in place of the three above. A JSON object.
	Payload json.RawMessage
}

func (e *ReplyError) Error() string { return e.Code + ": " + e.Message }

func (e *ReplyError) payload() json.RawMessage {
	if e.Payload != nil {
		return e.Payload
	}
	// Strings and a boolean: this cannot fail.
	text, _ := json.Marshal(map[string]any{"code": e.Code, "message": e.Message, "retryable": e.Retryable})
	return text
}

// Outcome says how a request ended.
type Outcome string

// The outcomes. Lost: there was an answer, but nobody waited for it any longer.
const (
	OutcomeResponse  Outcome = "response"
	OutcomeError     Outcome = "error"
	OutcomeDeclined  Outcome = "declined"
	OutcomeCancelled Outcome = "cancelled"
	OutcomeLost      Outcome = "lost"
)

// Served tells how a request ended.
type Served struct {
	Request  Request
	Outcome  Outcome
	Err      error // the handler's, or why its answer could not be sent; nil for a response
	Duration time.Duration
}

// ServeOptions of Serve.
type ServeOptions struct {
	// Concurrency is how many requests are handled at once; the others wait.
	// Zero: 16.
	Concurrency int
	// Ready, when set, is called once requests are being served.
	Ready func()
	// Done, when set, is called after each request, from many goroutines.
	Done func(Served)
}

// Serve takes the handler lease and answers each request by calling h, until ctx
// ends, and then returns nil. ErrHandlerBusy reports that another program holds
// the lease. The lease belongs to the connection: Serve closes the client before
// it returns, and requests that were waiting are declined. A program that goes
// on sending after that dials a second client.
func (c *Client) Serve(ctx context.Context, h Handler, o ServeOptions) error {
	if h == nil || o.Concurrency < 0 {
		return errors.New("serve: give a handler, and zero or more for Concurrency")
	}
	if o.Concurrency == 0 {
		o.Concurrency = DefaultConcurrency
	}
	jobs, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &server{client: c, handler: h, o: o, ctx: jobs, end: stop, jobs: map[jobKey]*job{}, waiting: list.New(), more: make(chan struct{}, 1)}
	c.mu.Lock()
	if c.server != nil {
		c.mu.Unlock()
		return errors.New("serve: this client serves already; dial another one")
	}
	c.server = s // first: requests may follow the answer at once
	c.mu.Unlock()
	if err := c.call(ctx, command{Cmd: "serve"}, nil); err != nil {
		c.mu.Lock()
		c.server = nil
		c.mu.Unlock()
		return err
	}
	defer func() {
		_ = c.Close()
	}()
	if o.Ready != nil {
		o.Ready()
	}
	s.run()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serve: %w", context.Cause(jobs))
}

// jobKey tells requests apart: two peers may use the same id.
type jobKey struct{ from, id string }

type job struct {
	request Request
	ctx     context.Context
	cancel  context.CancelCauseFunc
	place   *list.Element // in the queue; nil once it runs
}

// server is one call of Serve.
type server struct {
	client  *Client
	handler Handler
	o       ServeOptions
	ctx     context.Context
	end     context.CancelCauseFunc
	more    chan struct{} // has room for one: the queue is not empty

	mu   sync.Mutex // guards what follows
	jobs map[jobKey]*job
	// waiting holds the jobs that do not run yet. The daemon bounds it: so many
	// requests may be pending and no more.
	waiting *list.List
}

// serveEvent takes an event of the lease holder; s is nil before and after
// Serve.
func (c *Client) serveEvent(s *server, name string, line []byte) {
	var r Request
	if s == nil || json.Unmarshal(line, &r) != nil {
		return
	}
	key := jobKey{r.From, r.ID}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.jobs[key]
	if old != nil {
		// Cancelled; or the daemon is done with the old one, whose id is used anew.
		old.cancel(errGivenUp)
		delete(s.jobs, key)
		if old.place != nil {
			s.waiting.Remove(old.place)
		}
	}
	if name == eventCancelled {
		return
	}
	j := &job{request: r}
	j.ctx, j.cancel = context.WithCancelCause(s.ctx)
	j.place = s.waiting.PushBack(j)
	s.jobs[key] = j
	s.wake()
}

func (s *server) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// run starts the waiting jobs, so many at once, until the context ends and all
// have returned.
func (s *server) run() {
	room := make(chan struct{}, s.o.Concurrency)
	var running sync.WaitGroup
	defer running.Wait()
	for {
		select {
		case <-s.ctx.Done():
			return
		case room <- struct{}{}:
		}
		j := s.next()
		if j == nil {
			return
		}
		running.Go(func() {
			defer func() { <-room }()
			s.handle(j)
		})
	}
}

// next waits for a job; nil when the context has ended.
func (s *server) next() *job {
	for {
		s.mu.Lock()
		if first := s.waiting.Front(); first != nil {
			j := s.waiting.Remove(first).(*job)
			j.place = nil
			s.mu.Unlock()
			return j
		}
		s.mu.Unlock()
		select {
		case <-s.more:
		case <-s.ctx.Done():
			return nil
		}
	}
}

func (s *server) handle(j *job) {
	defer j.cancel(nil)
	begin := time.Now()
	payload, err := s.handler(j.ctx, j.request)
	s.mu.Lock()
	key := jobKey{j.request.From, j.request.ID}
	if s.jobs[key] == j {
		delete(s.jobs, key)
	}
	s.mu.Unlock()
	done := Served{Request: j.request, Err: err}
	if j.ctx.Err() != nil {
		done.Outcome, done.Err = OutcomeCancelled, context.Cause(j.ctx)
	} else {
		done.Outcome, done.Err = s.reply(j, payload, err)
	}
	done.Duration = time.Since(begin)
	if s.o.Done != nil {
		s.o.Done(done)
	}
}

// reply ends a request as its handler wants it.
func (s *server) reply(j *job, payload json.RawMessage, err error) (Outcome, error) {
	cmd := command{Cmd: "reply", RequestID: j.request.ID, Peer: j.request.From, Kind: KindResponse, Payload: payload}
	outcome := OutcomeResponse
	if err == nil {
		if err = CheckPayload(payload); err != nil {
			err = &ReplyError{Code: "handler_failed", Message: "the handler gave no JSON object as its answer; tell the agent's owner"}
		}
	}
	var replyErr *ReplyError
	switch {
	case err == nil:
	case errors.Is(err, ErrDecline):
		outcome, cmd.Cmd, cmd.Kind, cmd.Payload = OutcomeDeclined, "decline", "", nil
	case errors.As(err, &replyErr) && CheckPayload(replyErr.payload()) == nil:
		outcome, cmd.Kind, cmd.Payload = OutcomeError, KindError, replyErr.payload()
	default:
		outcome, cmd.Kind = OutcomeError, KindError
		cmd.Payload = (&ReplyError{Code: "handler_failed", Message: err.Error()}).payload()
	}
	// Only the end of the connection may keep an answer from being admitted.
	ctx := context.WithoutCancel(s.ctx)
	sendErr := s.client.call(ctx, cmd, nil)
	if errors.Is(sendErr, ErrMessageTooLarge) {
		outcome, err, cmd.Kind = OutcomeError, sendErr, KindError
		cmd.Payload = (&ReplyError{Code: "response_too_large", Message: "the answer is larger than an envelope may be; ask for less at a time"}).payload()
		sendErr = s.client.call(ctx, cmd, nil)
	}
	if sendErr != nil {
		return OutcomeLost, sendErr
	}
	return outcome, err
}
