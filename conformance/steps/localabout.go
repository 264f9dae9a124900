package steps

import (
	"slices"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
)

// concerning narrows a failure to those of some sentences, named without "AXON-",
// that the scenario is tagged with. A scenario that is about none of them, or a
// failure that is narrowed already, stays as it is.
func (s *Scenario) concerning(err error, short ...string) error {
	f, ok := err.(*verdict.Failure)
	if !ok || len(f.Requirements) > 0 {
		return err
	}
	for _, id := range s.IDs {
		if slices.Contains(short, strings.TrimPrefix(id, "AXON-")) {
			f.Requirements = append(f.Requirements, id)
		}
	}
	return err
}

// notConcerning narrows a failure to the scenario's sentences but for some.
func (s *Scenario) notConcerning(err error, short ...string) error {
	var others []string
	for _, id := range s.IDs {
		if name := strings.TrimPrefix(id, "AXON-"); !slices.Contains(short, name) {
			others = append(others, name)
		}
	}
	return s.concerning(err, others...)
}
