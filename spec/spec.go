package spec

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

// Edition is the date of the seed text that the requirements are taken from.
const Edition = "2026-02-16"

// Level says how strongly a requirement binds.
type Level string

// The levels, strongest first.
const (
	Must     Level = "MUST"     // broken: the target does not conform
	Should   Level = "SHOULD"   // broken: a warning, a failure only under --strict
	Advisory Level = "ADVISORY" // observed and reported, never a failure
)

// Need names one thing that the target must offer before a check can be made.
type Need string

// The needs. Quiet, Handle and Observe include Wire.
const (
	Wire    Need = "wire"    // an address that admits the suite's key
	Quiet   Need = "quiet"   // no application handler is registered
	Drive   Need = "drive"   // the suite can make the target send
	Handle  Need = "handle"  // the suite can register a handler in the target
	Observe Need = "observe" // the suite sees what local clients are given
	CLI     Need = "cli"     // the suite can run the target's command line
	LAN     Need = "lan"     // the target advertises on a network the suite shares
)

// Needs returns every need in the order in which they are documented.
func Needs() []Need { return []Need{Wire, Quiet, Drive, Handle, Observe, CLI, LAN} }

// Requirement is one numbered sentence of the text.
type Requirement struct {
	ID           string   // "AXON-KIND-002"; never changes once published
	Level        Level    //
	Section      string   // slug of the section, "kinds"
	SectionTitle string   // "Kinds"
	Text         string   // the sentence, on one line; Markdown with `code` spans only
	SeedLines    []int    // lines of the seed, ascending; nil when Source is set
	Source       string   // where a sentence that is not from the seed comes from
	Needs        [][]Need // alternatives, each a list of needs that go together
	Why          string   // why it matters, one line
	Fix          string   // usual cause of failing and the way out, one line
	Withdrawn    bool     // listed so that the id is not used again; not checked
	File         string   // file name inside this folder, "messages.md"
	Line         int      // line of the heading in File, from 1
}

// Section is a group of requirements under one heading.
type Section struct {
	Slug  string // lower-case word or words joined by hyphens
	Title string
	File  string
	Line  int // line of the heading in File, from 1
}

// SeedLine is one line of the seed that has more on it than white space.
type SeedLine struct {
	Number    int    // from 1
	Normative bool   // it binds an implementation; a requirement cites it
	Note      string // what it holds, or why it does not bind, in a few words
}

//go:embed *.md
var files embed.FS

// fileOrder is the order in which the areas are read, listed and reported. A
// name without a file is skipped: the area is not written yet.
var fileOrder = []string{"messages.md", "transport.md", "ipc.md", "discovery.md", "cli.md"}

// seedLinesFile holds the table that SeedLines returns.
const seedLinesFile = "seed-lines.md"

type catalogue struct {
	requirements []Requirement
	sections     []Section
	byID         map[string]int
	seedLines    []SeedLine
}

// embedded reads the embedded text once. A malformed text is a mistake in this
// folder that its tests report with file and line, hence the panic.
var embedded = sync.OnceValue(func() *catalogue {
	c, err := load(files)
	if err != nil {
		panic(fmt.Sprintf("spec: the embedded text is malformed, correct it and run go test ./spec: %v", err))
	}
	return c
})

// Requirements returns all requirements, withdrawn ones included, in the order
// of the text. The caller owns the result.
func Requirements() []Requirement {
	rs := slices.Clone(embedded().requirements)
	for i := range rs {
		rs[i] = rs[i].clone()
	}
	return rs
}

// Lookup returns the requirement with the given id, spelled exactly.
func Lookup(id string) (Requirement, bool) {
	c := embedded()
	i, ok := c.byID[id]
	if !ok {
		return Requirement{}, false
	}
	return c.requirements[i].clone(), true
}

// Sections returns the sections in the order of the text.
func Sections() []Section { return slices.Clone(embedded().sections) }

// SeedLines returns every seed line that is not blank, in order.
func SeedLines() []SeedLine { return slices.Clone(embedded().seedLines) }

func (r Requirement) clone() Requirement {
	r.SeedLines = slices.Clone(r.SeedLines)
	r.Needs = slices.Clone(r.Needs)
	for i := range r.Needs {
		r.Needs[i] = slices.Clone(r.Needs[i])
	}
	return r
}

// load reads every Markdown file at the root of fsys and checks what one file
// alone cannot show: ids and slugs that two files share, and requirements in a
// file that fileOrder does not list.
func load(fsys fs.FS) (*catalogue, error) {
	names, err := fs.Glob(fsys, "*.md")
	if err != nil {
		return nil, err
	}
	c := &catalogue{byID: map[string]int{}}
	var errs []error
	for _, name := range ordered(names) {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		if name == seedLinesFile {
			if c.seedLines, err = parseSeedLines(name, text); err != nil {
				errs = append(errs, err)
			}
			continue
		}
		rs, ss, err := parse(name, text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(rs) > 0 && !slices.Contains(fileOrder, name) {
			errs = append(errs, problem(name, rs[0].Line, "requirements in a file without a place in the order; add %q to fileOrder in spec.go", name))
		}
		errs = append(errs, c.add(rs, ss)...)
	}
	return c, errors.Join(errs...)
}

func (c *catalogue) add(rs []Requirement, ss []Section) (errs []error) {
	for _, s := range ss {
		for _, have := range c.sections {
			if have.Slug == s.Slug {
				errs = append(errs, problem(s.File, s.Line, "section %q stands already at %s:%d; choose another slug", s.Slug, have.File, have.Line))
			}
		}
		c.sections = append(c.sections, s)
	}
	for _, r := range rs {
		if i, ok := c.byID[r.ID]; ok {
			have := c.requirements[i]
			errs = append(errs, problem(r.File, r.Line, "duplicate id %s, first at %s:%d; take the next free number", r.ID, have.File, have.Line))
			continue
		}
		c.byID[r.ID] = len(c.requirements)
		c.requirements = append(c.requirements, r)
	}
	return errs
}

// ordered puts the listed files first, in their order, then the others.
func ordered(names []string) []string {
	var out []string
	for _, n := range fileOrder {
		if slices.Contains(names, n) {
			out = append(out, n)
		}
	}
	for _, n := range names {
		if !slices.Contains(fileOrder, n) {
			out = append(out, n)
		}
	}
	return out
}
