package report

import (
	"regexp"
	"strings"
)

// fence puts text in a code block that it cannot leave.
func fence(language, text string) string {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + language + "\n" + text + "\n" + marks + "\n\n"
}

// codeSpan shows text of any origin, on one line, without it forming markup.
func codeSpan(text string, limit int) string {
	text = cut(Printable(strings.TrimSpace(text)), limit)
	if text == "" {
		return ""
	}
	marks := "`"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	// A bar would end a table's cell, also in code; none of these stands in one.
	return marks + text + marks
}

// sentenceText is a sentence of the spec, whose spans between backticks are code.
func sentenceText(text string) string {
	parts := strings.Split(Printable(text), "`")
	if len(parts)%2 == 0 {
		return plainText(text)
	}
	for i := range parts {
		if i%2 == 0 {
			parts[i] = plainText(parts[i])
		} else if parts[i] != "" {
			parts[i] = codeSpan(parts[i], markdownField)
		}
	}
	return strings.Join(parts, "")
}

var (
	markdownMarks = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|~!&$]")
	mention       = regexp.MustCompile(`@(\w)`)
)

// plainText takes from text what Markdown would act upon.
func plainText(text string) string {
	text = markdownMarks.ReplaceAllString(Printable(text), `\$0`)
	// A word joiner, which shows nothing, keeps a name from being called.
	return mention.ReplaceAllString(text, "@\u2060$1")
}

// summaryText is for the summary of a fold, which is HTML.
func summaryText(text string) string {
	return mention.ReplaceAllString(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "`", "&#96;", "*", "&#42;", "_", "&#95;",
		"[", "&#91;", "]", "&#93;").Replace(cut(Printable(text), 200)), "@\u2060$1")
}
