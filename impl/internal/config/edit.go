package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

var (
	// ErrUnknownKey reports a key that no configuration has.
	ErrUnknownKey = errors.New("unknown configuration key")
	// ErrByHand reports a file whose form leaves an edit to its owner.
	ErrByHand = errors.New("the file has a form that cannot be edited automatically; change it in an editor")
)

// setting is one value of the file that can be read and set by its key. The
// peers are not among them: they are a list.
type setting struct {
	key   string
	value func(*Config) any     // what counts, defaults included
	place func(d *document) any // pointer to where the file's value goes: *string, **int or **bool
}

var settings = []setting{
	{"name", func(c *Config) any { return c.Name }, func(d *document) any { return &d.Name }},
	{"port", func(c *Config) any { return c.Port }, func(d *document) any { return &d.Port }},
	{"listen_addr", func(c *Config) any { return c.ListenAddr }, func(d *document) any { return &d.ListenAddr }},
	{"advertise_addr", func(c *Config) any { return c.AdvertiseAddr }, func(d *document) any { return &d.AdvertiseAddr }},
	{"discovery.enabled", func(c *Config) any { return c.Discovery }, func(d *document) any { return &d.Discovery.Enabled }},
	{"discovery.trust", func(c *Config) any { return string(c.Trust) }, func(d *document) any { return &d.Discovery.Trust }},
	{"limits.connections", func(c *Config) any { return c.Connections }, func(d *document) any { return &d.Limits.Connections }},
	{"limits.pending_requests", func(c *Config) any { return c.Pending }, func(d *document) any { return &d.Limits.PendingRequests }},
}

// Keys lists the keys that Value, Set and Unset take, as they stand in the file,
// with a dot before a nested one.
func Keys() []string {
	keys := make([]string, len(settings))
	for i, s := range settings {
		keys[i] = s.key
	}
	return keys
}

// Value returns what counts for a key: a string, an int or a bool.
func (c *Config) Value(key string) (any, error) {
	s, err := find(key)
	if err != nil {
		return nil, err
	}
	return s.value(c), nil
}

// Set returns the text of a configuration with one value changed, comments kept.
// What is wrong with the value wraps ErrInvalid.
func Set(text []byte, key, value string) ([]byte, error) {
	s, err := find(key)
	if err != nil {
		return nil, err
	}
	return s.edit(text, &value)
}

// Unset returns the text of a configuration without the key, so that its default
// counts again.
func Unset(text []byte, key string) ([]byte, error) {
	s, err := find(key)
	if err != nil {
		return nil, err
	}
	return s.edit(text, nil)
}

func find(key string) (setting, error) {
	for _, s := range settings {
		if s.key == key {
			return s, nil
		}
	}
	if key == "peers" {
		return setting{}, fmt.Errorf("%w %q among the single values: peers is a list; use `axon connect` and `axon forget`, or an editor", ErrUnknownKey, key)
	}
	return setting{}, fmt.Errorf("%w %q; did you mean %q?", ErrUnknownKey, key, Nearest(key, Keys()))
}

// edit sets the key, or takes it out when there is no value, and checks that the
// outcome is what was meant and nothing else.
func (s setting) edit(text []byte, value *string) (out []byte, err error) {
	defer survive(&err, fmt.Errorf("%s: %w", s.key, ErrByHand))
	var want document
	if err := want.decode(text); err != nil {
		return nil, err
	}
	scalar, err := s.store(&want, value)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if _, err := want.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if value == nil {
		out, err = remove(text, s.key)
	} else {
		out, err = put(text, s.key, scalar)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.key, err)
	}
	var got document
	if err := got.decode(out); err != nil || !reflect.DeepEqual(got, want) {
		return nil, fmt.Errorf("%s: %w", s.key, ErrByHand)
	}
	return out, nil
}

