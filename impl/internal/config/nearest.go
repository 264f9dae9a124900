package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// knownKeys lists the keys of each mapping of the file, by the key above it.
var knownKeys = map[string][]string{
	"":          {"name", "port", "listen_addr", "advertise_addr", "peers", "discovery", "limits"},
	"peers":     {"name", "agent_id", "addr", "pubkey"},
	"discovery": {"enabled", "trust"},
	"limits":    {"connections", "pending_requests"},
}

// hint says which key was meant, when err is about an unknown one.
func hint(text []byte, err error) string {
	var unknown *yaml.UnknownFieldError
	if !errors.As(err, &unknown) {
		return ""
	}
	var top yaml.MapSlice
	if yaml.UnmarshalWithOptions(text, &top, yaml.UseOrderedMap()) != nil {
		return ""
	}
	above, key := findUnknown("", top)
	if key == "" {
		return ""
	}
	where := ""
	if above != "" {
		where = " under " + above
	}
	return fmt.Sprintf("unknown key %q%s; did you mean %q? ", key, where, Nearest(key, knownKeys[above]))
}

// findUnknown returns the first key that is not known and the key above it.
func findUnknown(above string, value any) (string, string) {
	switch v := value.(type) {
	case yaml.MapSlice:
		for _, item := range v {
			key := fmt.Sprint(item.Key)
			if !slices.Contains(knownKeys[above], key) {
				return above, key
			}
			if _, mapping := knownKeys[key]; mapping && above == "" {
				if a, k := findUnknown(key, item.Value); k != "" {
					return a, k
				}
			}
		}
	case []any:
		for _, element := range v {
			if a, k := findUnknown(above, element); k != "" {
				return a, k
			}
		}
	}
	return "", ""
}

// Nearest returns the candidate that the fewest edits turn key into. To leave
// out the end counts as one: who writes "timeout" means "timeout_secs".
func Nearest(key string, candidates []string) string {
	best, least := "", -1
	for _, c := range candidates {
		row := edits(strings.ToLower(key), c)
		if d := min(row[len(c)], slices.Min(row)+1); least < 0 || d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts insertions, deletions and replacements (Levenshtein).
func distance(a, b string) int { return edits(a, b)[len(b)] }

// edits returns the distance of a to each beginning of b.
func edits(a, b string) []int {
	if len(a) > 64 { // a key of that length is near to nothing
		a = a[:64]
	}
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
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row
}
