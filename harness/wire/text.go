package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// text reads a string, its quotes included, and decodes it.
func (r *reader) text() (decoded string, lone bool, err error) {
	r.at++ // the quote
	start := r.at
	for r.at < len(r.in) && plain(r.in[r.at]) {
		r.at++
	}
	if r.peek() == '"' { // the common case: ASCII without escapes
		r.at++
		return string(r.in[start : r.at-1]), false, nil
	}
	out := append([]byte(nil), r.in[start:r.at]...)
	for {
		switch c := r.peek(); {
		case r.at >= len(r.in):
			return "", false, r.fail("the end of a string")
		case c == '"':
			r.at++
			return string(out), lone, nil
		case c == '\\':
			var one bool
			if out, one, err = r.escape(out); err != nil {
				return "", false, err
			}
			lone = lone || one
		case c < 0x20:
			return "", false, &SyntaxError{r.at, fmt.Sprintf("control character %#02x inside a string; escape it", c)}
		case c < utf8.RuneSelf:
			out = append(out, c)
			r.at++
		default:
			char, size := utf8.DecodeRune(r.in[r.at:])
			if char == utf8.RuneError && size == 1 && !r.looseUTF8 {
				return "", false, &SyntaxError{r.at, fmt.Sprintf("byte %#02x is not UTF-8", c)}
			}
			out = append(out, r.in[r.at:r.at+size]...)
			r.at += size
		}
	}
}

func plain(c byte) bool { return c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' }

var shortEscapes = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape decodes the escape at hand onto out. A surrogate without its other
// half is appended in the three bytes that UTF-8 would give it (WTF-8).
func (r *reader) escape(out []byte) (_ []byte, lone bool, err error) {
	r.at++ // the backslash
	c := r.peek()
	if c != 'u' {
		short, ok := shortEscapes[c]
		if !ok {
			return nil, false, r.fail("an escape's letter")
		}
		r.at++
		return append(out, short), false, nil
	}
	r.at++
	unit, err := r.hex4()
	if err != nil {
		return nil, false, err
	}
	if unit < 0xD800 || unit > 0xDFFF {
		return utf8.AppendRune(out, rune(unit)), false, nil
	}
	if unit < 0xDC00 && r.peek() == '\\' && r.at+1 < len(r.in) && r.in[r.at+1] == 'u' {
		back := r.at
		r.at += 2
		low, err := r.hex4()
		if err != nil {
			return nil, false, err
		}
		if low >= 0xDC00 && low <= 0xDFFF {
			return utf8.AppendRune(out, rune(0x10000+(unit-0xD800)<<10+(low-0xDC00))), false, nil
		}
		r.at = back // an escape of its own
	}
	return append(out, byte(0xE0|unit>>12), byte(0x80|unit>>6&0x3F), byte(0x80|unit&0x3F)), true, nil
}

func (r *reader) hex4() (uint32, error) {
	var unit uint32
	for range 4 {
		var digit byte
		switch c := r.peek(); {
		case c >= '0' && c <= '9':
			digit = c - '0'
		case c >= 'a' && c <= 'f':
			digit = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			digit = c - 'A' + 10
		default:
			return 0, r.fail("a hexadecimal digit")
		}
		unit = unit<<4 | uint32(digit)
		r.at++
	}
	return unit, nil
}

// Quote writes s as a JSON string. Lone surrogates in WTF-8, as Value.String
// keeps them, become escapes again. Other bytes that are not UTF-8 are written
// as they are: the result is then deliberately not JSON.
func Quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20:
			fmt.Fprintf(&b, "\\u%04x", c)
		case c == 0xED && i+2 < len(s) && s[i+1] >= 0xA0 && s[i+1] <= 0xBF && s[i+2]&0xC0 == 0x80:
			fmt.Fprintf(&b, "\\u%04x", 0xD000|uint32(s[i+1]&0x3F)<<6|uint32(s[i+2]&0x3F))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