// store puts the value into d and returns it in the form that YAML wants.
func (s setting) store(d *document, value *string) (string, error) {
	switch place := s.place(d).(type) {
	case *string:
		if value == nil {
			*place = ""
			return "", nil
		}
		if !utf8.ValidString(*value) {
			return "", fmt.Errorf("%s is a text in UTF-8, and %q is none; write another", s.key, *value)
		}
		*place = *value
		return quote(*value)
	case **int:
		if *place = nil; value == nil {
			return "", nil
		}
		n, err := strconv.Atoi(*value)
		if err != nil {
			return "", fmt.Errorf("%s is a whole number, and %q is none; write for example 9000", s.key, *value)
		}
		*place = &n
		return strconv.Itoa(n), nil
	case **bool:
		if *place = nil; value == nil {
			return "", nil
		}
		if *value != "true" && *value != "false" {
			return "", fmt.Errorf("%s is true or false, and %q is neither; write one of them", s.key, *value)
		}
		on := *value == "true"
		*place = &on
		return *value, nil
	}
	return "", fmt.Errorf("%s: %w", s.key, ErrByHand)
}

// quote writes a text as YAML, on one line: as the library does where its own reader
// takes that for the text again, and otherwise in quotes with everything escaped.
func quote(value string) (string, error) {
	text, err := yaml.Marshal(value)
	plain := strings.TrimSuffix(string(text), "\n")
	odd := strings.HasPrefix(plain, "...") || strings.ContainsFunc(plain, func(r rune) bool { return !unicode.IsPrint(r) })
	var read map[string]any
	if odd || yaml.Unmarshal([]byte("k: "+plain), &read) != nil || read["k"] != value {
		plain = strconv.QuoteToASCII(value)
	}
	return plain, err
}

func put(text []byte, key, scalar string) ([]byte, error) {
	f, err := parser.ParseBytes(text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if where, ok := locate(f, key); ok {
		if err := where.ReplaceWithReader(f, strings.NewReader(scalar)); err != nil {
			return nil, err
		}
		return []byte(f.String()), nil
	}
	above, last, nested := strings.Cut(key, ".")
	if !nested {
		last = key
	}
	line := last + ": " + scalar + "\n"
	at, ok := "", false
	if nested {
		_, ok = locate(f, above)
		at = "." + above
	}
	if !ok {
		at = ""
		if nested {
			line = above + ":\n  " + line
		}
	}
	if at == "" && emptyDocument(f) {
		return append(withoutEmptyMapping(text), line...), nil
	}
	where, err := yaml.PathString("$" + at)
	if err != nil {
		return nil, err
	}
	if err := where.MergeFromReader(f, strings.NewReader(line)); err != nil {
		return nil, ErrByHand
	}
	return []byte(f.String()), nil
}

// locate returns the path of a key and whether something stands there.
func locate(f *ast.File, key string) (*yaml.Path, bool) {
	path, err := yaml.PathString("$." + key)
	if err != nil {
		return nil, false
	}
	_, err = path.FilterFile(f)
	return path, err == nil
}

// emptyDocument tells whether the file has no mapping to add to.
func emptyDocument(f *ast.File) bool {
	for _, doc := range f.Docs {
		if m, ok := doc.Body.(*ast.MappingNode); ok && len(m.Values) > 0 {
			return false
		}
	}
	return true
}

// withoutEmptyMapping returns the text, comments and blank lines only, ready to
// be added to.
func withoutEmptyMapping(text []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(text) {
		if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || trimmed[0] == '#' {
			kept = append(kept, line...)
		}
	}
	if len(kept) > 0 && kept[len(kept)-1] != '\n' {
		kept = append(kept, '\n')
	}
	return kept
}

func remove(text []byte, key string) ([]byte, error) {
	f, err := parser.ParseBytes(text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if _, ok := locate(f, key); !ok {
		return text, nil
	}
	for _, doc := range f.Docs {
		if m, ok := doc.Body.(*ast.MappingNode); ok {
			removeFrom(m, strings.Split(key, "."))
			if len(m.Values) == 0 {
				return nil, nil
			}
		}
	}
	return []byte(f.String()), nil
}

// removeFrom takes the key out, and a mapping that is left empty with it.
func removeFrom(m *ast.MappingNode, path []string) {
	for i, v := range m.Values {
		if v.Key.String() != path[0] {
			continue
		}
		if len(path) > 1 {
			inner, ok := v.Value.(*ast.MappingNode)
			if !ok {
				return
			}
			if removeFrom(inner, path[1:]); len(inner.Values) > 0 {
				return
			}
		}
		m.Values = append(m.Values[:i], m.Values[i+1:]...)
		return
	}
}
