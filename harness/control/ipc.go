package control

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"sync"
	"time"

	"github.com/axonproto/axon/harness/wire"
)

// IPC is a target that is driven over AXON's local API.
type IPC struct {
	socket string

	mu       sync.Mutex
	sessions []*Session
}

// NewIPC makes a target of the local API at a socket and sees whether it answers.
func NewIPC(ctx context.Context, socket string) (*IPC, error) {
	t := &IPC{socket: socket}
	if _, err := t.command(ctx, `"cmd":"whoami"`); err != nil {
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

// Socket is the path of the local API.
func (t *IPC) Socket() string { return t.socket }

// Session opens a connection of its own, which Close ends with the others.
func (t *IPC) Session(ctx context.Context) (*Session, error) {
	s, err := Dial(ctx, t.socket)
	if err == nil {
		t.mu.Lock()
		t.sessions = append(t.sessions, s)
		t.mu.Unlock()
	}
	return s, err
}

// Capabilities are all that the local API serves.
func (t *IPC) Capabilities() []string { return []string{"drive", "handle", "observe"} }

// command runs one command on a connection of its own.
func (t *IPC) command(ctx context.Context, members string) (Line, error) {
	s, err := Dial(ctx, t.socket)
	if err != nil {
		return Line{}, err
	}
	defer func() { _ = s.Close() }()
	return s.Command(ctx, members)
}

// must runs a command that has to succeed.
func (t *IPC) must(ctx context.Context, what, members string) error {
	l, err := t.command(ctx, members)
	if err != nil {
		return fmt.Errorf("%s over the local API: %w", what, err)
	}
	if o := outcomeOf(l); !o.OK {
		return fmt.Errorf("%s over the local API: %s: %s", what, o.Code, o.Message)
	}
	return nil
}

func (t *IPC) Enroll(ctx context.Context, key ed25519.PublicKey, address string) error {
	token := "axon://" + base64.RawURLEncoding.EncodeToString(key) + "@" + address
	return t.must(ctx, "enrol the probe", `"cmd":"add_peer","token":`+wire.Quote(token))
}

func (t *IPC) Forget(ctx context.Context, agentID string) error {
	return t.must(ctx, "forget the probe", `"cmd":"remove_peer","agent_id":`+wire.Quote(agentID))
}

func (t *IPC) Send(ctx context.Context, s Send) (Sent, error) {
	members := fmt.Sprintf(`"cmd":"send","to":%s,"kind":%s,"payload":%s`, wire.Quote(s.To), wire.Quote(s.Kind), s.Payload)
	if s.Ref != "" {
		members += `,"ref":` + wire.Quote(s.Ref)
	}
	if s.Timeout > 0 {
		members += fmt.Sprintf(`,"timeout_secs":%d`, s.Timeout/time.Second)
	}
	l, err := t.command(ctx, members)
	if err != nil {
		return Sent{}, err
	}
	o := outcomeOf(l)
	response, _ := l.Value.Get("response")
	return Sent{OK: o.OK, ID: l.Member("msg_id"), Response: response.Raw, Code: o.Code, Message: o.Message, Raw: l.Raw}, nil
}

func outcomeOf(l Line) Outcome {
	ok, _ := l.Value.Get("ok")
	return Outcome{OK: ok.Kind == wire.Bool && ok.Bool, Code: l.Member("error"), Message: l.Member("message")}
}

func (t *IPC) Handle(ctx context.Context) (Handler, error) {
	s, err := t.Session(ctx)
	if err != nil {
		return nil, err
	}
	l, err := s.Command(ctx, `"cmd":"serve"`)
	if err == nil {
		if o := outcomeOf(l); o.Code == "handler_busy" {
			err = fmt.Errorf("%w: %s", ErrHandlerBusy, o.Message)
		} else if !o.OK {
			err = fmt.Errorf("take the handler lease over the local API: %s: %s", o.Code, o.Message)
		}
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return &ipcHandler{session: s}, nil
}

type ipcHandler struct {
	session   *Session
	requests  int // index of the first line not yet looked at for a request
	cancelled int
}

func (h *ipcHandler) Next(ctx context.Context) (Request, error) {
	l, i, err := h.session.Find(ctx, h.requests, func(l Line) bool { return l.Member("event") == "request" })
	if err != nil {
		return Request{}, err
	}
	h.requests = i + 1
	envelope, _ := l.Value.Get("envelope")
	return Request{ID: l.Member("request_id"), From: l.Member("from"), Envelope: envelope.Raw}, nil
}

func (h *ipcHandler) Cancelled(ctx context.Context) (string, error) {
	l, i, err := h.session.Find(ctx, h.cancelled, func(l Line) bool { return l.Member("event") == "request_cancelled" })
	if err != nil {
		return "", err
	}
	h.cancelled = i + 1
	return l.Member("request_id"), nil
}

func (h *ipcHandler) Reply(ctx context.Context, r Request, kind string, payload []byte) (Outcome, error) {
	l, err := h.session.Command(ctx, fmt.Sprintf(`"cmd":"reply","request_id":%s,"peer":%s,"kind":%s,"payload":%s`,
		wire.Quote(r.ID), wire.Quote(r.From), wire.Quote(kind), payload))
	return outcomeOf(l), err
}

func (h *ipcHandler) Decline(ctx context.Context, r Request) (Outcome, error) {
	l, err := h.session.Command(ctx, fmt.Sprintf(`"cmd":"decline","request_id":%s,"peer":%s`, wire.Quote(r.ID), wire.Quote(r.From)))
	return outcomeOf(l), err
}

func (h *ipcHandler) Close() error { return h.session.Close() }

func (t *IPC) Observe(ctx context.Context) (Observer, error) {
	s, err := t.Session(ctx)
	if err != nil {
		return nil, err
	}
	// An answer shows that the target has taken the client on.
	if _, err := s.Command(ctx, `"cmd":"whoami"`); err != nil {
		_ = s.Close()
		return nil, err
	}
	return &ipcObserver{session: s}, nil
}

type ipcObserver struct {
	session *Session
	next    int
}

func isEvent(l Line) bool { return l.Member("event") != "" }

func eventOf(l Line) Event {
	envelope, _ := l.Value.Get("envelope")
	to, _ := envelope.Get("to")
	return Event{Name: l.Member("event"), From: l.Member("from"), To: to.String, Envelope: envelope.Raw, Raw: l.Raw, InEnvelope: true}
}

func (o *ipcObserver) Next(ctx context.Context) (Event, error) {
	l, i, err := o.session.Find(ctx, o.next, isEvent)
	if err != nil {
		return Event{}, err
	}
	o.next = i + 1
	return eventOf(l), nil
}

func (o *ipcObserver) Seen() []Event {
	var seen []Event
	for _, l := range o.session.Lines() {
		if isEvent(l) {
			seen = append(seen, eventOf(l))
		}
	}
	return seen
}

// Trouble: lines beyond those that a session remembers.
func (o *ipcObserver) Trouble() error {
	if n := o.session.Dropped(); n > 0 {
		return &Fault{Problem: fmt.Sprintf("the target showed so much that %d lines were not kept", n)}
	}
	return nil
}

func (o *ipcObserver) Close() error { return o.session.Close() }

// Close ends every session that was opened.
func (t *IPC) Close() error {
	t.mu.Lock()
	sessions := t.sessions
	t.sessions = nil
	t.mu.Unlock()
	for _, s := range sessions {
		_ = s.Close()
	}
	return nil
}
