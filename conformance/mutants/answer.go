package mutants

import (
	"bytes"

	"github.com/axonproto/axon/harness/wire"
)

// answer is a reply in the making. Each field is raw JSON, so that it can be made
// wrong in any way; an empty one is left out.
type answer struct {
	ID, Kind, Ref string
	// Code, Message and Retryable make the payload.
	Code, Message, Retryable string
	// Payload replaces them when it is not empty.
	Payload string
	// Extra members, such as `"v":1`, behind the others.
	Extra []string
	// Order of the four members; nil is id, kind, ref, payload.
	Order []string
}

// unhandled is the default error for a request.
func unhandled(request string) *answer {
	return &answer{
		ID: quote(wire.NewID()), Kind: quote("error"), Ref: quote(request),
		Code: quote("unhandled"), Message: quote("no application handler registered for request '" + request + "'"), Retryable: "false",
	}
}

// quote writes a text as JSON.
func quote(text string) string { return wire.Quote(text) }

// bytes writes the envelope compactly.
func (a *answer) bytes() []byte {
	order := a.Order
	if order == nil {
		order = []string{"id", "kind", "ref", "payload"}
	}
	payload := a.Payload
	if payload == "" {
		payload = object(pair("code", a.Code), pair("message", a.Message), pair("retryable", a.Retryable))
	}
	values := map[string]string{"id": a.ID, "kind": a.Kind, "ref": a.Ref, "payload": payload}
	var members []string
	for _, name := range order {
		members = append(members, pair(name, values[name]))
	}
	return []byte(object(append(members, a.Extra...)...))
}

// absent stands for a payload that is left out.
const absent = "absent"

func pair(name, value string) string {
	if value == "" || value == absent {
		return ""
	}
	return quote(name) + ":" + value
}

func object(members ...string) string {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, m := range members {
		if m == "" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(m)
	}
	b.WriteByte('}')
	return b.String()
}
