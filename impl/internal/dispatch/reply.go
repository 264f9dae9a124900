package dispatch

import (
	"github.com/google/uuid"

	"github.com/axonproto/axon/impl/internal/envelope"
)

// Codes of the errors that the daemon itself puts on the wire.
const (
	CodeUnhandled       = "unhandled"
	CodeInvalidEnvelope = "invalid_envelope"
	CodeOverloaded      = "overloaded"
	CodeTimeout         = "timeout"
)

// appendError adds an error reply to dst.
func appendError(dst []byte, ref uuid.UUID, code, text string, retryable bool) []byte {
	dst = appendHead(dst, code)
	dst = envelope.AppendString(dst, text)
	return appendTail(dst, ref, retryable)
}

// appendDefaultError adds the default error to dst. It spares the quoting: the
// text holds nothing that JSON escapes.
func appendDefaultError(dst []byte, ref uuid.UUID) []byte {
	dst = appendHead(dst, CodeUnhandled)
	dst = append(dst, `"no application handler registered for request '`...)
	dst = envelope.AppendUUID(dst, ref)
	dst = append(dst, `'"`...)
	return appendTail(dst, ref, false)
}

func appendHead(dst []byte, code string) []byte {
	dst = append(dst, `{"id":"`...)
	dst = envelope.AppendUUID(dst, uuid.New())
	dst = append(dst, `","kind":"error","payload":{"code":"`...)
	dst = append(dst, code...)
	return append(dst, `","message":`...)
}

func appendTail(dst []byte, ref uuid.UUID, retryable bool) []byte {
	if retryable {
		dst = append(dst, `,"retryable":true},"ref":"`...)
	} else {
		dst = append(dst, `,"retryable":false},"ref":"`...)
	}
	dst = envelope.AppendUUID(dst, ref)
	return append(dst, `"}`...)
}
