package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/axonproto/axon/spec"
)

// Coverage follows each line of the seed to its requirements, their scenarios and
// the mutants made for them. The mutants are given by name with the ids that they
// were made for. Each hole is a sentence: a normative line without a requirement,
// a requirement without a scenario, or a MUST or SHOULD without a mutant. That a
// tag has a sentence is checked when the features are read.
func Coverage(features fs.FS, mutants map[string][]string) (text string, holes []string, err error) {
	c, drafts, err := readDrafts(features)
	if err != nil {
		return "", nil, err
	}
	for _, k := range drafts {
		holes = append(holes, fmt.Sprintf("%s: the scenario %q has no steps yet: write them", k.location, k.name))
	}
	for _, q := range spec.WithoutEdition() {
		holes = append(holes, q.ID+" is in no edition of the text: add spec/editions/DATE.txt")
	}
	scenarios := map[string][]string{}
	for _, k := range c.checks {
		for _, id := range k.ids {
			scenarios[id] = append(scenarios[id], k.location)
		}
	}
	killers := map[string][]string{}
	for name, ids := range mutants {
		for _, id := range ids {
			if q, known := spec.Lookup(id); !known || q.Withdrawn {
				holes = append(holes, fmt.Sprintf("the mutant %s was made for %s, which is no sentence of spec/", name, id))
			}
			killers[id] = append(killers[id], name)
		}
	}
	cited := map[int][]string{}
	for _, q := range spec.Requirements() {
		for _, line := range q.SeedLines {
			cited[line] = append(cited[line], q.ID)
		}
	}

	var b strings.Builder
	fmt.Fprintf(&b, "Seed lines (edition %s)\n", spec.Edition)
	for _, l := range spec.SeedLines() {
		switch ids := cited[l.Number]; {
		case !l.Normative:
			fmt.Fprintf(&b, "  %3d  not normative: %s\n", l.Number, l.Note)
		case len(ids) == 0:
			fmt.Fprintf(&b, "  %3d  HOLE\n", l.Number)
			holes = append(holes, fmt.Sprintf("line %d of the seed is normative and has no requirement", l.Number))
		default:
			fmt.Fprintf(&b, "  %3d  %s\n", l.Number, strings.Join(ids, " "))
		}
	}
	b.WriteString("\nRequirements\n")
	for _, q := range spec.Requirements() {
		if q.Withdrawn {
			fmt.Fprintf(&b, "%s  withdrawn\n", q.ID)
			continue
		}
		slices.Sort(killers[q.ID])
		fmt.Fprintf(&b, "%s  %s  %s\n", q.ID, q.Level, sourceOf(q))
		fmt.Fprintf(&b, "    scenarios  %s\n", places(scenarios[q.ID]))
		if q.Level != spec.Advisory {
			fmt.Fprintf(&b, "    mutants    %s\n", places(killers[q.ID]))
		}
		if len(scenarios[q.ID]) == 0 {
			holes = append(holes, q.ID+" has no scenario: tag one with @"+q.ID)
		}
		if q.Level != spec.Advisory && len(killers[q.ID]) == 0 {
			holes = append(holes, q.ID+" has no mutant: add a peer that breaks it to conformance/mutants")
		}
	}
	if holes, err = stated(features, holes, &b); err != nil {
		return "", nil, err
	}
	slices.Sort(holes)
	return b.String(), holes, nil
}

// gapsFile lists holes that are known: on each line an id and "scenario" or
// "mutant", and behind it the reason.
const gapsFile = "gaps.txt"

// stated takes the holes that gapsFile owns up to out of the list, and prints them.
// One that is closed must be taken out of the file, so that the list only shrinks.
func stated(features fs.FS, holes []string, b *strings.Builder) ([]string, error) {
	text, err := fs.ReadFile(features, gapsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return holes, nil
	}
	if err != nil {
		return nil, err
	}
	b.WriteString("\nOpen, and stated in " + gapsFile + "\n")
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, rest, _ := strings.Cut(line, " ")
		what, reason, _ := strings.Cut(rest, " ")
		if what != "scenario" && what != "mutant" || reason == "" {
			return nil, &UsageError{fmt.Sprintf("%s: %q: write an id, scenario or mutant, and the reason", gapsFile, line)}
		}
		i := slices.IndexFunc(holes, func(h string) bool { return strings.HasPrefix(h, id+" has no "+what+":") })
		if i < 0 {
			holes = append(holes, fmt.Sprintf("%s has a %s: take it out of %s", id, what, gapsFile))
			continue
		}
		holes = slices.Delete(holes, i, i+1)
		fmt.Fprintf(b, "  %s  no %s  %s\n", id, what, reason)
	}
	return holes, nil
}

func sourceOf(q spec.Requirement) string {
	if q.Source != "" {
		return q.Source
	}
	var lines []string
	for _, l := range q.SeedLines {
		lines = append(lines, fmt.Sprint(l))
	}
	return "seed " + strings.Join(lines, ", ")
}

// places joins names, or says that there are none.
func places(names []string) string {
	const most = 8
	switch {
	case len(names) == 0:
		return "NONE"
	case len(names) > most:
		return fmt.Sprintf("%s … and %d more", strings.Join(names[:most], " "), len(names)-most)
	}
	return strings.Join(names, " ")
}
