package screen

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Cell is one field of a table.
type Cell struct {
	Text   string
	Colour Colour
}

// Table writes rows under a header, in columns two spaces apart. Text is escaped.
type Table struct {
	Header []string
	Rows   [][]Cell
}

// Row adds a row of plain cells.
func (t *Table) Row(texts ...string) {
	row := make([]Cell, len(texts))
	for i, s := range texts {
		row[i] = Cell{Text: s}
	}
	t.Rows = append(t.Rows, row)
}

// Write prints the table; colours are used when colour is true.
func (t *Table) Write(w io.Writer, colour bool) error {
	var rows [][]Cell
	if len(t.Header) > 0 {
		head := make([]Cell, len(t.Header))
		for i, s := range t.Header {
			head[i] = Cell{s, Bold}
		}
		rows = append(rows, head)
	}
	rows = append(rows, t.Rows...)
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(Escape(c.Text)))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, c := range row {
			text := Escape(c.Text)
			b.WriteString(Paint(colour, c.Colour, text))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+2))
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
