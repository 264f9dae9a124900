package fuzz

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text writes the body as a step of a feature file has it: what can be read as it is,
// the id as «id», long repetitions and other bytes as placeholders.
func (in Input) text() string {
	if in.ID == "" {
		return plainText(in.Body)
	}
	upper := strings.ToUpper(in.ID)
	var b strings.Builder
	rest := string(in.Body)
	for {
		at, name, n := strings.Index(rest, in.ID), "«id»", len(in.ID)
		if other := strings.Index(rest, upper); upper != in.ID && other >= 0 && (at < 0 || other < at) {
			at, name = other, "«id in upper case»"
		}
		if at < 0 {
			break
		}
		b.WriteString(plainText([]byte(rest[:at])) + name)
		rest = rest[at+n:]
	}
	return b.String() + plainText([]byte(rest))
}

const (
	// longestUnit is the longest text whose repetition is looked for.
	longestUnit = 12
	// fewest is the number of bytes from which on a repetition is shortened.
	fewest = 40
)

func plainText(b []byte) string {
	var out strings.Builder
	var odd []byte
	flush := func() {
		if len(odd) > 0 {
			fmt.Fprintf(&out, "«hex % x»", odd)
			odd = nil
		}
	}
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if unit, n := repeated(b[i:]); n > 0 {
			flush()
			switch {
			case unit == " ":
				fmt.Fprintf(&out, "«%d spaces»", n)
			case allReadable(unit) && unit == strings.TrimSpace(unit):
				fmt.Fprintf(&out, "«%d times %s»", n, unit)
			default:
				fmt.Fprintf(&out, "«hex % x, %d times»", unit, n)
			}
			i += n * len(unit)
			continue
		}
		// A space at either end would be lost where the step is read.
		edge := r == ' ' && (i == 0 || i == len(b)-1 || b[i-1] == ' ')
		if edge || !readable(r, size) {
			odd = append(odd, b[i:i+size]...)
		} else {
			flush()
			out.WriteRune(r)
		}
		i += size
	}
	flush()
	return out.String()
}

func readable(r rune, size int) bool {
	return (r != utf8.RuneError || size > 1) && r != '«' && r != '»' && (r == ' ' || unicode.IsPrint(r))
}

func allReadable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !readable(r, utf8.RuneLen(r)) })
}

// repeated finds what b begins with many times over.
func repeated(b []byte) (unit string, times int) {
	for n := 1; n <= longestUnit && 2*n <= len(b); n++ {
		times := 1
		for (times+1)*n <= len(b) && string(b[times*n:(times+1)*n]) == string(b[:n]) {
			times++
		}
		if times*n >= fewest && times >= 4 {
			return string(b[:n]), times
		}
	}
	return "", 0
}
