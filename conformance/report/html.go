package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed assets/page.html.tmpl
var pageText string

//go:embed assets/page.css
var pageStyle string

//go:embed assets/page.js
var pageScript string

// HTMLOptions says how WriteHTML writes; the zero value is fine.
type HTMLOptions struct {
	// Dir is the directory in which the page will stand: links to files beside
	// the report (qlogs) are made relative to it. Empty: links stay as they are.
	Dir string
}

// maxField bounds one text in a page, in bytes; the JSON form has all of it.
const maxField = 4096

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"sentence":  codeSpans,
	"printable": func(text string) string { return cut(Printable(text), maxField) },
	"lines":     func(text string) string { return cut(PrintableLines(text), maxField) },
	"count":     count,
	"thousands": thousands,
}).Parse(pageText))

// WriteHTML writes the report as one HTML page for people. The page holds all that
// it needs and sends no request: its policy forbids that, and any script but its
// own. Everything that came from the target is escaped. A page with 40 failures
// stays under 1 MB, because what it shows of transcripts is bounded; the JSON form
// keeps more.
func WriteHTML(w io.Writer, r Report, o HTMLOptions) error {
	v := view(r, func(path string) string { return RelativePath(o.Dir, path) })
	v.Style, v.Script = template.CSS(pageStyle), template.JS(pageScript)
	v.Policy = policy()
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		return fmt.Errorf("making the HTML report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the HTML report: %w", err)
	}
	return nil
}

// policy lets the page use its own style and script, and nothing else.
func policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; img-src data:; style-src " + hash(pageStyle) + "; script-src " + hash(pageScript) +
		"; base-uri 'none'; form-action 'none'"
}

// codeSpans shows what stands between backticks as code.
func codeSpans(text string) template.HTML {
	text = cut(text, maxField)
	parts := strings.Split(PrintableLines(text), "`")
	if len(parts)%2 == 0 {
		return template.HTML(template.HTMLEscapeString(PrintableLines(text)))
	}
	var b strings.Builder
	for i, part := range parts {
		escaped := template.HTMLEscapeString(part)
		if i%2 == 1 {
			escaped = "<code>" + escaped + "</code>"
		}
		b.WriteString(escaped)
	}
	return template.HTML(b.String())
}
