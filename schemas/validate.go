package schemas

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Problem is one place where a document departs from its schema.
type Problem struct {
	Location string // JSON pointer into the document; "" is the document itself
	Message  string
}

// InvalidError lists all departures of a document, sorted by location.
type InvalidError struct {
	Schema   string
	Problems []Problem
}

// shownProblems bounds the text of an InvalidError, not its list.
const shownProblems = 20

func (e *InvalidError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "not valid for the schema %s: ", e.Schema)
	for i, p := range e.Problems {
		if i == shownProblems {
			fmt.Fprintf(&b, "; and %d more", len(e.Problems)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(cut(cmp.Or(p.Location, "the document")))
		b.WriteString(": ")
		b.WriteString(p.Message)
	}
	fmt.Fprintf(&b, "; compare with schemas/%s%s", e.Schema, suffix)
	return b.String()
}

// Validate checks one JSON document. It returns nil, an error that wraps
// ErrNotJSON (no JSON, invalid UTF-8, something after the document, or a name
// that stands twice in one object), or an *InvalidError with every departure.
// The same document always yields the same error.
//
// Whole numbers have to be written as such: 30.0 and 3e1 are no integers here,
// unlike in JSON Schema's own reading, since many programs cannot read them so.
func (s *Schema) Validate(doc []byte) error {
	value, err := decode(doc, s.free)
	if err != nil {
		return fmt.Errorf("checking against the schema %s: %w", s.name, err)
	}
	err = s.compiled.Validate(value)
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return fmt.Errorf("checking against the schema %s; correct the schema: %w", s.name, err)
	}
	problems := leaves(ve, nil)
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(comparePointers(a.Location, b.Location), strings.Compare(a.Message, b.Message))
	})
	return &InvalidError{Schema: s.name, Problems: slices.Compact(problems)}
}

// leaves collects the errors that have no further cause: the others only say
// that a part failed.
func leaves(ve *jsonschema.ValidationError, out []Problem) []Problem {
	if len(ve.Causes) == 0 {
		return append(out, Problem{Location: pointer(ve.InstanceLocation), Message: cut(message(ve))})
	}
	for _, c := range ve.Causes {
		out = leaves(c, out)
	}
	return out
}

// pointer undoes the URL escaping that the library puts over a JSON pointer.
func pointer(location string) string {
	if plain, err := url.PathUnescape(location); err == nil {
		return plain
	}
	return location
}

// maxMessage bounds what is said of one place, in bytes: the library repeats names and
// values of the document, however long.
const maxMessage = 300

// cut takes the middle out of a long text, whose end often says what is wrong.
func cut(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	head, tail := maxMessage*2/3, len(text)-maxMessage/3
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + " … " + text[tail:]
}

// message makes the library's text the same in every run, and says what to do
// where its words alone do not.
func message(ve *jsonschema.ValidationError) string {
	m := ve.Message
	switch {
	case strings.HasSuffix(ve.KeywordLocation, "/additionalProperties"):
		names := strings.TrimSuffix(strings.TrimPrefix(m, "additionalProperties "), " not allowed")
		list := strings.Split(names, ", ") // in the order of a map
		slices.Sort(list)
		return "members that are not allowed: " + strings.Join(list, ", ")
	case m == "expected integer, but got number":
		return m + " with a fraction or an exponent; write a whole number"
	}
	return m
}

// comparePointers sorts array items by number: /a/2 stands before /a/10.
func comparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(x, y string) int {
		m, err1 := strconv.Atoi(x)
		n, err2 := strconv.Atoi(y)
		if err1 == nil && err2 == nil {
			return cmp.Or(cmp.Compare(m, n), strings.Compare(x, y))
		}
		return strings.Compare(x, y)
	})
}
