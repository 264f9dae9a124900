package suite

import (
	"strings"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/spec"
)

// nearestID is the known requirement id that is most like a mistyped one.
func nearestID(id string) string {
	best, bestDistance := "", 1<<30
	for _, q := range spec.Requirements() {
		if d := distance(strings.ToUpper(id), q.ID); d < bestDistance {
			best, bestDistance = q.ID, d
		}
	}
	return best
}

// nearestStep is the step pattern that is most like a text.
func nearestStep(text string) string {
	best, bestDistance := "", 1<<30
	for _, d := range steps.Definitions() {
		if n := distance(text, d.Pattern); n < bestDistance {
			best, bestDistance = d.Pattern, n
		}
	}
	return best
}

// distance is the number of single-character edits between two texts
// (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
