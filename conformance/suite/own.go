package suite

import (
	"slices"

	"github.com/axonproto/axon/spec"
)

// levelOf is the level by which a verdict is given. Of this project's own command
// line the ADVISORY sentences about command lines are required.
func levelOf(q spec.Requirement, own bool) string {
	aboutCommands := slices.ContainsFunc(q.Needs, func(together []spec.Need) bool { return slices.Contains(together, spec.CLI) })
	if own && q.Level == spec.Advisory && aboutCommands {
		return string(spec.Must)
	}
	return string(q.Level)
}
