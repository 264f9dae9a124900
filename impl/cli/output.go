package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/axonproto/axon/impl/cli/internal/screen"
	"github.com/axonproto/axon/impl/client"
)

// What a command prints follows these rules, for all commands:
//
//   - results go to standard output, everything else to standard error;
//   - with --json the result is JSON, one document on one line;
//   - without it the result is for people; tables have a header, and colours
//     are used on a terminal only;
//   - a payload is printed as the JSON that came; on a terminal the characters
//     that it could act on are escaped;
//   - text from elsewhere is escaped always.

// printJSON writes a document of our own on one line.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return printRaw(w, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// printRaw writes JSON that came from elsewhere, and a line feed.
func printRaw(w io.Writer, text []byte) error {
	if screen.Terminal(w) {
		text = screen.JSON(text)
	}
	if _, err := w.Write(append(bytes.Clone(text), '\n')); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// printTable writes a table for people.
func printTable(w io.Writer, t screen.Table) error {
	if err := t.Write(w, screen.Coloured(w)); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// errorText is what is printed of an error. What others wrote stays on one line.
func errorText(err error) string {
	if as[*client.RemoteError](err) || as[*client.Error](err) {
		return screen.Escape(err.Error())
	}
	return screen.EscapeLines(strings.TrimRight(err.Error(), "\n"))
}
