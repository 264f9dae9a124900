package ipc

import (
	"bufio"
	"errors"
	"io"
)

var errLongLine = errors.New("line too long")

// readLine returns the next line without its newline, as a slice of its own; a
// last line without a newline counts, too. With errLongLine it returns the
// first MaxLine bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		end := len(part)
		if err == nil {
			end--
		}
		if len(line)+end > MaxLine {
			return append(line, part[:MaxLine-len(line)]...), errLongLine
		}
		line = append(line, part[:end]...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return nil, err
		}
	}
}
