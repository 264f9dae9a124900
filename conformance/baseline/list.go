package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxBytes bounds a list.
const MaxBytes = 1 << 20

// ErrInvalid is wrapped by the errors for a list that cannot be used.
var ErrInvalid = errors.New("the baseline cannot be used")

// List is a list of expected failures.
type List struct {
	// File as the user named it, for messages.
	File string `yaml:"-"`
	// Edition of the text that the list was made for; empty: any.
	Edition string  `yaml:"edition"`
	Entries []Entry `yaml:"expected"`
}

// Entry expects some checks to be broken: those of a requirement, a scenario
// wherever it stands, or a scenario under one requirement.
type Entry struct {
	Requirement string `yaml:"requirement"`
	// Scenario is "FILE:LINE", or "FILE: NAME", which outlives changes above it.
	Scenario string `yaml:"scenario"`
	// Reason says why it is accepted, for people.
	Reason string `yaml:"reason"`
	// Issue is a link, optional.
	Issue string `yaml:"issue"`
	// Until is the last day on which it is accepted, YYYY-MM-DD; empty: no last one.
	Until string `yaml:"until"`
	// Line of the file that the entry begins in.
	Line int `yaml:"-"`
}

// name is how messages call an entry.
func (e Entry) name() string {
	switch {
	case e.Scenario == "":
		return e.Requirement
	case e.Requirement == "":
		return e.Scenario
	}
	return e.Requirement + " in " + e.Scenario
}

// Load reads a list from a file. Errors wrap ErrInvalid, or come from opening it.
func Load(path string) (List, error) {
	file, err := os.Open(path)
	if err != nil {
		return List{}, fmt.Errorf("the baseline cannot be read: %w; make one with run --write-baseline FILE", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return List{}, fmt.Errorf("the baseline cannot be read: %w; name a file", err)
	}
	return Parse(path, text)
}

// Parse reads a list. It is strict: unknown and doubled members, a second document,
// an entry that names nothing or has no reason, and a date or link that is none are
// errors that name the line.
func Parse(name string, text []byte) (l List, err error) {
	defer func() {
		if recover() != nil { // the library has panics for what nobody would write
			l, err = List{}, fmt.Errorf("%w: %s is no YAML that can be read; write it in a simpler form", ErrInvalid, name)
		}
	}()
	wrong := func(line int, format string, args ...any) error {
		return fmt.Errorf("%w: %s:%d: "+format, append([]any{ErrInvalid, name, line}, args...)...)
	}
	if len(text) > MaxBytes {
		return List{}, fmt.Errorf("%w: %s is larger than %d bytes; list requirements in place of their scenarios", ErrInvalid, name, MaxBytes)
	}
	if !utf8.Valid(text) {
		return List{}, fmt.Errorf("%w: %s is not UTF-8; save it as UTF-8", ErrInvalid, name)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	if err := decoder.Decode(&l); err != nil {
		if errors.Is(err, io.EOF) {
			return List{}, wrong(1, "it is empty; write \"expected: []\" where nothing is expected to fail")
		}
		return List{}, fmt.Errorf("%w: %s: %s; the members are edition and expected, those of an entry requirement, scenario, reason, issue and until",
			ErrInvalid, name, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	if err := decoder.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return List{}, fmt.Errorf("%w: %s holds a second document; keep one", ErrInvalid, name)
	}
	l.File = name
	lines := entryLines(text)
	if l.Entries == nil && lines == nil {
		return List{}, wrong(1, "the member expected is missing; write \"expected: []\" where nothing is expected to fail")
	}
	if l.Edition != "" && !isDate(l.Edition) {
		return List{}, wrong(1, "the edition %q is no date; write it as 2026-02-16", l.Edition)
	}
	seen := map[string]int{}
	for i := range l.Entries {
		e := &l.Entries[i]
		if i < len(lines) {
			e.Line = lines[i]
		}
		e.Requirement, e.Scenario, e.Reason = strings.TrimSpace(e.Requirement), strings.Join(strings.Fields(e.Scenario), " "), strings.TrimSpace(e.Reason)
		if problem := e.problem(); problem != "" {
			return List{}, wrong(e.Line, "%s", problem)
		}
		if before, twice := seen[e.name()]; twice {
			return List{}, wrong(e.Line, "%s is listed already in line %d; keep one of them", e.name(), before)
		}
		seen[e.name()] = e.Line
	}
	return l, nil
}

// problem is what is wrong with an entry, empty for nothing.
func (e Entry) problem() string {
	switch {
	case e.Requirement == "" && e.Scenario == "":
		return "the entry names nothing; give it a requirement (its id), a scenario (FILE: NAME), or both"
	case e.Scenario != "" && !strings.Contains(e.Scenario, ":"):
		return fmt.Sprintf("the scenario %q is not FILE:LINE or \"FILE: NAME\", as reports print it", e.Scenario)
	case e.Reason == "":
		return fmt.Sprintf("%s has no reason; say why its failure is accepted", e.name())
	case e.Until != "" && !isDate(e.Until):
		return fmt.Sprintf("until: %q is no date; write it as 2026-12-31", e.Until)
	}
	if e.Issue != "" {
		link, err := url.Parse(e.Issue)
		if err != nil || link.Host == "" || link.Scheme != "https" && link.Scheme != "http" {
			return fmt.Sprintf("issue: %q is no link; write it as https://…", e.Issue)
		}
	}
	return ""
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// entryLines are the lines in which the entries begin; nil when there is no list
// of entries.
func entryLines(text []byte) []int {
	file, err := parser.ParseBytes(text, 0)
	if err != nil || len(file.Docs) == 0 {
		return nil
	}
	body, ok := file.Docs[0].Body.(ast.MapNode)
	if !ok {
		return nil
	}
	for members := body.MapRange(); members.Next(); {
		if members.Key().String() != "expected" {
			continue
		}
		lines := []int{}
		sequence, ok := members.Value().(*ast.SequenceNode)
		if !ok {
			return lines
		}
		for _, value := range sequence.Values {
			lines = append(lines, firstLine(value))
		}
		return lines
	}
	return nil
}

// firstLine is the line in which a node begins. A mapping's own token is the colon
// of its first member, which stands in the same line.
func firstLine(node ast.Node) int {
	if token := node.GetToken(); token != nil && token.Position != nil {
		return token.Position.Line
	}
	return 0
}
