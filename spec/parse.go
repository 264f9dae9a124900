package spec

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseError is one fault in the text, at a place that an editor can jump to.
type ParseError struct {
	File   string
	Line   int // from 1
	Reason string
}

func (e *ParseError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

func problem(file string, line int, format string, args ...any) *ParseError {
	return &ParseError{File: file, Line: line, Reason: fmt.Sprintf(format, args...)}
}

// Parse reads the requirements of one file in the form that the package
// documentation shows. It reports every fault at once: the error unwraps to
// *ParseError values, in the order of the lines. Text without requirements is
// no error.
func Parse(name string, text []byte) ([]Requirement, error) {
	rs, _, err := parse(name, text)
	return rs, err
}

var (
	idForm   = regexp.MustCompile(`^AXON-([A-Z]+)-([0-9]{3})$`)
	slugForm = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
)

const separator = " · "

type parser struct {
	file    string
	lines   []string
	at      int // index of the line to be read next
	section *Section
	reqs    []Requirement
	secs    []Section
	errs    []*ParseError
}

func parse(name string, text []byte) ([]Requirement, []Section, error) {
	p := &parser{file: name}
	for i, l := range strings.Split(string(text), "\n") {
		if !utf8.ValidString(l) {
			return nil, nil, problem(name, i+1, "invalid UTF-8; save the file as UTF-8")
		}
		p.lines = append(p.lines, strings.TrimRight(l, " \t\r"))
	}
	p.document()
	if len(p.errs) > 0 {
		slices.SortStableFunc(p.errs, func(a, b *ParseError) int { return a.Line - b.Line })
		all := make([]error, len(p.errs))
		for i, e := range p.errs {
			all[i] = e
		}
		return nil, nil, errors.Join(all...)
	}
	return p.reqs, p.secs, nil
}

func (p *parser) fail(index int, format string, args ...any) {
	p.errs = append(p.errs, problem(p.file, index+1, format, args...))
}

// document walks the headings; everything between them is prose unless the
// heading opens a requirement.
func (p *parser) document() {
	fence := -1
	for p.at < len(p.lines) {
		i, l := p.at, p.lines[p.at]
		p.at++
		switch {
		case strings.HasPrefix(l, "```"):
			if fence < 0 {
				fence = i
			} else {
				fence = -1
			}
		case fence >= 0:
		case strings.HasPrefix(l, "### "):
			p.requirement(i)
		case strings.HasPrefix(l, "###"):
			p.fail(i, "headings of the third level are requirements, `### AXON-AREA-000 · LEVEL`, and there are no deeper ones")
		case strings.HasPrefix(l, "## "):
			p.heading(i)
		case strings.HasPrefix(l, "- seed:"), strings.HasPrefix(l, "- needs:"):
			p.fail(i, "a field outside of a requirement; put a heading `### AXON-AREA-000 · LEVEL` and a sentence before it")
		case strings.HasPrefix(l, "AXON-"):
			p.fail(i, "a requirement without `### ` before its id")
		}
	}
	if fence >= 0 {
		p.fail(fence, "a code block without an end; close it with ```")
	}
}

func (p *parser) heading(i int) {
	title, slug, ok := strings.Cut(p.lines[i][len("## "):], separator)
	p.section = nil
	if !ok {
		return // prose: requirements may not follow
	}
	switch {
	case strings.TrimSpace(title) == "":
		p.fail(i, "a section without a title; write `## Title · slug`")
	case !slugForm.MatchString(slug):
		p.fail(i, "section slug %q is not made of lower-case words joined by hyphens; write `## Title · slug`", slug)
	}
	for _, s := range p.secs {
		if s.Slug == slug {
			p.fail(i, "section %q stands already in line %d; choose another slug", slug, s.Line)
		}
	}
	p.secs = append(p.secs, Section{Slug: slug, Title: strings.TrimSpace(title), File: p.file, Line: i + 1})
	p.section = &p.secs[len(p.secs)-1]
}

// requirement reads from the heading at index i to the next heading.
func (p *parser) requirement(i int) {
	end := p.at
	for end < len(p.lines) && !strings.HasPrefix(p.lines[end], "#") {
		end++
	}
	body := p.at
	p.at = end

	r := Requirement{File: p.file, Line: i + 1}
	ok := p.title(i, &r)
	if p.section == nil {
		p.fail(i, "requirement %s outside of a section; put `## Title · slug` before it", r.ID)
		ok = false
	} else {
		r.Section, r.SectionTitle = p.section.Slug, p.section.Title
	}
	body = p.sentence(i, body, end, &r)
	if p.fields(i, body, end, &r) && ok {
		p.reqs = append(p.reqs, r)
	}
}

func (p *parser) title(i int, r *Requirement) bool {
	parts := strings.Split(p.lines[i][len("### "):], separator)
	r.ID = parts[0]
	m := idForm.FindStringSubmatch(r.ID)
	if m == nil {
		p.fail(i, "id %q is not of the form AXON-AREA-000: capital letters for the area, three digits", r.ID)
		return false
	}
	if len(parts) < 2 || len(parts) > 3 {
		p.fail(i, "%s needs a level; write `### %s · MUST`", r.ID, r.ID)
		return false
	}
	r.Level = Level(parts[1])
	if !slices.Contains([]Level{Must, Should, Advisory}, r.Level) {
		p.fail(i, "%s has the unknown level %q; use MUST, SHOULD or ADVISORY", r.ID, parts[1])
		return false
	}
	if len(parts) == 3 {
		if parts[2] != "withdrawn" {
			p.fail(i, "%s has %q after its level; only `withdrawn` may stand there", r.ID, parts[2])
			return false
		}
		r.Withdrawn = true
	}
	return p.number(i, r.ID, m[1], m[2])
}

// number wants ids to be new and to ascend inside their section.
func (p *parser) number(i int, id, area, digits string) bool {
	if digits == "000" {
		p.fail(i, "%s: numbers begin at 001", id)
		return false
	}
	for _, have := range p.reqs {
		if have.ID == id {
			p.fail(i, "duplicate id %s, first in line %d; take the next free number", id, have.Line)
			return false
		}
		if m := idForm.FindStringSubmatch(have.ID); m[1] == area && m[2] > digits && p.section != nil && have.Section == p.section.Slug {
			p.fail(i, "%s stands after %s; keep the numbers of a section ascending", id, have.ID)
			return false
		}
	}
	return true
}

// sentence reads the one paragraph and returns the index after it.
func (p *parser) sentence(heading, at, end int, r *Requirement) int {
	at = p.skipBlank(at, end)
	start := at
	var words []string
	for at < end && p.lines[at] != "" && !strings.HasPrefix(p.lines[at], "- ") {
		words = append(words, strings.TrimSpace(p.lines[at]))
		at++
	}
	r.Text = strings.Join(words, " ")
	switch {
	case r.Text == "":
		p.fail(heading, "%s has no sentence; write one paragraph after the heading", r.ID)
	case !strings.HasSuffix(r.Text, "."):
		p.fail(at-1, "the sentence of %s does not end with a full stop", r.ID)
	case strings.HasPrefix(p.lines[start], "```"):
		p.fail(start, "a code block in place of the sentence of %s; put it before the requirement", r.ID)
	}
	return p.skipBlank(at, end)
}

func (p *parser) skipBlank(at, end int) int {
	for at < end && p.lines[at] == "" {
		at++
	}
	return at
}

// fieldOrder is the order of the fields; seed and source share a place.
var fieldOrder = map[string]int{"seed": 1, "source": 1, "needs": 2, "why": 3, "fix": 4}

var fieldNames = []string{"", "seed (or source)", "needs", "why", "fix"}

func (p *parser) fields(heading, at, end int, r *Requirement) bool {
	before := len(p.errs)
	seen := 0
	for at < end {
		i := at
		if p.lines[i] == "" {
			if at = p.skipBlank(at, end); at < end {
				p.fail(at, "text after the fields of %s; a requirement is one paragraph and one list, put remarks before it", r.ID)
				return false
			}
			break
		}
		key, value, ok := strings.Cut(strings.TrimPrefix(p.lines[i], "- "), ":")
		if !strings.HasPrefix(p.lines[i], "- ") || !ok {
			p.fail(i, "this line of %s is no field; write `- key: value`, or indent it by two spaces to go on with the line before", r.ID)
			return false
		}
		value = strings.TrimSpace(value)
		for at++; at < end && strings.HasPrefix(p.lines[at], "  "); at++ {
			value += " " + strings.TrimSpace(p.lines[at])
		}
		place := fieldOrder[key]
		switch {
		case place == 0:
			p.fail(i, "%s has the unknown field %q; the fields are seed or source, needs, why, fix", r.ID, key)
			return false
		case place <= seen:
			p.fail(i, "the field %s of %s is there twice or out of order; the order is seed or source, needs, why, fix", key, r.ID)
			return false
		case place != seen+1 && !r.Withdrawn:
			p.fail(i, "%s lacks the field %s before %s", r.ID, fieldNames[seen+1], key)
			return false
		case value == "":
			p.fail(i, "the field %s of %s is empty", key, r.ID)
			return false
		}
		seen = place
		if err := r.set(key, value); err != nil {
			p.fail(i, "%s: %v", r.ID, err)
		}
	}
	if seen < len(fieldNames)-1 && !r.Withdrawn {
		p.fail(heading, "%s lacks the field %s", r.ID, fieldNames[seen+1])
	}
	return len(p.errs) == before
}

func (r *Requirement) set(key, value string) (err error) {
	switch key {
	case "seed":
		r.SeedLines, err = parseLines(value)
	case "source":
		r.Source = value
	case "needs":
		r.Needs, err = parseNeeds(value)
	case "why":
		r.Why = value
	case "fix":
		r.Fix = value
	}
	return err
}

// parseLines reads "32, 76-78": ascending line numbers and ranges.
func parseLines(value string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(value, ",") {
		part = strings.TrimSpace(part)
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || from < 1 || to < from || (isRange && to == from) || to > SeedLineCount {
			return nil, fmt.Errorf("seed line %q is neither a number nor a range from 1 to %d", part, SeedLineCount)
		}
		for n := from; n <= to; n++ {
			if len(out) > 0 && n <= out[len(out)-1] {
				return nil, fmt.Errorf("seed lines %q do not ascend", value)
			}
			out = append(out, n)
		}
	}
	return out, nil
}

func parseNeeds(value string) ([][]Need, error) {
	var out [][]Need
	for alternative := range strings.SplitSeq(value, ";") {
		var all []Need
		for word := range strings.SplitSeq(alternative, ",") {
			n := Need(strings.TrimSpace(word))
			if !slices.Contains(Needs(), n) {
				return nil, fmt.Errorf("unknown need %q; use wire, quiet, drive, handle, observe, cli or lan", n)
			}
			if slices.Contains(all, n) {
				return nil, fmt.Errorf("need %q stands twice", n)
			}
			all = append(all, n)
		}
		out = append(out, all)
	}
	return out, nil
}
