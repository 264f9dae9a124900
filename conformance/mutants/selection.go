package mutants

import (
	"hash/fnv"
	"io/fs"
	"slices"

	"github.com/axonproto/axon/conformance/suite"
)

// selection knows the checks that a peer without a local API can be met with.
type selection struct {
	all      []suite.Listed
	heavy    map[string]bool
	wholeRun map[string]bool
	// commands are the checks of command lines, slow those among all that take minutes.
	commands []suite.Listed
	slow     map[string]bool
	// locals are the checks that are made through a local API.
	locals []suite.Listed
}

func newSelection(features fs.FS) (*selection, error) {
	s := &selection{heavy: map[string]bool{}, wholeRun: map[string]bool{}, slow: map[string]bool{}}
	all, err := suite.List(features, suite.Selection{})
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if !slices.ContainsFunc(l.Needs, func(n string) bool { return n != "wire" && n != "quiet" }) {
			s.all = append(s.all, l)
		}
		if throughLocal(l) {
			s.locals = append(s.locals, l)
		}
	}
	if s.commands, err = suite.List(features, suite.Selection{Tags: "@cli"}); err != nil {
		return nil, err
	}
	for tag, set := range map[string]map[string]bool{"@heavy": s.heavy, "@whole-run": s.wholeRun, "@slow": s.slow} {
		tagged, err := suite.List(features, suite.Selection{Tags: tag})
		if err != nil {
			return nil, err
		}
		for _, l := range tagged {
			set[l.Location] = true
		}
	}
	return s, nil
}

// sampleOf is the part, one in so many, of the checks that do not concern a mutant
// which it meets all the same: other ones for each mutant, the same every time.
const sampleOf = 40

// judgeOf is the same for the checks that judge the run as a whole.
const judgeOf = 4

func sampled(mutant, location string, of uint32) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(mutant + " " + location))
	return h.Sum32()%of == 0
}

// of names the places of the checks for a peer.
func (s *selection) of(j *job, whole bool) []string {
	broken := slices.Concat(j.row.MadeFor, j.also)
	var places []string
	for _, l := range s.all {
		if s.heavy[l.Location] && !j.heavy {
			continue
		}
		of := uint32(sampleOf)
		if s.wholeRun[l.Location] {
			of = judgeOf
		}
		wanted := whole || sampled(j.row.Name, l.Location, of) ||
			slices.ContainsFunc(l.IDs, func(id string) bool { return slices.Contains(broken, id) })
		if wanted {
			places = append(places, l.Location)
		}
	}
	return places
}
