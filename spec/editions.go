package spec

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed editions/*.txt
var editionFiles embed.FS

// frozenFiles are the files whose sentences belong to editions of the text. The
// others speak of programs on the target's own machine and network: their sentences
// are part of every edition.
var frozenFiles = []string{"messages.md", "transport.md"}

// edition is the set of sentences that an edition of the text consists of.
type edition struct {
	name   string
	levels map[string]Level
}

var embeddedEditions = sync.OnceValue(func() []edition {
	list, err := loadEditions(editionFiles)
	if err != nil {
		panic(fmt.Sprintf("spec: an edition is malformed, correct it and run go test ./spec: %v", err))
	}
	return list
})

// Editions returns the dates of the editions of the text, oldest first. Edition is
// the newest.
func Editions() []string {
	var names []string
	for _, e := range embeddedEditions() {
		names = append(names, e.name)
	}
	return names
}

// InEdition tells whether a requirement is part of an edition. Those of files that
// no edition freezes are part of each.
func InEdition(name string, r Requirement) bool {
	if !slices.Contains(frozenFiles, r.File) {
		return true
	}
	for _, e := range embeddedEditions() {
		if e.name == name {
			_, in := e.levels[r.ID]
			return in
		}
	}
	return false
}

// WithoutEdition returns the requirements that should be part of an edition and are
// in none, so that no run checks them.
func WithoutEdition() []Requirement {
	var list []Requirement
	for _, r := range Requirements() {
		if !r.Withdrawn && !slices.ContainsFunc(Editions(), func(name string) bool { return InEdition(name, r) }) {
			list = append(list, r)
		}
	}
	return list
}

// loadEditions reads editions/DATE.txt: a line for each sentence, id and level;
// lines that begin with # are remarks.
func loadEditions(fsys fs.FS) ([]edition, error) {
	names, err := fs.Glob(fsys, "editions/*.txt")
	if err != nil {
		return nil, err
	}
	var list []edition
	for _, file := range names { // sorted, hence by date
		e := edition{name: strings.TrimSuffix(path.Base(file), ".txt"), levels: map[string]Level{}}
		if _, err := time.Parse(time.DateOnly, e.name); err != nil {
			return nil, problem(file, 1, "the file of an edition is called by its date, as 2026-02-16.txt")
		}
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(strings.NewReader(string(text)))
		for number := 1; lines.Scan(); number++ {
			line := strings.TrimSpace(lines.Text())
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			id, level, _ := strings.Cut(line, " ")
			if !idForm.MatchString(id) || !slices.Contains([]Level{Must, Should, Advisory}, Level(level)) {
				return nil, problem(file, number, "%q is not an id and a level; write `AXON-AREA-000 MUST`", line)
			}
			if _, twice := e.levels[id]; twice {
				return nil, problem(file, number, "%s stands twice; keep one", id)
			}
			e.levels[id] = Level(level)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if len(e.levels) == 0 {
			return nil, problem(file, 1, "the edition holds no sentence; list each with its level")
		}
		list = append(list, e)
	}
	return list, nil
}

// checkEditions says what of the text is in no edition, or not as an edition has it.
func checkEditions(list []edition, all []Requirement) []error {
	var errs []error
	byID := map[string]Requirement{}
	for _, r := range all {
		byID[r.ID] = r
		if !slices.Contains(frozenFiles, r.File) || r.Withdrawn {
			continue
		}
		if !slices.ContainsFunc(list, func(e edition) bool { _, in := e.levels[r.ID]; return in }) {
			errs = append(errs, problem(r.File, r.Line, "%s is in no edition: a new sentence needs an edition of the text that holds it; add spec/editions/DATE.txt, and leave the older ones as they are", r.ID))
		}
	}
	for _, e := range list {
		for id, level := range e.levels {
			r, there := byID[id]
			switch {
			case !there:
				errs = append(errs, fmt.Errorf("editions/%s.txt: %s is no sentence of spec/; an id that no longer holds stays in its file, marked as withdrawn", e.name, id))
			case !slices.Contains(frozenFiles, r.File):
				errs = append(errs, fmt.Errorf("editions/%s.txt: %s stands in %s, which no edition freezes; remove the line", e.name, id, r.File))
			case r.Level != level:
				errs = append(errs, fmt.Errorf("editions/%s.txt: %s is %s there and %s in %s: a level never changes, withdraw the id and take a new one", e.name, id, level, r.Level, r.File))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}
