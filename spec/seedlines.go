package spec

import (
	"errors"
	"strconv"
	"strings"
)

// SeedLineCount is the number of lines of the seed, blank ones included.
const SeedLineCount = 175

// parseSeedLines reads the one table of seed-lines.md: line number, "yes" or
// "no", a note. Rows ascend; text outside of the table is prose.
func parseSeedLines(name string, text []byte) ([]SeedLine, error) {
	var out []SeedLine
	var errs []error
	for i, l := range strings.Split(string(text), "\n") {
		l = strings.TrimSpace(l)
		if !strings.HasPrefix(l, "|") || strings.HasPrefix(l, "| line ") || strings.HasPrefix(l, "|-") {
			continue
		}
		row, err := parseSeedRow(l)
		switch {
		case err != nil:
			errs = append(errs, problem(name, i+1, "%v", err))
		case len(out) > 0 && row.Number <= out[len(out)-1].Number:
			errs = append(errs, problem(name, i+1, "seed line %d does not ascend; keep one row for each line", row.Number))
		default:
			out = append(out, row)
		}
	}
	if len(out) == 0 && len(errs) == 0 {
		errs = append(errs, problem(name, 1, "no row; write `| line | normative | note |`"))
	}
	return out, errors.Join(errs...)
}

func parseSeedRow(l string) (SeedLine, error) {
	cells := strings.Split(strings.Trim(l, "|"), "|")
	if !strings.HasSuffix(l, "|") || len(cells) != 3 {
		return SeedLine{}, errors.New("a row has three cells: line, normative (yes or no), note")
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	n, err := strconv.Atoi(cells[0])
	switch {
	case err != nil || n < 1 || n > SeedLineCount:
		return SeedLine{}, errors.New("the first cell is a line number from 1 to " + strconv.Itoa(SeedLineCount))
	case cells[1] != "yes" && cells[1] != "no":
		return SeedLine{}, errors.New("the second cell, normative, is yes or no")
	case cells[2] == "":
		return SeedLine{}, errors.New("the note is missing; say in a few words what the line holds or why it does not bind")
	}
	return SeedLine{Number: n, Normative: cells[1] == "yes", Note: cells[2]}, nil
}
