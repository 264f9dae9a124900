package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	// maxCommand is the daemon's limit for a line that it is sent, in bytes,
	// without the line feed.
	maxCommand = 131072
	// maxAnswer bounds what is kept of a line from the daemon. It is far above
	// what the daemon promises to keep to.
	maxAnswer = 8 << 20
)

// Kind says what an envelope is for. Other texts than the four come from peers
// that speak a later edition of the protocol.
type Kind string

// The kinds of AXON.
const (
	KindRequest  Kind = "request"
	KindResponse Kind = "response"
	KindMessage  Kind = "message"
	KindError    Kind = "error"
)

// Envelope is one AXON message. From and To are set by the local daemon, from
// the proven identity of the connection; they never come from the network.
type Envelope struct {
	ID      string          `json:"id"`
	Kind    Kind            `json:"kind"`
	Payload json.RawMessage `json:"payload"`       // a JSON object, as the bytes that came
	Ref     string          `json:"ref,omitempty"` // id of the message referred to
	From    string          `json:"from,omitempty"`
	To      string          `json:"to,omitempty"`
}

// head is what all lines from the daemon have in common.
type head struct {
	OK      *bool   `json:"ok"`
	ReqID   *string `json:"req_id"`
	Event   string  `json:"event"`
	Error   Code    `json:"error"`
	Message string  `json:"message"`
}

// command is the shape of all commands; each uses some of the members.
type command struct {
	Cmd       string          `json:"cmd"`
	ReqID     string          `json:"req_id"`
	To        string          `json:"to,omitempty"`
	Kind      Kind            `json:"kind,omitempty"`
	Payload   json.RawMessage `json:"payload,omitempty"`
	Ref       string          `json:"ref,omitempty"`
	Timeout   int             `json:"timeout_secs,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	Peer      string          `json:"peer,omitempty"`
	Token     string          `json:"token,omitempty"`
	PublicKey string          `json:"pubkey,omitempty"`
	Addr      string          `json:"addr,omitempty"`
	AgentID   string          `json:"agent_id,omitempty"`
}

// encode returns the line of a command, line feed included.
func (c command) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	// Payloads pass as they are, but for white space between their parts.
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Cmd, err)
	}
	if b.Len() > maxCommand+1 {
		return nil, fmt.Errorf("%s: %w", c.Cmd, &Error{Code: CodeMessageTooLarge,
			Message: fmt.Sprintf("the command is larger than the %d bytes that the daemon takes; send a smaller payload", maxCommand)})
	}
	return b.Bytes(), nil
}

// CheckPayload tells whether payload is a JSON object in UTF-8, as each payload
// has to be; the error wraps ErrBadPayload.
func CheckPayload(payload json.RawMessage) error {
	trimmed := bytes.TrimLeft(payload, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(payload) {
		return ErrBadPayload
	}
	if !utf8.Valid(payload) {
		return fmt.Errorf("%w, encoded in UTF-8", ErrBadPayload)
	}
	return nil
}

var errLongLine = errors.New("the daemon sent a line that is too long; use a client and a daemon of the same version")

// readLine returns the next line without its end. The result is valid until the
// next call.
func readLine(r *bufio.Reader, held []byte) ([]byte, error) {
	held = held[:0]
	for {
		part, err := r.ReadSlice('\n')
		if len(held)+len(part) > maxAnswer {
			return held, errLongLine
		}
		held = append(held, part...)
		switch {
		case err == nil:
			return bytes.TrimRight(held, "\r\n"), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(held) > 0:
			return held, io.ErrUnexpectedEOF
		default:
			return held, err
		}
	}
}
