package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// terminal says what a writer can show.
type terminal struct {
	// live: it is a terminal, so a line can be written over.
	live bool
	// colour: it is a terminal and colours are wanted.
	colour bool
	// width in characters, 0 when it is not known.
	width int
}

// terminalOf looks at a writer. NO_COLOR and TERM=dumb turn colours off.
func (p *program) terminalOf(w io.Writer) terminal {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return terminal{}
	}
	t := terminal{live: p.env.Getenv("TERM") != "dumb"}
	t.colour = t.live && p.env.Getenv("NO_COLOR") == ""
	if width, _, err := term.GetSize(int(file.Fd())); err == nil {
		t.width = width
	}
	return t
}
