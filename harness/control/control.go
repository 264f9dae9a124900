// Package control makes a target act: send, register an application handler, show
// what it delivers. It does so over AXON's local API, read anew from the protocol's
// page and apart from the daemon's own code, or through a driver program (see
// harness/control/driver). It acts and records; it never judges.
//
// It imports harness/wire and harness/credential of ours. It serves the needs
// drive, handle and observe.
package control

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"time"
)

// Target is a target that can be made to act. Any of its calls may end in a *Fault,
// which says that what stands between the suite and the target failed, or in
// ErrUnsupported.
type Target interface {
	// Capabilities are the needs that it serves: "drive", "handle", "observe".
	Capabilities() []string
	// Enroll makes a peer known, reachable at an address (host:port).
	Enroll(ctx context.Context, key ed25519.PublicKey, address string) error
	// Forget undoes Enroll, where there is a way to.
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
	// returns the request's id. Not every target tells: ErrUnsupported.
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
	From, To string // what the target makes of the connection's identity
	Envelope []byte
	Raw      []byte
	// InEnvelope: From and To have to stand in the envelope too.
	InEnvelope bool
}

// Observer sees what the target delivers.
type Observer interface {
	// Next waits for an event.
	Next(ctx context.Context) (Event, error)
	// Seen are the events so far.
	Seen() []Event
	// Trouble tells why what was seen may not be all that was shown, nil when there
	// is no such reason.
	Trouble() error
	Close() error
}

// Restarter is a Target that can be started anew: at the same address, with the
// same key and the same peers.
type Restarter interface {
	// CanRestart tells whether Restart may be called.
	CanRestart() bool
	Restart(ctx context.Context) error
}

// Remarker is a Target with something to tell of the run as a whole.
type Remarker interface {
	// Remarks are sentences for people, at most a handful.
	Remarks() []string
}

// Settler is a Target that may be left with a handler of the suite's, because nobody
// said that it is gone.
type Settler interface {
	// Settle makes sure that there is none; its error is why that is not known.
	Settle() error
}

// Claimant is a Target whose capabilities are the word of a program that nobody
// vouches for.
type Claimant interface {
	// Claimed tells that they have to be tried before silence is held against the
	// target.
	Claimed() bool
}

// Named is a Target that tells which implementation it is.
type Named interface {
	// Implementation returns name and version, empty where they are not known.
	Implementation() (name, version string)
}

// Fault is the error of a call that failed between the suite and the target: a
// driver that ended, hangs, or writes what its protocol does not have. It says
// nothing about the target.
type Fault struct {
	// Problem is a sentence for people, without a full stop.
	Problem string
	// LastLines are the last that the driver wrote, the oldest first.
	LastLines []string
}

func (f *Fault) Error() string {
	if len(f.LastLines) == 0 {
		return f.Problem
	}
	return f.Problem + "; its last lines: " + strings.Join(f.LastLines, " | ")
}

// ErrUnsupported: this way to the target has no such act.
var ErrUnsupported = errors.New("there is no way to have this target do that")

// ErrHandlerBusy: another handler is registered.
var ErrHandlerBusy = errors.New("another handler is registered in the target")

// ErrEnded: the target closed the connection to the suite.
var ErrEnded = errors.New("the target closed its local connection")
