package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine bounds how much of an event's data Line shows, in bytes; the JSON form
// keeps what the transcript holds.
const maxLine = 512

// Line is the event as one line of text without a line end. Everything that came
// from the target is shown as printable characters.
func (e Event) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%9.1fms  c%d", e.AtMS, e.Connection)
	if e.Stream >= 0 {
		fmt.Fprintf(&b, " s%-4d", e.Stream)
	} else {
		b.WriteString("      ")
	}
	fmt.Fprintf(&b, "  %-8s  %s", e.Direction, e.Event)
	if e.Bytes > 0 {
		fmt.Fprintf(&b, " %d B", e.Bytes)
	}
	if e.Code != 0 || coded(e.Event) {
		fmt.Fprintf(&b, " code 0x%x", e.Code)
	}
	if e.Fin && e.Event != "fin" {
		b.WriteString(" FIN")
	}
	switch {
	case e.Text != "":
		b.WriteString("  " + cut(Printable(e.Text), maxLine))
	case e.Hex != "":
		b.WriteString("  hex " + cut(Printable(e.Hex), maxLine))
	}
	return b.String()
}

// coded tells the events that carry an error code, of which 0 is one.
func coded(event string) bool {
	return event == "reset" || event == "stop-sending" || event == "close"
}

// Printable replaces characters that a terminal would act upon, and bytes that
// are not UTF-8, by escapes as Go writes them. Line ends count among them.
func Printable(s string) string {
	plain := func(r rune) bool { return unicode.IsPrint(r) }
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case plain(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

// cut shortens s to about limit bytes, in the middle, between two characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := limit*2/3, len(s)-limit/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s … %d bytes more … %s", s[:head], tail-head, s[tail:])
}

// PrintableLines is Printable for text of several lines.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}
