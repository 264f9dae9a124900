// Package envelope reads and writes the one JSON object that AXON puts on a
// stream.
//
// It imports nothing of this module. It serves AXON-ENV-001 to 016, AXON-REF-001
// to 007, AXON-FWD-001, AXON-PAY-001 to 006 and AXON-LIMIT-004, -005.
package envelope

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// MaxSize is the largest body, in bytes, that is sent or accepted.
const MaxSize = 65536

// Kind says what an envelope is for.
type Kind string

// The four kinds of the protocol. Any other text is a kind not known to this
// edition, which is not an error.
const (
	Request  Kind = "request"
	Response Kind = "response"
	Message  Kind = "message"
	Error    Kind = "error"
)

// Known reports whether k is one of the four.
func (k Kind) Known() bool {
	return k == Request || k == Response || k == Message || k == Error
}

// Envelope is one AXON message. Payload, and RawKind after Decode, may share
// memory with the body that was decoded: whoever keeps an envelope longer than
// the body clones it.
type Envelope struct {
	ID   uuid.UUID
	Kind Kind
	// RawKind is the kind as the JSON string that came, for passing an unknown
	// one on unchanged; nil stands for the plain encoding of Kind.
	RawKind []byte
	// Payload is a JSON object, kept as the bytes that came.
	Payload []byte
	// Ref is set when HasRef is: the nil UUID is a reference like any other.
	Ref    uuid.UUID
	HasRef bool
}

// New returns an envelope with a fresh id and no reference.
func New(kind Kind, payload []byte) Envelope {
	return Envelope{ID: uuid.New(), Kind: kind, Payload: payload}
}

// NewReply returns an envelope with a fresh id that answers the request ref.
func NewReply(kind Kind, ref uuid.UUID, payload []byte) Envelope {
	return Envelope{ID: uuid.New(), Kind: kind, Payload: payload, Ref: ref, HasRef: true}
}

// Clone returns a copy that shares no memory with e.
func (e *Envelope) Clone() Envelope {
	c := *e
	c.Payload = append([]byte(nil), e.Payload...)
	if e.RawKind != nil {
		c.RawKind = append([]byte(nil), e.RawKind...)
	}
	return c
}

// Append adds the wire form of e to dst: compact, in the order id, kind,
// payload, ref, with ref left out when there is none. The payload is written
// as it is.
func (e *Envelope) Append(dst []byte) []byte {
	dst = append(dst, `{"id":"`...)
	dst = AppendUUID(dst, e.ID)
	dst = append(dst, `","kind":`...)
	dst = e.AppendKind(dst)
	dst = append(dst, `,"payload":`...)
	dst = append(dst, e.Payload...)
	if e.HasRef {
		dst = append(dst, `,"ref":"`...)
		dst = AppendUUID(dst, e.Ref)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

// AppendKind adds the kind to dst as a JSON string.
func (e *Envelope) AppendKind(dst []byte) []byte {
	if e.RawKind != nil {
		return append(dst, e.RawKind...)
	}
	if e.Kind.Known() {
		dst = append(dst, '"')
		dst = append(dst, e.Kind...)
		return append(dst, '"')
	}
	return AppendString(dst, string(e.Kind))
}

// AppendString adds text to dst as a JSON string. Bytes that are not UTF-8
// become the replacement character.
func AppendString(dst []byte, text string) []byte {
	// The error only tells of the replacement.
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

const hexDigits = "0123456789abcdef"

// AppendUUID adds id to dst in the hyphenated form, in lower case.
func AppendUUID(dst []byte, id uuid.UUID) []byte {
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	return dst
}
