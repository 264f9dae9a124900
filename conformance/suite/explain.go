package suite

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Written is a scenario as its author wrote it.
type Written struct {
	// Location is the FILE:LINE of its keyword.
	Location string `json:"location"`
	Name     string `json:"name"`
	// Checks are the places of the checks that it stands for: its own, or one for
	// each row of its examples.
	Checks []string `json:"checks"`
	// Text is its lines from the tags on, without their common indent.
	Text string `json:"text"`
}

// WrittenFor gives the scenarios of a requirement, in order. Its errors are
// *UsageError.
func WrittenFor(features fs.FS, id string) ([]Written, error) {
	c, err := load(features)
	if err != nil {
		return nil, err
	}
	var list []Written
	for _, content := range c.contents {
		list = append(list, content.written(c, id)...)
	}
	return list, nil
}

func (c content) written(all *catalogue, id string) []Written {
	if c.feature == nil {
		return nil
	}
	lines := strings.Split(string(c.text), "\n")
	var list []Written
	end := len(lines)
	for _, child := range slices.Backward(c.feature.Children) {
		s := child.Scenario
		if s == nil {
			continue
		}
		from := int(begins(s)) - 1
		w := Written{Location: fmt.Sprintf("%s:%d", c.name, s.Location.Line), Name: s.Name}
		for line := from + 1; line <= end; line++ {
			place := fmt.Sprintf("%s:%d", c.name, line)
			if k := all.byPlace[place]; k != nil && slices.Contains(k.ids, id) {
				w.Checks = append(w.Checks, place)
			}
		}
		if len(w.Checks) > 0 {
			w.Text = asWritten(lines[from:end])
			list = append(list, w)
		}
		end = from
	}
	slices.Reverse(list)
	return list
}

// asWritten takes the indent of the first line from all, and from the end what
// belongs to the next scenario.
func asWritten(lines []string) string {
	indent := len(lines[0]) - len(strings.TrimLeft(lines[0], " \t"))
	for len(lines) > 0 {
		last := strings.TrimSpace(lines[len(lines)-1])
		if last != "" && !strings.HasPrefix(last, "#") {
			break
		}
		lines = lines[:len(lines)-1]
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l[min(indent, len(l)-len(strings.TrimLeft(l, " \t"))):] + "\n")
	}
	return b.String()
}
