package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// ErrNotJSON is wrapped by Validate's error when there is no document to be
// checked.
var ErrNotJSON = errors.New("not one JSON document")

// decode reads exactly one JSON document. Below the top-level member free (""
// for none) a name may stand twice in one object.
func decode(doc []byte, free string) (any, error) {
	if !utf8.Valid(doc) {
		return nil, fmt.Errorf("%w: invalid UTF-8; encode it as UTF-8", ErrNotJSON)
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%w: it ends too early; write the whole document", ErrNotJSON)
		}
		return nil, fmt.Errorf("%w: %w; correct the text at byte %d", ErrNotJSON, err, syntaxOffset(err, dec))
	}
	if rest := bytes.TrimLeft(doc[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, fmt.Errorf("%w: something follows the document at byte %d; leave only white space there", ErrNotJSON, len(doc)-len(rest))
	}
	if name, offset, ok := doubled(doc, free); ok {
		return nil, fmt.Errorf("%w: the name %.100q stands twice in one object, again before byte %d; keep one of them", ErrNotJSON, name, offset)
	}
	return plainNumbers(value), nil
}

func syntaxOffset(err error, dec *json.Decoder) int64 {
	var se *json.SyntaxError
	if errors.As(err, &se) {
		return se.Offset
	}
	return dec.InputOffset()
}

// scope is an object or array that doubled is inside of.
type scope struct {
	names  map[string]bool // nil in an array, and in an object that may repeat names
	object bool
	free   bool // below the free member
	key    bool // in an object: a name comes next
	last   string
}

// doubled looks for a name that stands twice in one object. The document is
// known to be JSON.
func doubled(doc []byte, free string) (name string, offset int64, found bool) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var stack []scope
	for {
		token, err := dec.Token()
		if err != nil {
			return "", 0, false
		}
		var top *scope
		if len(stack) > 0 {
			top = &stack[len(stack)-1]
		}
		if key, ok := token.(string); ok && top != nil && top.object && top.key {
			if top.names[key] {
				return key, dec.InputOffset(), true
			}
			if top.names != nil {
				top.names[key] = true
			}
			top.key, top.last = false, key
			continue
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			s := scope{object: token == json.Delim('{'), key: true}
			s.free = top != nil && (top.free || len(stack) == 1 && top.object && free != "" && top.last == free)
			if s.object && !s.free {
				s.names = map[string]bool{}
			}
			stack = append(stack, s)
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
			if len(stack) == 0 {
				return "", 0, false
			}
			top = &stack[len(stack)-1]
		}
		if top == nil {
			return "", 0, false
		}
		top.key = true
	}
}

// plainNumbers replaces each number that is written with a fraction or an
// exponent by one that is no integer, so that 30.0 does not pass for one, and
// so that the library never expands an exponent such as 1e999999999.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			return v
		}
		f, err := v.Float64()
		if err == nil && f != math.Trunc(f) {
			return f
		}
		return math.Copysign(0.5, f)
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return value
}
