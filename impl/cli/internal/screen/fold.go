package screen

import "strings"

// Fold breaks text into lines of at most width bytes, at spaces but not inside
// `code`. The first line begins with first, the others with next.
func Fold(text, first, next string, width int) string {
	var b strings.Builder
	line, empty := first, true
	code := false
	var word strings.Builder
	flush := func() {
		if word.Len() == 0 {
			return
		}
		if !empty && len(line)+1+word.Len() > width {
			b.WriteString(line + "\n")
			line, empty = next, true
		}
		if !empty {
			line += " "
		}
		line += word.String()
		empty = false
		word.Reset()
	}
	for _, r := range text {
		if r == '`' {
			code = !code
		}
		if r == ' ' && !code {
			flush()
			continue
		}
		word.WriteRune(r)
	}
	flush()
	return b.String() + line
}
