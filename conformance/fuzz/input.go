package fuzz

import (
	"fmt"
	"regexp"
	"strings"
)

// Input is what is written on one stream before its FIN.
type Input struct {
	// Body is in the language of the feature files: «id» stands for the id, «hex 00»
	// for bytes, «300 times x» for a long text.
	Body string
	Uni  bool // on a unidirectional stream
}

// step is the Gherkin step that sends it.
func (in Input) step() string {
	side := "bidirectional"
	if in.Uni {
		side = "unidirectional"
	}
	if in.Body == "" {
		return "the probe sends nothing but FIN on a " + side + " stream"
	}
	return "the probe sends " + in.Body + " as the bytes of a " + side + " stream"
}

// scenario writes inputs, each with what has to come of it, as one scenario.
func scenario(name, tag string, list []expectation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  @%s\n  Scenario: %s\n    Given a connection to the target\n", tag, name)
	for _, e := range list {
		fmt.Fprintf(&b, "    When %s\n", e.in.step())
		for i, then := range e.then {
			fmt.Fprintf(&b, "    %s %s\n", [2]string{"Then", "And"}[min(i, 1)], then)
		}
	}
	return b.String()
}

// atom is what an input is shortened by: a placeholder or a character.
var atom = regexp.MustCompile(`(?s)«[^«»]*»|.`)

func atoms(body string) []string { return atom.FindAllString(body, -1) }
