package ipc

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/axonproto/axon/impl/internal/dispatch"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/links"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/transport"
)

// Codes of the errors that clients are told.
const (
	codeInvalid         = "invalid_command"
	codeTooLarge        = "command_too_large"
	codePeerNotFound    = "peer_not_found"
	codePeerConflict    = "peer_conflict"
	codeSelfSend        = "self_send"
	codeUnreachable     = "peer_unreachable"
	codeTimeout         = "timeout"
	codeMessageTooLarge = "message_too_large"
	codeHandlerBusy     = "handler_busy"
	codeNotHandler      = "not_handler"
	codeRequestNotFound = "request_not_found"
	codeOverloaded      = "overloaded"
	codeInternal        = "internal_error"
)

// codes is the one table from errors to codes; the first that fits counts.
var codes = []struct {
	err  error
	code string
}{
	{links.ErrUnknown, codePeerNotFound},
	{links.ErrCandidate, codePeerNotFound},
	{transport.ErrNotPinned, codePeerNotFound},
	{peers.ErrConflict, codePeerConflict},
	{peers.ErrFull, codeOverloaded},
	{peers.ErrSelf, codeInvalid},
	{identity.ErrBadToken, codeInvalid},
	{identity.ErrBadPublicKey, codeInvalid},
	{transport.ErrTooLarge, codeMessageTooLarge},
	{transport.ErrConnLimit, codeOverloaded},
	{transport.ErrClosed, codeInternal},
	{dispatch.ErrHandlerBusy, codeHandlerBusy},
	{dispatch.ErrNotHandler, codeNotHandler},
	{dispatch.ErrRequestNotFound, codeRequestNotFound},
	{dispatch.ErrAmbiguous, codeInvalid},
	{dispatch.ErrTooLarge, codeMessageTooLarge},
	{dispatch.ErrBadKind, codeInvalid},
	{context.Canceled, codeInternal},
	{links.ErrNoAddr, codeUnreachable},
	{transport.ErrNotConnected, codeUnreachable},
	{transport.ErrPeer, codeUnreachable},
}

// failed gives the failure for an error, with other for one not in the table.
func failed(err error, other string) *failure {
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return &failure{c.code, err.Error()}
		}
	}
	return &failure{other, err.Error()}
}

// reply is something to answer a command with.
type reply interface {
	// line returns the whole line, with the newline.
	line(reqID []byte) []byte
}

// failure is an answer that says no.
type failure struct{ code, text string }

func fail(code, format string, args ...any) *failure {
	return &failure{code, fmt.Sprintf(format, args...)}
}

func (f *failure) line(reqID []byte) []byte {
	b := append([]byte(`{"ok":false,"error":"`), f.code...)
	b = append(b, `","message":`...)
	b = envelope.AppendString(b, f.text)
	return endLine(b, reqID)
}

// answer is an answer that says yes; its methods add members.
type answer struct{ b []byte }

func yes() *answer { return &answer{[]byte(`{"ok":true`)} }

func (a *answer) line(reqID []byte) []byte {
	line := endLine(a.b, reqID)
	if len(line)-1 > MaxLine {
		return fail(codeInternal, "the answer has %d bytes, more than fit in a line; report this as a fault of the daemon", len(line)-1).line(reqID)
	}
	return line
}

func endLine(b, reqID []byte) []byte {
	if reqID != nil {
		b = append(b, `,"req_id":`...)
		b = append(b, reqID...)
	}
	return append(b, '}', '\n')
}

func (a *answer) raw(name string, value []byte) *answer {
	a.b = append(a.b, ',', '"')
	a.b = append(a.b, name...)
	a.b = append(a.b, '"', ':')
	a.b = append(a.b, value...)
	return a
}

func (a *answer) text(name, value string) *answer {
	return a.raw(name, envelope.AppendString(nil, value))
}

func (a *answer) number(name string, value int64) *answer {
	return a.raw(name, strconv.AppendInt(nil, value, 10))
}

func (a *answer) uuid(name string, id uuid.UUID) *answer {
	b := envelope.AppendUUID([]byte{'"'}, id)
	return a.raw(name, append(b, '"'))
}

// unbreak makes one line of a JSON text: line breaks stand between its values
// only, never in a string.
func unbreak(text []byte) {
	for i, c := range text {
		if c == '\n' || c == '\r' {
			text[i] = ' '
		}
	}
}

// appendEnvelope adds an envelope as clients see it: with from and to, which
// come from the connection and are never on the wire.
func appendEnvelope(b []byte, e *envelope.Envelope, from, to identity.AgentID) []byte {
	b = append(b, `{"id":"`...)
	b = envelope.AppendUUID(b, e.ID)
	b = append(b, `","kind":`...)
	b = e.AppendKind(b)
	b = append(b, `,"from":"`...)
	b = append(b, from...)
	b = append(b, `","to":"`...)
	b = append(b, to...)
	b = append(b, `","payload":`...)
	start := len(b)
	b = append(b, e.Payload...)
	unbreak(b[start:])
	if e.HasRef {
		b = append(b, `,"ref":"`...)
		b = envelope.AppendUUID(b, e.Ref)
		b = append(b, '"')
	}
	return append(b, '}')
}
