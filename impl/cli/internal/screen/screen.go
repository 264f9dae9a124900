// Package screen prepares text for people and programs: what came from the
// network cannot act on a terminal, tables line up, and colours appear on a
// terminal only.
//
// It imports no package of this module. It serves AXON-CLI-011 and -012.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Terminal tells whether w is one.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Coloured tells whether colours are wanted on w: it is a terminal that knows
// them, and NO_COLOR is not set.
func Coloured(w io.Writer) bool {
	return Terminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Colour is a way to set text off from other text.
type Colour string

// The colours in use.
const (
	Plain  Colour = ""
	Bold   Colour = "1"
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
	Faint  Colour = "2"
)

// Paint returns text in a colour, or as it is when on is false.
func Paint(on bool, c Colour, text string) string {
	if !on || c == Plain {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// harmless tells whether a character can be shown: not a control character, none
// that changes the direction of text, none that is invisible.
func harmless(r rune) bool {
	return r == ' ' || unicode.IsPrint(r)
}

// Escape returns text on one line, with whatever a terminal could act on written
// as an escape sequence. What is not UTF-8 becomes \x escapes.
func Escape(text string) string { return escape(text, false) }

// EscapeLines is Escape for text of several lines: line feeds and tabs stay.
func EscapeLines(text string) string { return escape(text, true) }

func escape(text string, lines bool) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case harmless(r), lines && (r == '\n' || r == '\t'):
			b.WriteString(text[:size])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return b.String()
}

// JSON returns valid JSON text with the same meaning on one line in which a
// terminal finds nothing to act on.
func JSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\n' || r == '\r' || r == '\t': // between tokens; inside strings JSON has them escaped
			out = append(out, ' ')
		case harmless(r):
			out = append(out, text[:size]...)
		case r > 0xffff:
			// A pair of surrogates.
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}
