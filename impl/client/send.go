package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	// DefaultTimeout is how long the daemon waits for an answer where no other
	// time is given.
	DefaultTimeout = 30 * time.Second
	// MaxTimeout is the longest time-out of a request.
	MaxTimeout = time.Hour
)

// SendOptions of Request and Send.
type SendOptions struct {
	// Ref is the id of a message that this one refers to. Empty: none.
	Ref string
	// Timeout bounds the whole exchange of a request, connecting included, in
	// whole seconds (rounded up) to one hour. Zero: the time that is left until
	// ctx ends, else the daemon's default of 30 s. Send ignores it.
	Timeout time.Duration
}

// Request asks a peer and waits for its answer. to is the peer's Agent ID and
// payload a JSON object. Where the peer answers with an error, the envelope is
// returned along with a *RemoteError. ErrTimeout reports that no answer came in
// time. When ctx ends before, the answer is not waited for any longer, though
// the daemon still waits for it.
func (c *Client) Request(ctx context.Context, to string, payload json.RawMessage, o SendOptions) (Envelope, error) {
	secs, err := o.seconds(ctx)
	if err != nil {
		return Envelope{}, fmt.Errorf("request: %w", err)
	}
	if err := CheckPayload(payload); err != nil {
		return Envelope{}, fmt.Errorf("request: %w", err)
	}
	var answer struct {
		Response *Envelope `json:"response"`
	}
	err = c.call(ctx, command{Cmd: "send", To: to, Kind: KindRequest, Payload: payload, Ref: o.Ref, Timeout: secs}, &answer)
	switch {
	case err != nil:
		return Envelope{}, err
	case answer.Response == nil:
		return Envelope{}, errors.New("request: the daemon's answer holds no response; use a client and a daemon of the same version")
	case answer.Response.Kind == KindError:
		return *answer.Response, remoteError(*answer.Response)
	}
	return *answer.Response, nil
}

// Send sends a message, to which there is no answer, and returns its id. It
// returns when the daemon has sent it, which does not mean that it has arrived.
func (c *Client) Send(ctx context.Context, to string, payload json.RawMessage, o SendOptions) (id string, err error) {
	if err := CheckPayload(payload); err != nil {
		return "", fmt.Errorf("send: %w", err)
	}
	var answer struct {
		ID string `json:"msg_id"`
	}
	err = c.call(ctx, command{Cmd: "send", To: to, Kind: KindMessage, Payload: payload, Ref: o.Ref}, &answer)
	return answer.ID, err
}

func (o SendOptions) seconds(ctx context.Context) (int, error) {
	if o.Timeout < 0 || o.Timeout > MaxTimeout {
		return 0, fmt.Errorf("time-out %s is out of range; give up to %s, or zero for the default", o.Timeout, MaxTimeout)
	}
	d := o.Timeout
	if deadline, ok := ctx.Deadline(); ok && d == 0 {
		d = min(max(time.Until(deadline), 1), MaxTimeout)
	}
	return int((d + time.Second - 1) / time.Second), nil
}
