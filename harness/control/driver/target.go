package driver

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"sync"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

// Capabilities are the needs that the driver claims to serve.
func (d *Driver) Capabilities() []string {
	var needs []string
	for _, need := range []string{"drive", "handle", "observe"} {
		if d.Offers(need) {
			needs = append(needs, need)
		}
	}
	return needs
}

// Claimed: a driver's word is tried before it counts.
func (d *Driver) Claimed() bool { return true }

// Implementation is what the driver says is under test.
func (d *Driver) Implementation() (name, version string) {
	h := d.Hello()
	return h.Name, h.Version
}

// Enroll makes a peer known. With an empty address the peer only dials.
func (d *Driver) Enroll(ctx context.Context, key ed25519.PublicKey, address string) error {
	if !d.Offers("enroll") {
		return fmt.Errorf("enrol a peer: %w: the driver does not claim enroll", control.ErrUnsupported)
	}
	members := `"public_key":"` + base64.StdEncoding.EncodeToString(key) + `"`
	if address != "" {
		members += `,"address":` + wire.Quote(address)
	}
	return d.done(ctx, "enroll", members)
}

// Forget is no command of a driver: the peers of a run are left to the target.
func (d *Driver) Forget(context.Context, string) error { return control.ErrUnsupported }

// Send has the target send. The answer to a request waits for the target's caller,
// so a driver that lives is not to blame when there is none in time.
func (d *Driver) Send(ctx context.Context, s control.Send) (control.Sent, error) {
	if !d.Offers("drive") {
		return control.Sent{}, fmt.Errorf("send: %w: the driver does not claim drive", control.ErrUnsupported)
	}
	members := fmt.Sprintf(`"kind":%s,"to":%s,"payload":%s`, wire.Quote(s.Kind), wire.Quote(s.To), s.Payload)
	if s.Ref != "" {
		members += `,"ref":` + wire.Quote(s.Ref)
	}
	if s.Timeout > 0 {
		members += fmt.Sprintf(`,"timeout_secs":%d`, max(1, s.Timeout/time.Second))
	}
	ask := d.owed
	if s.Kind == "request" {
		ask = d.answeredLater
	}
	a, err := ask(ctx, "send", members)
	if err != nil {
		return control.Sent{}, err
	}
	response, n := a.value.Get("response")
	sent := control.Sent{OK: a.code == "", ID: member(a.value, "id"), Response: response.Raw, Code: a.code, Message: a.message, Raw: a.raw}
	switch {
	case s.Kind == "request" && sent.OK && n == 0:
		return sent, d.fault("the driver answers send of a request with neither a response nor an error")
	case s.Kind == "message" && n > 0:
		return sent, d.fault("the driver answers send of a message with a response")
	}
	return sent, nil
}

// answeredLater is owed for a command that also waits for the target.
func (d *Driver) answeredLater(ctx context.Context, command, members string) (reply, error) {
	a, err := d.call(ctx, command, members)
	if err != nil || a.code != codeUnsupported && a.code != codeFailed {
		return a, err
	}
	return a, d.refused(command, a)
}

// CanRestart tells whether the driver claims restart.
func (d *Driver) CanRestart() bool { return d.Offers("restart") }

// Restart stops the target and starts it again.
func (d *Driver) Restart(ctx context.Context) error {
	if !d.CanRestart() {
		return fmt.Errorf("restart: %w: the driver does not claim restart", control.ErrUnsupported)
	}
	return d.done(ctx, "restart", "")
}

// Observe begins to keep what the driver shows. A driver shows all that the target
// delivers, from hello on.
func (d *Driver) Observe(context.Context) (control.Observer, error) {
	if !d.Offers("observe") {
		return nil, fmt.Errorf("watch: %w: the driver does not claim observe", control.ErrUnsupported)
	}
	return &observer{d.subscribe("inbound")}, nil
}

type observer struct{ watching *subscription }

func (o *observer) Next(ctx context.Context) (control.Event, error) {
	e, _, err := o.watching.await(ctx)
	return e, err
}

func (o *observer) Seen() []control.Event { return o.watching.seen() }
func (o *observer) Trouble() error        { return o.watching.troubled() }

func (o *observer) Close() error {
	o.watching.end()
	return nil
}

// handling tells whether a handler is registered.
type handling struct {
	mu   sync.Mutex
	busy bool
	// unsure: the driver did not say that the handler is gone.
	unsure bool
}

func (h *handling) take() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy {
		return false
	}
	h.busy = true
	return true
}

func (h *handling) leave(unsure bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy, h.unsure = false, unsure
}

func (h *handling) isUnsure() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unsure
}

// Settle makes sure that no handler of the suite is left in the target, when the
// driver did not say so.
func (d *Driver) Settle() error {
	if !d.handling.isUnsure() {
		return nil
	}
	err := d.unserve()
	d.handling.leave(err != nil)
	return err
}

// unservePatience is how long a driver may take to take the handler away.
const unservePatience = 3 * time.Second

func (d *Driver) unserve() error {
	ctx, cancel := context.WithTimeout(context.Background(), unservePatience)
	defer cancel()
	return d.done(ctx, "unserve", "")
}

// Handle registers the handler, which shows each request and waits for what the
// suite says about it.
func (d *Driver) Handle(ctx context.Context) (control.Handler, error) {
	if !d.Offers("handle") {
		return nil, fmt.Errorf("register a handler: %w: the driver does not claim handle", control.ErrUnsupported)
	}
	if !d.handling.take() {
		return nil, control.ErrHandlerBusy
	}
	h := &handler{driver: d, watching: d.subscribe("request")}
	a, err := d.owed(ctx, "serve", `"mode":"respond"`)
	switch {
	case err != nil:
	case a.code == codeBusy:
		err = fmt.Errorf("%w: %s", control.ErrHandlerBusy, a.message)
	case a.code != "":
		err = fmt.Errorf("the driver answers serve by %s: %s", a.code, a.message)
	}
	if err != nil {
		h.watching.end()
		// Without a clear no the command may have been carried out all the same.
		d.handling.leave(a.code == "" || a.code == codeFailed)
		return nil, err
	}
	return h, nil
}

type handler struct {
	driver   *Driver
	watching *subscription
}

func (h *handler) Next(ctx context.Context) (control.Request, error) {
	e, id, err := h.watching.await(ctx)
	return control.Request{ID: id, From: e.From, Envelope: e.Envelope}, err
}

// Cancelled is no event of a driver.
func (h *handler) Cancelled(context.Context) (string, error) {
	return "", fmt.Errorf("learn that a requester gave up: %w", control.ErrUnsupported)
}

func (h *handler) Reply(ctx context.Context, r control.Request, kind string, payload []byte) (control.Outcome, error) {
	mode := "respond"
	if kind == "error" {
		mode = "error"
	}
	a, err := h.driver.owed(ctx, "serve", fmt.Sprintf(`"mode":"%s","request_id":%s,"payload":%s`, mode, wire.Quote(r.ID), payload))
	return outcomeOf(a), err
}

func (h *handler) Decline(ctx context.Context, r control.Request) (control.Outcome, error) {
	a, err := h.driver.owed(ctx, "serve", `"mode":"decline","request_id":`+wire.Quote(r.ID))
	return outcomeOf(a), err
}

func (h *handler) Close() error {
	h.watching.end()
	err := h.driver.unserve()
	h.driver.handling.leave(err != nil)
	return err
}
