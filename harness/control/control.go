// Package control makes a target act: send, register an application handler, show
// what it delivers. It does so over AXON's local API, read anew from the protocol's
// page and apart from the daemon's own code. It acts and records; it never judges.
//
// It imports harness/wire and harness/credential of ours. It serves the needs
// drive, handle and observe.
package control

import (
	"context"
	"crypto/ed25519"
	"errors"
	"time"
)

// Target is a target that can be made to act.
type Target interface {
	// Capabilities are the needs that it serves: "drive", "handle", "observe".
	Capabilities() []string
	// Enroll makes a peer known, reachable at an address (host:port).
	Enroll(ctx context.Context, key ed25519.PublicKey, address string) error
	// Forget undoes Enroll.
	Forget(ctx context.Context, agentID string) error
	// Send has the target send. That the target refuses, or tells of a failure, is
	// part of the outcome and no error.
	Send(ctx context.Context, s Send) (Sent, error)
	// Handle registers the one application handler.
	Handle(ctx context.Context) (Handler, error)
	// Observe begins to show what the target delivers to local clients.
	Observe(ctx context.Context) (Observer, error)
	// Close ends everything.
	Close() error
}

// Send is something that the target is asked to send.
type Send struct {
	To      string // Agent ID
	Kind    string // "request" or "message"
	Payload []byte // a JSON object
	Ref     string // a UUID, or empty
	// Timeout bounds a request's exchange, in whole seconds; 0 leaves it to the
	// target.
	Timeout time.Duration
}

// Sent is what the target's caller was told.
type Sent struct {
	OK       bool
	ID       string // of the message sent
	Response []byte // the whole envelope of a reply, as it was given
	Code     string // of a failure
	Message  string // of a failure
	Raw      []byte // the whole answer
}

// Request is a request that the target hands to its handler.
type Request struct {
	ID       string // by which it is answered
	From     string // Agent ID
	Envelope []byte
}

// Outcome is what the target says to a handler's reply.
type Outcome struct {
	OK            bool
	Code, Message string
}

// Handler is the application behind the target.
type Handler interface {
	// Next waits for a request.
	Next(ctx context.Context) (Request, error)
	// Cancelled waits until the target says that a requester has given up, and
	// returns the request's id.
	Cancelled(ctx context.Context) (string, error)
	// Reply answers by a "response" or an "error".
	Reply(ctx context.Context, r Request, kind string, payload []byte) (Outcome, error)
	// Decline leaves the request to the default error.
	Decline(ctx context.Context, r Request) (Outcome, error)
	// Close unregisters, by going away.
	Close() error
}

// Event is something that the target shows its local clients.
type Event struct {
	Name     string // "inbound", "peer_candidate", …
	From     string
	Envelope []byte
	Raw      []byte
}

// Observer sees what the target delivers.
type Observer interface {
	// Next waits for an event.
	Next(ctx context.Context) (Event, error)
	// Seen are the events so far.
	Seen() []Event
	Close() error
}

// ErrHandlerBusy: another handler is registered.
var ErrHandlerBusy = errors.New("another handler is registered in the target")

// ErrEnded: the target closed the connection to the suite.
var ErrEnded = errors.New("the target closed its local connection")
