package wire

import (
	"bytes"
	"fmt"

	"github.com/google/uuid"
)

// Outgoing is an envelope to be written. Nothing in it is checked: a probe may
// send what no peer should.
type Outgoing struct {
	ID, Kind string
	Payload  string  // raw JSON, written as it is; "": {}
	Ref      *string // nil: left out
}

// Bytes writes the envelope compactly, in the order id, kind, payload, ref.
func (o Outgoing) Bytes() []byte {
	payload := o.Payload
	if payload == "" {
		payload = "{}"
	}
	var b bytes.Buffer
	b.WriteString(`{"id":` + Quote(o.ID) + `,"kind":` + Quote(o.Kind) + `,"payload":`)
	b.WriteString(payload)
	if o.Ref != nil {
		b.WriteString(`,"ref":` + Quote(*o.Ref))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// NewID returns a fresh version 4 UUID in lower case.
func NewID() string { return uuid.NewString() }

// Pad returns a valid envelope of exactly size bytes, whose payload is
// {"padding":"aaa…"}. It panics when size is too small for that: ask for more.
func Pad(id, kind string, size int) []byte {
	frame := Outgoing{ID: id, Kind: kind, Payload: `{"padding":""}`}.Bytes()
	missing := size - len(frame)
	if missing < 0 {
		panic(fmt.Sprintf("wire.Pad: an envelope with this id and kind needs at least %d bytes, not %d", len(frame), size))
	}
	const tail = `"}}`
	head := frame[:len(frame)-len(tail)]
	out := make([]byte, 0, size)
	out = append(out, head...)
	out = append(out, bytes.Repeat([]byte("a"), missing)...)
	return append(out, tail...)
}
