package client

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Code says why the daemon refused a command.
type Code string

// The codes of the local API.
const (
	CodeInvalidCommand  Code = "invalid_command"
	CodeCommandTooLarge Code = "command_too_large"
	CodePeerNotFound    Code = "peer_not_found"
	CodePeerConflict    Code = "peer_conflict"
	CodeSelfSend        Code = "self_send"
	CodePeerUnreachable Code = "peer_unreachable"
	CodeTimeout         Code = "timeout"
	CodeMessageTooLarge Code = "message_too_large"
	CodeHandlerBusy     Code = "handler_busy"
	CodeNotHandler      Code = "not_handler"
	CodeRequestNotFound Code = "request_not_found"
	CodeOverloaded      Code = "overloaded"
	CodeInternalError   Code = "internal_error"
)

// Error is a refusal by the daemon. Two of them are the same to errors.Is when
// their codes are.
type Error struct {
	Code    Code
	Message string // says what to do next; made by the daemon
}

func (e *Error) Error() string {
	if e.Message == "" {
		return string(e.Code)
	}
	return e.Message
}

// Is reports whether target is a refusal with the same code.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// Refusals to compare with by errors.Is.
var (
	ErrInvalidCommand  = &Error{Code: CodeInvalidCommand}
	ErrCommandTooLarge = &Error{Code: CodeCommandTooLarge}
	ErrPeerNotFound    = &Error{Code: CodePeerNotFound}
	ErrPeerConflict    = &Error{Code: CodePeerConflict}
	ErrSelfSend        = &Error{Code: CodeSelfSend}
	ErrPeerUnreachable = &Error{Code: CodePeerUnreachable}
	ErrTimeout         = &Error{Code: CodeTimeout}
	ErrMessageTooLarge = &Error{Code: CodeMessageTooLarge}
	ErrHandlerBusy     = &Error{Code: CodeHandlerBusy}
	ErrNotHandler      = &Error{Code: CodeNotHandler}
	ErrRequestNotFound = &Error{Code: CodeRequestNotFound}
	ErrOverloaded      = &Error{Code: CodeOverloaded}
	ErrInternal        = &Error{Code: CodeInternalError}
)

var (
	// ErrNoDaemon reports that no daemon listens on the socket.
	ErrNoDaemon = errors.New("no daemon is running")
	// ErrClosed reports that the connection to the daemon has ended.
	ErrClosed = errors.New("connection to the daemon is closed; dial again")
	// ErrLagging ends an EventStream that was not read fast enough.
	ErrLagging = errors.New("events came faster than they were read; read them in a goroutine of their own")
	// ErrBadPayload reports a payload that is no JSON object.
	ErrBadPayload = errors.New(`payload is not a JSON object; give one such as {"message":"hello"}`)
)

// RemoteError is an error with which the other agent, or its daemon, answered a
// request.
type RemoteError struct {
	Envelope Envelope
	// Code, Message and Retryable are those members of the payload that follow
	// the convention for error payloads; the others are zero.
	Code      string
	Message   string
	Retryable bool
}

func (e *RemoteError) Error() string {
	switch {
	case e.Code != "" && e.Message != "":
		return fmt.Sprintf("the peer answered with the error %s: %s", e.Code, e.Message)
	case e.Code != "" || e.Message != "":
		return "the peer answered with the error " + e.Code + e.Message
	}
	return "the peer answered with an error of its own form; look at the payload"
}

func remoteError(e Envelope) *RemoteError {
	out := &RemoteError{Envelope: e}
	// Member by member: one of an unexpected type does not hide the others.
	var members map[string]json.RawMessage
	if json.Unmarshal(e.Payload, &members) == nil {
		_ = json.Unmarshal(members["code"], &out.Code)
		_ = json.Unmarshal(members["message"], &out.Message)
		_ = json.Unmarshal(members["retryable"], &out.Retryable)
	}
	return out
}
