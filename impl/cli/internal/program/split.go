package program

import (
	"errors"
	"runtime"
	"strings"
)

// ErrBadCommand reports a command line that cannot be taken apart.
var ErrBadCommand = errors.New("not a command line")

// Split takes a command line apart as a POSIX shell does with plain words:
// white space separates, single and double quotes join, and a backslash (not on
// Windows, where it separates folders) takes the next character as it is.
// Nothing is expanded: for pipes and variables run a shell.
func Split(line string) ([]string, error) {
	return split(line, runtime.GOOS != "windows")
}

func split(line string, backslash bool) ([]string, error) {
	var words []string
	var word strings.Builder
	started := false
	quote := rune(0)
	literal := false
	for _, r := range line {
		switch {
		case literal:
			// Inside double quotes a backslash is one of its own, except before
			// these.
			if quote == '"' && !strings.ContainsRune("\"\\$`", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			literal = false
		case backslash && r == '\\' && quote != '\'':
			literal, started = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case strings.ContainsRune(" \t\r\n", r):
			if started {
				words = append(words, word.String())
				word.Reset()
				started = false
			}
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if quote != 0 {
		return nil, errors.Join(ErrBadCommand, errors.New("a quote is opened and not closed"))
	}
	if literal {
		return nil, errors.Join(ErrBadCommand, errors.New("it ends with a backslash"))
	}
	if started {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.Join(ErrBadCommand, errors.New("it is empty"))
	}
	return words, nil
}
