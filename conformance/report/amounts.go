package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// excerpt keeps the head and the tail of long data within share bytes.
func excerpt(e Event, share int) *sequenceData {
	if e.Text == "" && e.Hex == "" {
		return nil
	}
	if e.Hex != "" {
		digits := e.Hex
		kept := len(digits) / 2
		s := &sequenceData{Kind: "hex", Head: digits, Lost: max(e.Bytes-kept, 0)}
		if kept > share {
			head := share * 2 / 3
			tail := share - head
			s.Head, s.Tail, s.Cut, s.TailAt = digits[:2*head], digits[2*(kept-tail):], kept-share, kept-tail
		}
		return s
	}
	text := e.Text
	s := &sequenceData{Kind: "text", Head: text, Lost: max(e.Bytes-len(text), 0)}
	if len(text) > share {
		head, tail := share*2/3, len(text)-share/3
		for head > 0 && !utf8.RuneStart(text[head]) {
			head--
		}
		for tail < len(text) && !utf8.RuneStart(text[tail]) {
			tail++
		}
		s.Head, s.Tail, s.Cut, s.TailAt = text[:head], text[tail:], tail-head, tail
	}
	return s
}

// code writes an error code as people compare it: small ones in decimal too.
func code(c uint64) string {
	if c < 10 {
		return strconv.FormatUint(c, 10)
	}
	return fmt.Sprintf("%d (0x%x)", c, c)
}

// elapsed writes milliseconds with as many digits as one reads.
func elapsed(ms float64) string {
	switch {
	case ms >= 10000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 1000:
		return fmt.Sprintf("%.2f s", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}

// thousands writes a number with its digits in groups of three.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	var parts []string
	for len(digits) > 3 {
		parts = append([]string{digits[len(digits)-3:]}, parts...)
		digits = digits[:len(digits)-3]
	}
	return strings.Join(append([]string{digits}, parts...), ",")
}
