package trace

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// shownBytes is how much data one printed line shows before it is cut in the middle.
const shownBytes = 320

// String prints the event on one line:
//
//	12.3ms  c1 s4  sent      data 57 B  {"id":"…"}
//
// Data is shown as text when it is printable UTF-8 and as hex otherwise; long
// data is cut in the middle, never inside a character.
func (e Event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%9s  ", fmt.Sprintf("%.1fms", float64(e.At)/float64(time.Millisecond)))
	where := fmt.Sprintf("c%d", e.Connection)
	if e.Stream != ConnectionLevel {
		where += fmt.Sprintf(" s%d", e.Stream)
	}
	fmt.Fprintf(&b, "%-7s  %-8s  %s", where, e.Direction, e.Kind)
	switch e.Kind {
	case Data:
		fmt.Fprintf(&b, " %d B", e.Bytes)
	case Reset, StopSending, Close:
		fmt.Fprintf(&b, " code %d", e.Code)
	default:
		if e.Code != 0 {
			fmt.Fprintf(&b, " code %d", e.Code)
		}
	}
	if e.Text != "" {
		b.WriteString("  ")
		b.WriteString(oneLine(e.Text))
	}
	if len(e.Data) > 0 {
		b.WriteString("  ")
		b.WriteString(showData(e.Data, e.Bytes))
	}
	return b.String()
}

// showData prints the kept part of data that was total bytes long.
func showData(kept []byte, total int) string {
	whole := kept
	if total > len(kept) { // the log may have cut the last character
		whole = wholeRunes(kept)
	}
	if !printable(whole) {
		return showHex(kept, total)
	}
	if len(whole) == total && len(whole) <= shownBytes {
		return string(whole)
	}
	head := wholeRunes(whole[:min(len(whole), shownBytes/2)])
	tail := whole[max(len(head), len(whole)-shownBytes/2):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	if total > len(kept) { // what follows the kept part is not known: show no tail
		tail = nil
	}
	return fmt.Sprintf("%s…[%d B]…%s", head, total-len(head)-len(tail), tail)
}

func showHex(kept []byte, total int) string {
	const shown = shownBytes / 2
	if total == len(kept) && total <= shown {
		return "hex " + hex.EncodeToString(kept)
	}
	if total > len(kept) || len(kept) <= shown {
		head := kept[:min(len(kept), shown)]
		return fmt.Sprintf("hex %x…[%d B]…", head, total-len(head))
	}
	head, tail := kept[:shown/2], kept[len(kept)-shown/2:]
	return fmt.Sprintf("hex %x…[%d B]…%x", head, total-shown, tail)
}

// wholeRunes drops an incomplete UTF-8 sequence from the end of b.
func wholeRunes(b []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		start := len(b) - back
		if utf8.RuneStart(b[start]) {
			if !utf8.FullRune(b[start:]) {
				return b[:start]
			}
			break
		}
	}
	return b
}

// printable tells whether b is UTF-8 that leaves a terminal's line intact.
func printable(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) {
			return false
		}
		b = b[size:]
	}
	return true
}

// oneLine replaces what would break the line or steer a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
