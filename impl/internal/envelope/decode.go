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
	var m members
	if err := Members(body, m.take); err != nil {
		return Envelope{}, &MalformedError{err.Error()}
	}
	return m.envelope()
}

// Members walks the members of the one JSON object that text holds and calls
// visit with each name and its raw value, which share memory with text, in
// their order. Names may come twice, and inside the values whatever is JSON
// passes. An error of visit ends the walk. Members before a fault in the JSON
// have been visited when it is found. That text is UTF-8 is the caller's to
// check.
func Members(text []byte, visit func(name, value []byte) error) error {
	s := scanners.Get().(*scanner)
	defer s.release()
	s.body = text
	return s.object(visit)
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

func (m *members) take(name, value []byte) error {
	field := m.field(name)
	if field == nil {
		return nil
	}
	if *field != nil {
		return fmt.Errorf("the member %q comes twice", name)
	}
	*field = value
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
	if e.ID, ok = ParseUUID(Text(m.id)); !ok {
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
		if e.Ref, e.HasRef = ParseUUID(Text(m.ref)); !e.HasRef {
			return invalid(`"ref" is not a UUID in the hyphenated form; send the id of the envelope meant, or leave "ref" out`)
		}
	}
	e.setKind(m.kind)
	e.Payload = m.payload
	return e, nil
}

func (e *Envelope) setKind(raw []byte) {
	text := Text(raw)
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

// Text returns the text of a JSON string already known to be valid. A lone
// surrogate becomes the replacement character. It may share memory with raw.
func Text(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, raw)
	return text
}

// ParseUUID reads a UUID in the hyphenated form, in either case. The library
// also knows others, which are not taken.
func ParseUUID(text []byte) (uuid.UUID, bool) {
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

func (s *scanner) object(visit func(name, value []byte) error) error {
	if s.next() != '{' {
		return errors.New("it does not begin with a JSON object")
	}
	s.pos++
	if s.next() == '}' {
		s.pos++
		return s.end()
	}
	for {
		if err := s.member(visit); err != nil {
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

func (s *scanner) member(visit func(name, value []byte) error) error {
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
	value, err := s.value()
	if err != nil {
		return err
	}
	return visit(Text(name), value)
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
