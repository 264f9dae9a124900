package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	tagexpressions "github.com/cucumber/tag-expressions/go/v6"

	"github.com/axonproto/axon/spec"
)

// Listed is one check as `list` shows it.
type Listed struct {
	Name     string   `json:"name"`
	Location string   `json:"location"`
	IDs      []string `json:"ids"`
	Levels   []string `json:"levels"`
	Needs    []string `json:"needs"`
}

// List tells what a selection would run. Its errors are *UsageError.
func List(features fs.FS, s Selection) ([]Listed, error) {
	c, err := load(features)
	if err != nil {
		return nil, err
	}
	chosen, err := c.choose(s)
	if err != nil {
		return nil, err
	}
	var listed []Listed
	for _, k := range chosen {
		l := Listed{Name: k.name, Location: k.location, IDs: k.ids, Needs: append([]string{"wire"}, k.needsOf()...)}
		for _, id := range k.ids {
			q, _ := spec.Lookup(id)
			l.Levels = append(l.Levels, string(q.Level))
		}
		listed = append(listed, l)
	}
	return listed, nil
}

// choose applies a selection. That nothing is left is an error.
func (c *catalogue) choose(s Selection) ([]*check, error) {
	var expression tagexpressions.Evaluatable
	if strings.TrimSpace(s.Tags) != "" {
		var err error
		if expression, err = parseTags(s.Tags); err != nil {
			return nil, &UsageError{fmt.Sprintf("the tag expression %q does not parse: %v; write for instance \"@AXON-KIND-002 and not @heavy\"", s.Tags, err)}
		}
		if err := c.knownTags(s.Tags); err != nil {
			return nil, err
		}
	}
	for _, id := range s.Requirements {
		if q, known := spec.Lookup(id); !known {
			return nil, &UsageError{fmt.Sprintf("there is no requirement %q; the nearest is %s (`axon-conformance list` shows them all)", id, nearestID(id))}
		} else if q.Withdrawn {
			return nil, &UsageError{fmt.Sprintf("the requirement %s is withdrawn", id)}
		}
	}
	level := spec.Level(strings.ToUpper(s.Level))
	if level != "" && level != spec.Must && level != spec.Should && level != spec.Advisory {
		return nil, &UsageError{fmt.Sprintf("there is no level %q: use must, should or advisory", s.Level)}
	}
	if err := s.knownSection(); err != nil {
		return nil, err
	}
	for _, place := range append([]string{s.Location}, s.Locations...) {
		if _, known := c.byPlace[place]; place != "" && !known {
			return nil, &UsageError{fmt.Sprintf("there is no scenario at %s: `axon-conformance list` shows where each stands", place)}
		}
	}
	edition, err := s.edition()
	if err != nil {
		return nil, err
	}
	if s.Shard < 0 || s.Shard > s.Shards {
		return nil, &UsageError{fmt.Sprintf("there is no part %d of %d: parts are counted from 1", s.Shard, s.Shards)}
	}
	var chosen []*check
	for _, k := range c.checks {
		if expression != nil && !expression.Evaluate(k.tags) {
			continue
		}
		if s.Location != "" && k.location != s.Location || s.Locations != nil && !slices.Contains(s.Locations, k.location) {
			continue
		}
		if !k.concerns(s, level, edition) || !k.hasNeed(s.Need) {
			continue
		}
		chosen = append(chosen, k)
	}
	if whole := len(chosen); whole > 0 {
		if chosen = s.part(chosen); len(chosen) == 0 {
			return nil, &UsageError{fmt.Sprintf("part %d of %d is empty: the selection has %d checks only, use fewer parts", s.Shard, s.Shards, whole)}
		}
	}
	if len(chosen) == 0 {
		return nil, &UsageError{"nothing is selected: the tags, requirements, level and scenario that were given have no check in common (`axon-conformance list` with the same flags shows what would run)"}
	}
	return chosen, nil
}

// edition is the one whose requirements are wanted.
func (s Selection) edition() (string, error) {
	if s.Edition == "" {
		return spec.Edition, nil
	}
	known := spec.Editions()
	if !slices.Contains(known, s.Edition) {
		return "", &UsageError{fmt.Sprintf("there is no edition %q of the text; there is %s", s.Edition, strings.Join(known, ", "))}
	}
	return s.Edition, nil
}

// part deals the checks out to the shards in turn, so that each gets some of every
// file and about the same time. Checks of the whole run are in each part.
func (s Selection) part(chosen []*check) []*check {
	if s.Shards < 2 {
		return chosen
	}
	var mine []*check
	dealt := 0
	for _, k := range chosen {
		if !k.wholeRun {
			if dealt++; (dealt-1)%s.Shards != s.Shard-1 {
				continue
			}
		}
		mine = append(mine, k)
	}
	return mine
}

// parseTags parses a Cucumber tag expression. The library panics on some that
// break off, such as "@a and".
func parseTags(text string) (e tagexpressions.Evaluatable, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("an operand is missing")
		}
	}()
	return tagexpressions.Parse(text)
}

// concerns: one of the check's ids is among the wanted, has the wanted level and
// section, and is part of the edition.
func (k *check) concerns(s Selection, level spec.Level, edition string) bool {
	for _, id := range k.ids {
		q, _ := spec.Lookup(id)
		if (len(s.Requirements) == 0 || slices.Contains(s.Requirements, id)) && (level == "" || q.Level == level) &&
			(s.Section == "" || q.Section == s.Section) && spec.InEdition(edition, q) {
			return true
		}
	}
	return false
}

func (k *check) hasNeed(need string) bool {
	if need == string(spec.Wire) {
		return len(k.needsOf()) == 0
	}
	return need == "" || slices.Contains(k.needsOf(), need)
}

// knownSection checks the names of the section and the need.
func (s Selection) knownSection() error {
	var sections, needs []string
	for _, section := range spec.Sections() {
		sections = append(sections, section.Slug)
	}
	for _, need := range spec.Needs() {
		needs = append(needs, string(need))
	}
	if s.Section != "" && !slices.Contains(sections, s.Section) {
		return &UsageError{fmt.Sprintf("there is no section %q; there are %s", s.Section, strings.Join(sections, ", "))}
	}
	if s.Need != "" && !slices.Contains(needs, s.Need) {
		return &UsageError{fmt.Sprintf("there is no need %q; there are %s", s.Need, strings.Join(needs, ", "))}
	}
	return nil
}

// knownTags: a mistyped tag would silently select nothing, or with "not" all.
func (c *catalogue) knownTags(expression string) error {
	known := map[string]bool{}
	for _, k := range c.checks {
		for _, t := range k.tags {
			known[t] = true
		}
	}
	for _, q := range spec.Requirements() {
		known["@"+q.ID] = true
	}
	for tag := range needTags {
		known[tag] = true
	}
	for _, word := range strings.FieldsFunc(expression, func(r rune) bool { return r == ' ' || r == '(' || r == ')' || r == '\t' }) {
		switch word {
		case "and", "or", "not":
			continue
		}
		if !known[word] {
			best, bestDistance := "", 1<<30
			for t := range known {
				if d := distance(word, t); d < bestDistance || d == bestDistance && t < best {
					best, bestDistance = t, d
				}
			}
			return &UsageError{fmt.Sprintf("no scenario has the tag %q; the nearest is %s", word, best)}
		}
	}
	return nil
}
