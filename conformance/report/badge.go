package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Colours of a badge.
const (
	badgeGood   = "#2c7a44"
	badgeBad    = "#b3261e"
	badgeOpen   = "#6a4a9c"
	badgeLabel  = "#3b4148"
	badgeHeight = 20
)

// WriteBadge writes a small SVG picture that says how many of the MUSTs that apply
// hold, as in "AXON 2026-02-16: 71/71 MUST". Its title says what it leaves out.
func WriteBadge(w io.Writer, r Report) error {
	must := r.Summary.Must
	label := "AXON " + Printable(r.Suite.Edition)
	applied := must.Sum() - must.NotApplicable
	value := fmt.Sprintf("%d/%d MUST", must.Pass, applied)
	colour := badgeBad
	switch {
	case r.ExitCode == ExitHarnessError || applied == 0 || !r.Complete && must.Fail == 0:
		colour, value = badgeOpen, value+", incomplete"
	case must.Fail == 0:
		colour = badgeGood
	}
	title := label + ": " + value
	if must.NotApplicable > 0 {
		title += fmt.Sprintf("; %d do not apply to what the target offers", must.NotApplicable)
	}
	left, right := badgeWidth(label), badgeWidth(value)
	text := func(x int, s string, length int) string {
		return fmt.Sprintf(`<text x="%d" y="14" textLength="%d" lengthAdjust="spacingAndGlyphs">%s</text>`, x, length, escapeXML(s))
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" role="img" aria-label="%[3]s">
<title>%[4]s</title>
<clipPath id="r"><rect width="%[1]d" height="%[2]d" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="%[5]d" height="%[2]d" fill="%[6]s"/><rect x="%[5]d" width="%[7]d" height="%[2]d" fill="%[8]s"/></g>
<g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
%[9]s
%[10]s
</g>
</svg>
`, left+right, badgeHeight, escapeXML(label+": "+value), escapeXML(title), left, badgeLabel, right, colour,
		text(8, label, left-16), text(left+8, value, right-16))
	if err != nil {
		return fmt.Errorf("writing the badge: %w", err)
	}
	return nil
}

// badgeWidth is about how wide a text is in the badge's font, with its margins.
func badgeWidth(s string) int {
	width := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("/:,.-1 il", r):
			width += 5.2
		case r >= 'A' && r <= 'Z':
			width += 8
		default:
			width += 7
		}
	}
	return int(width) + 16
}

func escapeXML(s string) string {
	var b strings.Builder
	if !utf8.ValidString(s) || xml.EscapeText(&b, []byte(s)) != nil {
		return ""
	}
	return b.String()
}
