package driver

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoCommand is wrapped by Split's errors.
var ErrNoCommand = errors.New("no command to start a driver by")

// Split reads a command line as a POSIX shell would, without any of its powers:
// words are parted by blanks; single quotes keep everything, double quotes all but
// \ before " and \, and \ elsewhere keeps the next character.
func Split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	quote := rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("%w: a quote %c is not closed; close it", ErrNoCommand, quote)
	case escaped:
		return nil, fmt.Errorf("%w: it ends in a backslash; remove it or double it", ErrNoCommand)
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, fmt.Errorf("%w: name a program, as in 'python3 driver.py'", ErrNoCommand)
	}
	return words, nil
}
