package suite

import (
	"bytes"
	"fmt"

	messages "github.com/cucumber/messages/go/v34"
)

// content is a feature file.
type content struct {
	name    string
	text    []byte
	feature *messages.Feature
}

// only is the text with nothing in it but the scenarios and rows at certain places,
// FILE:LINE. The lines of the others are empty, so that each place stays what it
// was: godog spends more on a scenario that is passed over than a good target does
// on answering one.
func (c content) only(places map[string]bool) []byte {
	if c.feature == nil {
		return c.text
	}
	lines := bytes.Split(c.text, []byte("\n"))
	drop := func(from, to int64) {
		for i := max(from, 1); i <= to && i <= int64(len(lines)); i++ {
			lines[i-1] = nil
		}
	}
	wanted := func(at *messages.Location) bool { return places[fmt.Sprintf("%s:%d", c.name, at.Line)] }
	end := int64(len(lines))
	// From the last to the first, each ends where the one behind it begins.
	for i := len(c.feature.Children) - 1; i >= 0; i-- {
		child := c.feature.Children[i]
		switch {
		case child.Scenario != nil:
			keepOf(child.Scenario, end, wanted, drop)
			end = begins(child.Scenario) - 1
		case child.Rule != nil:
			// The scenarios of a rule are passed over one by one.
			end = child.Rule.Location.Line - 1
			if len(child.Rule.Tags) > 0 {
				end = child.Rule.Tags[0].Location.Line - 1
			}
		case child.Background != nil:
			end = child.Background.Location.Line - 1
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

// keepOf drops what is not wanted of a scenario that ends at a line.
func keepOf(s *messages.Scenario, end int64, wanted func(*messages.Location) bool, drop func(from, to int64)) {
	kept := len(s.Examples) == 0 && wanted(s.Location)
	for _, e := range s.Examples {
		for _, row := range e.TableBody {
			if wanted(row.Location) {
				kept = true
			} else {
				drop(row.Location.Line, row.Location.Line)
			}
		}
	}
	if !kept {
		drop(begins(s), end)
	}
}

// begins is the line of a scenario's first tag, or of its keyword.
func begins(s *messages.Scenario) int64 {
	if len(s.Tags) > 0 {
		return s.Tags[0].Location.Line
	}
	return s.Location.Line
}
