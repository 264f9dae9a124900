package wire

// Outgoing is an envelope to be written.
type Outgoing struct {
	ID, Kind string
	Payload  string  // raw JSON, written as it is; "": {}
	Ref      *string // nil: left out
}

// Bytes writes the envelope compactly, in the order id, kind, payload, ref.
func (o Outgoing) Bytes() []byte { return nil }

// NewID returns a fresh version 4 UUID in lower case.
func NewID() string { return "" }

// Pad returns a valid envelope of exactly size bytes, whose payload is
// {"padding":"aaa…"}. It panics when size is too small for that.
func Pad(id, kind string, size int) []byte { return nil }
