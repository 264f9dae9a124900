package mutants

import (
	"io/fs"
	"strings"
	"time"

	"github.com/axonproto/axon/harness/probe"
)

// What a local API may rely on.
const (
	localPlaces   = 64
	localLine     = 131072
	localReqID    = 1024
	localQueue    = 1024
	localPending  = 1024
	localDeadline = 30 * time.Second
	// shortDeadline is that of daemons that meet the check of it.
	shortDeadline = time.Second
)

// rule is something that a correct local API sees to; a fault leaves it out.
type rule string

// localManner is how a daemon with a local API decides. A fault changes one thing.
type localManner struct {
	// wire is its manner as a peer.
	wire manner
	// lax are the rules that it leaves out.
	lax map[rule]bool

	socket                                          string
	mode                                            fs.FileMode
	places, maxLine, maxReqID, maxQueue, maxPending int
	maxEnvelope                                     int
	deadline                                        time.Duration

	// look may deal with a line before anything else does; true: it has.
	look func(c *localClient, line []byte) bool
	// act may carry a command out in place of the correct way; nil leaves it to
	// that.
	act func(c *localClient, cmd *localCommand) *record
	// answer has the last word on what a line is answered with, cmd is nil for one
	// that could not be read; event on what a client is shown. Each may give
	// several lines, or none.
	answer func(c *localClient, cmd *localCommand, a *record) []*record
	event  func(c *localClient, e *record) []*record
	// line writes a record, newline included.
	line func(c *localClient, r *record) []byte
	// shown is an envelope as clients see it.
	shown func(e shownEnvelope) *record
	// encode is what goes on the wire.
	encode func(o outgoing) []byte
	// carry puts a body on a stream of the kind's own sort; for a request it
	// brings what came back.
	carry func(x *carriage) ([]byte, error)
	// dial has the last word on how a peer is dialled.
	dial func(k *pinned, o *probe.DialOptions)
	// met is called for each new connection, unheld for each request that comes
	// while nobody holds the lease.
	met    func(d *localDaemon, l *link)
	unheld func(d *localDaemon, c *call)
	// listed is a peer's entry in the answer to peers.
	listed func(d *localDaemon, k *pinned) *record
	// overloaded and late make the replies to a request that finds no room, and to
	// one that the handler did not answer.
	overloaded, late func(id string) *answer
	// declined is the reply to a request that the handler declined, nil for an empty
	// finish; orphaned that to one whose handler has gone.
	declined, orphaned func(id string) *answer
}

// correctLocal is the manner of a daemon without a fault.
func correctLocal() localManner {
	return localManner{
		wire: correct(), lax: map[rule]bool{}, socket: "axon.sock", mode: 0o600,
		places: localPlaces, maxLine: localLine, maxReqID: localReqID, maxQueue: localQueue, maxPending: localPending,
		maxEnvelope: limit, deadline: localDeadline,
		look:   func(*localClient, []byte) bool { return false },
		act:    func(*localClient, *localCommand) *record { return nil },
		answer: func(_ *localClient, _ *localCommand, a *record) []*record { return []*record{a} },
		event:  func(_ *localClient, e *record) []*record { return []*record{e} },
		line:   func(_ *localClient, r *record) []byte { return []byte(unbroken(r.text()) + "\n") },
		shown:  shownEnvelope.record,
		encode: outgoing.bytes,
		carry:  (*carriage).run,
		dial:   func(*pinned, *probe.DialOptions) {},
		met:    func(*localDaemon, *link) {},
		unheld: func(*localDaemon, *call) {},
		listed: (*localDaemon).entry,
		overloaded: func(id string) *answer {
			return turned(id, "overloaded", "1,024 requests are waiting for the application; try again later")
		},
		late: func(id string) *answer {
			return turned(id, "timeout", "the application did not answer in time; try again later")
		},
		declined: unhandled,
		orphaned: unhandled,
	}
}

// turned is an error that asks to try again.
func turned(id, code, message string) *answer {
	a := unhandled(id)
	a.Code, a.Message, a.Retryable = quote(code), quote(message), "true"
	return a
}

// record is an answer or an event in the making: its members are raw JSON, so that
// they can be made wrong in any way.
type record struct{ members []pairOf }

type pairOf struct{ name, value string }

// rec makes a record of names and raw values in turn.
func rec(pairs ...string) *record {
	r := &record{}
	for i := 0; i+1 < len(pairs); i += 2 {
		r.set(pairs[i], pairs[i+1])
	}
	return r
}

// yes is a positive answer, no an error.
func yes(pairs ...string) *record { return rec(append([]string{"ok", "true"}, pairs...)...) }

func no(code, message string) *record {
	return rec("ok", "false", "error", quote(code), "message", quote(message))
}

// get is a member's raw value, empty when it is not there.
func (r *record) get(name string) string {
	for _, m := range r.members {
		if m.name == name {
			return m.value
		}
	}
	return ""
}

// set gives a member a value; an empty one takes it away.
func (r *record) set(name, value string) *record {
	kept := r.members[:0]
	found := false
	for _, m := range r.members {
		if m.name == name {
			found = true
			if m.value = value; value == "" {
				continue
			}
		}
		kept = append(kept, m)
	}
	r.members = kept
	if !found && value != "" {
		r.members = append(r.members, pairOf{name, value})
	}
	return r
}

// failed tells whether it is an error answer.
func (r *record) failed() bool { return r.get("ok") == "false" }

// copied is a record of its own with the same members.
func (r *record) copied() *record { return &record{append([]pairOf(nil), r.members...)} }

// text is the record as JSON.
func (r *record) text() string {
	var members []string
	for _, m := range r.members {
		members = append(members, pair(m.name, m.value))
	}
	return object(members...)
}

// unbroken is a JSON text on one line: line breaks stand outside of strings only.
func unbroken(text string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(text) }
