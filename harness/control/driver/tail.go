package driver

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// What is kept of a driver's words: so many lines, each cut to so many bytes.
const (
	tailLines = 20
	tailBytes = 300
)

// tail keeps the last lines of something.
type tail struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (t *tail) add(line string) {
	line = excerpt(line)
	if line == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		t.lines = slices.Delete(t.lines, 0, 1)
	}
	t.lines = append(t.lines, line)
}

// last are up to n lines, the oldest first.
func (t *tail) last(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines[max(0, len(t.lines)-n):])
}

// excerpt makes a line of any bytes fit to be shown: printable, on one line, cut.
func excerpt(line string) string {
	cut := len(line) > tailBytes
	line = strings.ToValidUTF8(line[:min(len(line), tailBytes)], "\uFFFD")
	line = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, line))
	if cut {
		line += "…"
	}
	return line
}
