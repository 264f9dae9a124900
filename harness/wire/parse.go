package wire

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may be nested. Reading recurses, and
// this bound keeps the stack it needs within a few megabytes.
const MaxDepth = 20000

const byteOrderMark = "\xEF\xBB\xBF"

// Parse reads exactly one JSON value (RFC 8259) with nothing but JSON white
// space around it. It refuses a byte order mark, invalid UTF-8 and nesting
// beyond MaxDepth. Errors are *SyntaxError.
func Parse(b []byte) (Value, error) {
	v, rest, err := ParsePrefix(b)
	if err != nil {
		return Value{}, err
	}
	if extra := trimSpace(rest); len(extra) > 0 {
		return Value{}, &SyntaxError{len(b) - len(extra), "more follows the value; send one value alone"}
	}
	return v, nil
}

// ParsePrefix reads the first JSON value, white space before it included, and
// returns what follows it. What follows is not looked at. A number at the very
// end of the input counts as whole. Errors are *SyntaxError.
func ParsePrefix(b []byte) (v Value, rest []byte, err error) {
	return parsePrefix(b, false)
}

// parsePrefix is ParsePrefix; looseUTF8 lets invalid UTF-8 inside strings pass
// as it is, so that the rest of a faulty envelope can still be described.
func parsePrefix(b []byte, looseUTF8 bool) (Value, []byte, error) {
	if bytes.HasPrefix(b, []byte(byteOrderMark)) {
		return Value{}, b, &SyntaxError{0, "a byte order mark stands before the value; leave it out"}
	}
	r := reader{in: b, looseUTF8: looseUTF8}
	r.space()
	v, err := r.value(0)
	if err != nil {
		return Value{}, b, err
	}
	return v, b[r.at:], nil
}

// reader walks over the input; at is the offset of the next byte.
type reader struct {
	in        []byte
	at        int
	looseUTF8 bool
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

func (r *reader) space() {
	for r.at < len(r.in) && isSpace(r.in[r.at]) {
		r.at++
	}
}

// peek returns the next byte, or 0 at the end; a NUL byte is legal nowhere, so
// the two need not be told apart except in messages.
func (r *reader) peek() byte {
	if r.at < len(r.in) {
		return r.in[r.at]
	}
	return 0
}

func (r *reader) fail(wanted string) error {
	if r.at >= len(r.in) {
		return &SyntaxError{r.at, "the input ends where " + wanted + " should stand"}
	}
	c, size := utf8.DecodeRune(r.in[r.at:])
	if c == utf8.RuneError && size == 1 {
		return &SyntaxError{r.at, fmt.Sprintf("byte %#02x stands where %s should", r.in[r.at], wanted)}
	}
	return &SyntaxError{r.at, fmt.Sprintf("%q stands where %s should", c, wanted)}
}

func (r *reader) value(depth int) (Value, error) {
	start := r.at
	v := Value{}
	var err error
	switch c := r.peek(); {
	case c == '{' || c == '[':
		if depth >= MaxDepth {
			return v, &SyntaxError{r.at, fmt.Sprintf("nested deeper than %d levels", MaxDepth)}
		}
		if c == '{' {
			v.Kind = Object
			v.Object, err = r.object(depth + 1)
		} else {
			v.Kind = Array
			v.Array, err = r.array(depth + 1)
		}
	case c == '"':
		v.Kind = String
		v.String, v.LoneSurrogate, err = r.text()
	case c == '-' || c >= '0' && c <= '9':
		v.Kind = Number
		err = r.number()
		v.Number = string(r.in[start:r.at])
	case c == 't':
		v.Kind, v.Bool = Bool, true
		err = r.literal("true")
	case c == 'f':
		v.Kind = Bool
		err = r.literal("false")
	case c == 'n':
		v.Kind = Null
		err = r.literal("null")
	default:
		err = r.fail("a value")
	}
	if err != nil {
		return Value{}, err
	}
	v.Raw = r.in[start:r.at:r.at]
	return v, nil
}

func (r *reader) literal(word string) error {
	for i := range len(word) {
		if r.peek() != word[i] {
			return r.fail("the word " + word)
		}
		r.at++
	}
	return nil
}

func (r *reader) array(depth int) ([]Value, error) {
	r.at++ // the bracket
	r.space()
	items := []Value{}
	if r.peek() == ']' {
		r.at++
		return items, nil
	}
	for {
		item, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		r.space()
		switch r.peek() {
		case ',':
			r.at++
			r.space()
		case ']':
			r.at++
			return items, nil
		default:
			return nil, r.fail("a comma or the array's end")
		}
	}
}

func (r *reader) object(depth int) ([]Member, error) {
	r.at++ // the brace
	r.space()
	members := []Member{}
	if r.peek() == '}' {
		r.at++
		return members, nil
	}
	for {
		if r.peek() != '"' {
			return nil, r.fail("a member's name")
		}
		name, _, err := r.text()
		if err != nil {
			return nil, err
		}
		r.space()
		if r.peek() != ':' {
			return nil, r.fail("a colon")
		}
		r.at++
		r.space()
		value, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		members = append(members, Member{name, value})
		r.space()
		switch r.peek() {
		case ',':
			r.at++
			r.space()
		case '}':
			r.at++
			return members, nil
		default:
			return nil, r.fail("a comma or the object's end")
		}
	}
}

func (r *reader) digits() error {
	if c := r.peek(); c < '0' || c > '9' {
		return r.fail("a digit")
	}
	for c := r.peek(); c >= '0' && c <= '9'; c = r.peek() {
		r.at++
	}
	return nil
}

func (r *reader) number() error {
	if r.peek() == '-' {
		r.at++
	}
	if r.peek() == '0' {
		r.at++
		if c := r.peek(); c >= '0' && c <= '9' {
			return r.fail("the end of a number that begins with 0")
		}
	} else if err := r.digits(); err != nil {
		return err
	}
	if r.peek() == '.' {
		r.at++
		if err := r.digits(); err != nil {
			return err
		}
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		r.at++
		if c := r.peek(); c == '+' || c == '-' {
			r.at++
		}
		return r.digits()
	}
	return nil
}
