package envelope

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// MalformedError reports bytes that are no envelope and cannot be answered
// with a reference: the stream is reset.
type MalformedError struct{ Reason string }

func (e *MalformedError) Error() string { return "malformed envelope: " + e.Reason }

// InvalidError reports an envelope that is whole but breaks a rule. Its id is
// known, so that the sender can be told which one it was.
type InvalidError struct {
	ID     uuid.UUID // as received: it may be nil or of another version
	Reason string    // for the sender: what is wrong and what to send instead
}

func (e *InvalidError) Error() string { return "invalid envelope: " + e.Reason }

var errEnd = errors.New("the JSON ends too early")

// Decode reads a body of at most MaxSize bytes. The envelope shares memory with
// it. The error is a *MalformedError or an *InvalidError.
//
// Names must match exactly. Members other than id, kind, payload and ref need
// only be JSON; they are skipped, whatever they hold. Inside the payload
// duplicate names and lone surrogate escapes pass: they are JSON, and the
// payload is the application's.
func Decode(body []byte) (Envelope, error) {
	if !utf8.Valid(body) {
		return Envelope{}, &MalformedError{"it holds bytes that are not UTF-8"}
	}
	s := scanners.Get().(*scanner)
	defer s.release()
	s.body = body
	var m members
	if err := s.object(&m); err != nil {
		return Envelope{}, &MalformedError{err.Error()}
	}
	return m.envelope()
}

// members are the raw values found; nil means absent.
type members struct{ id, kind, payload, ref []byte }

// field returns where the value of a member goes, nil for one to be skipped.
func (m *members) field(name []byte) *[]byte {
	switch string(name) {
	case "id":
		return &m.id
	case "kind":
		return &m.kind
	case "payload":
		return &m.payload
	case "ref":
		return &m.ref
	}
	return nil
}

func (m *members) envelope() (Envelope, error) {
	malformed := func(reason string) (Envelope, error) { return Envelope{}, &MalformedError{reason} }
	switch {
	case m.id == nil:
		return malformed(`there is no "id"`)
	case m.kind == nil:
		return malformed(`there is no "kind"`)
	case m.payload == nil:
		return malformed(`there is no "payload"`)
	case m.id[0] != '"':
		return malformed(`"id" is not a string`)
	case m.kind[0] != '"':
		return malformed(`"kind" is not a string`)
	case m.ref != nil && m.ref[0] != '"' && m.ref[0] != 'n':
		return malformed(`"ref" is neither a string nor null`)
	}

	var e Envelope
	var ok bool
	if e.ID, ok = parseUUID(unquote(m.id)); !ok {
		return malformed(`"id" is not a UUID in the hyphenated form`)
	}
	invalid := func(reason string) (Envelope, error) { return Envelope{}, &InvalidError{e.ID, reason} }
	switch {
	case e.ID == uuid.Nil:
		return invalid(`"id" is the nil UUID; send a fresh version 4 UUID for each envelope`)
	case e.ID.Version() != 4 || e.ID.Variant() != uuid.RFC4122:
		return invalid(`"id" is not a version 4 UUID of the RFC 9562 variant; send a fresh random one for each envelope`)
	case m.payload[0] != '{':
		return invalid(`"payload" is not a JSON object; wrap the value in one`)
	}
	if m.ref != nil && m.ref[0] == '"' {
		if e.Ref, e.HasRef = parseUUID(unquote(m.ref)); !e.HasRef {
			return invalid(`"ref" is not a UUID in the hyphenated form; send the id of the envelope meant, or leave "ref" out`)
		}
	}
	e.setKind(m.kind)
	e.Payload = m.payload
	return e, nil
}

func (e *Envelope) setKind(raw []byte) {
	text := unquote(raw)
	// Constants spare the common kinds an allocation.
	switch string(text) {
	case string(Request):
		e.Kind = Request
	case string(Response):
		e.Kind = Response
	case string(Message):
		e.Kind = Message
	case string(Error):
		e.Kind = Error
	default:
		e.Kind, e.RawKind = Kind(text), raw
	}
}

// unquote returns the text of a JSON string already known to be valid. A lone
// surrogate becomes the replacement character.
func unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, raw)
	return text
}

// parseUUID takes the 36-character form only; the library also knows others.
func parseUUID(text []byte) (uuid.UUID, bool) {
	if len(text) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.ParseBytes(text)
	return id, err == nil
}

// scanner walks the outer object itself and leaves each value to jsontext. A
// decoder set upon the whole body would count the outer object as a level of
// the payload, and has no way to allow duplicate names at one level only.
type scanner struct {
	body    []byte
	pos     int
	reader  bytes.Buffer
	decoder jsontext.Decoder
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// lenient lets through what JSON allows and the envelope does not forbid.
// AllowInvalidUTF8 is about lone surrogate escapes here: the bytes themselves
// have been checked by then.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func (s *scanner) release() {
	s.body, s.pos = nil, 0
	s.reader = bytes.Buffer{}
	s.decoder.Reset(&s.reader)
	scanners.Put(s)
}

func (s *scanner) object(m *members) error {
	if s.next() != '{' {
		return errors.New("it does not begin with a JSON object")
	}
	s.pos++
	if s.next() == '}' {
		s.pos++
		return s.end()
	}
	for {
		if err := s.member(m); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return s.end()
		case 0:
			return errEnd
		default:
			return fmt.Errorf("offset %d: expected a comma or the end of the object", s.pos)
		}
	}
}

func (s *scanner) member(m *members) error {
	if s.next() != '"' {
		return fmt.Errorf("offset %d: expected the name of a member", s.pos)
	}
	name, err := s.value()
	if err != nil {
		return err
	}
	if s.next() != ':' {
		return fmt.Errorf("offset %d: expected a colon", s.pos)
	}
	s.pos++
	s.next()
	field := m.field(unquote(name))
	if field != nil && *field != nil {
		return fmt.Errorf("offset %d: the member %s comes twice", s.pos, name)
	}
	value, err := s.value()
	if err != nil {
		return err
	}
	if field != nil {
		*field = value
	}
	return nil
}

// end checks that only white space follows.
func (s *scanner) end() error {
	if s.next(); s.pos != len(s.body) {
		return fmt.Errorf("offset %d: something follows the object", s.pos)
	}
	return nil
}

// next skips white space and returns the byte there, 0 at the end.
func (s *scanner) next() byte {
	for ; s.pos < len(s.body); s.pos++ {
		switch c := s.body[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// value reads the JSON value at pos.
func (s *scanner) value() ([]byte, error) {
	start := s.pos
	if n := plainString(s.body[start:]); n > 0 {
		s.pos += n
		return s.body[start:s.pos:s.pos], nil
	}
	s.reader = *bytes.NewBuffer(s.body[start:])
	s.decoder.Reset(&s.reader, lenient...)
	if _, err := s.decoder.ReadValue(); err != nil {
		return nil, fmt.Errorf("after offset %d: %w", start, err)
	}
	s.pos += int(s.decoder.InputOffset())
	return s.body[start:s.pos:s.pos], nil
}

// plainString returns the length of the string that b begins with when it has
// no escape in it, and 0 when the full reader has to look.
func plainString(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\' || c < ' ':
			return 0
		}
	}
	return 0
}
