package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggest is an ending for an error about an unknown word: the nearest known one
// when there is a near one, and all of them when they are few.
func suggest(word string, known []string) string {
	best, distance := "", len([]rune(word))/2+1
	for _, k := range known {
		d := editDistance(strings.ToLower(word), strings.ToLower(k))
		if strings.HasPrefix(strings.ToLower(k), strings.ToLower(word)) && word != "" {
			d = min(d, 1)
		}
		if d < distance {
			best, distance = k, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf("; did you mean %q?", best)
	case len(known) > 0 && len(known) <= 12:
		return "; there are " + strings.Join(known, ", ")
	default:
		return ""
	}
}

// editDistance is the number of characters to add, remove, replace or swap with
// a neighbour to get from a to b.
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for k := range last {
		last[k] = k
	}
	for i := 1; i <= len(from); i++ {
		row[0] = i
		for k := 1; k <= len(to); k++ {
			cost := 1
			if from[i-1] == to[k-1] {
				cost = 0
			}
			row[k] = min(last[k]+1, row[k-1]+1, last[k-1]+cost)
			if i > 1 && k > 1 && from[i-1] == to[k-2] && from[i-2] == to[k-1] {
				row[k] = min(row[k], before[k-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(to)]
}

// flagError gives flag mistakes their nearest match.
func flagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		})
		slices.Sort(names)
		shown := "--" + name
		if unknown.GetSpecifiedShortnames() != "" {
			shown = "-" + name
		}
		return usagef("%s has no flag %s%s", c.CommandPath(), shown, suggest("--"+name, names))
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usagef("--%s needs a value: %s", missing.GetFlag().Name, missing.GetFlag().Usage)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := invalid.GetFlag()
		return usagef("--%s cannot be %q: it takes a %s, as in --%s %s", f.Name, invalid.GetValue(),
			valueKinds[f.Value.Type()], f.Name, valueExamples[f.Value.Type()])
	}
	return usagef("%w", err)
}

// What flags of a type take, for people.
var (
	valueKinds = map[string]string{
		"int": "whole number", "int64": "whole number", "duration": "duration", "bool": "true or false", "string": "text",
		"stringSlice": "list with commas", "intSlice": "list of whole numbers with commas", "stringArray": "text",
	}
	valueExamples = map[string]string{
		"int": "4", "int64": "4", "duration": "10s", "bool": "true", "string": "TEXT",
		"stringSlice": "ONE,TWO", "intSlice": "1,64", "stringArray": "TEXT",
	}
)
