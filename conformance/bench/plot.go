package bench

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"
)

// plot is one picture, with the key to its lines.
type plot struct {
	Title, Axis string
	SVG         template.HTML // made of numbers and of the fixed words below
}

// axis is something that grows from row to row.
type axis struct {
	name string
	of   func(Row) int
}

var axes = []axis{
	{"exchanges in flight", func(r Row) int { return r.InFlight }},
	{"bytes of an envelope", func(r Row) int { return r.Size }},
	{"connections", func(r Row) int { return r.Connections }},
}

// measure is a figure that is drawn over an axis; bare is what the bare exchange has,
// where that is drawn as well.
type measure struct {
	name     string
	of, bare func(Row) float64
}

var measures = []measure{
	{"rate, relative to the bare exchange", func(r Row) float64 { return r.RateRatio }, nil},
	{"exchanges a second", func(r Row) float64 { return r.Target.Rate }, func(r Row) float64 { return r.Raw.Rate }},
	{"p99 in milliseconds", func(r Row) float64 { return r.Target.P99 }, func(r Row) float64 { return r.Raw.P99 }},
	{"processor time of an exchange in microseconds", func(r Row) float64 { return r.Target.CPU }, func(r Row) float64 { return r.Raw.CPU }},
}

var memoryMeasure = measure{"resident memory of the target in MB", func(r Row) float64 {
	if r.Memory == nil {
		return 0
	}
	return megabytes(r.Memory.Resident)
}, nil}

// maxLines is the most lines in one plot; there are as many colours.
const maxLines = 4

// plots draws each load over each axis along which it was measured at several places.
func plots(r Report) []plot {
	var list []plot
	for _, load := range Loads() {
		rows := slices.DeleteFunc(slices.Clone(r.Rows), func(row Row) bool { return row.Load != load })
		for i, along := range axes {
			if len(values(rows, along)) < 2 {
				continue
			}
			wanted := measures
			if i == len(axes)-1 {
				wanted = append(slices.Clone(measures), memoryMeasure)
			}
			for _, m := range wanted {
				if svg := draw(rows, along, m); svg != "" {
					list = append(list, plot{string(load) + ": " + m.name, along.name, svg})
				}
			}
		}
	}
	return list
}

func values(rows []Row, a axis) []int {
	var list []int
	for _, row := range rows {
		list = append(list, a.of(row))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// line is the rows that differ along one axis only.
type line struct {
	label string
	rows  []Row
}

// linesAlong groups rows by what the other axes say, the first maxLines of them, spread
// over what there is.
func linesAlong(rows []Row, along axis, m measure) []line {
	var list []line
	for _, row := range rows {
		if m.of(row) == 0 {
			continue
		}
		label := labelOf(rows, row, along)
		at := slices.IndexFunc(list, func(l line) bool { return l.label == label })
		if at < 0 {
			at, list = len(list), append(list, line{label: label})
		}
		list[at].rows = append(list[at].rows, row)
	}
	list = slices.DeleteFunc(list, func(l line) bool { return len(l.rows) < 2 })
	if n := len(list); n > maxLines {
		var some []line
		for i := range maxLines {
			some = append(some, list[i*(n-1)/(maxLines-1)])
		}
		list = some
	}
	for _, l := range list {
		slices.SortFunc(l.rows, func(a, b Row) int { return cmp.Compare(along.of(a), along.of(b)) })
	}
	return list
}

// labelOf names a row by the axes other than the one drawn along which rows differ.
func labelOf(rows []Row, row Row, along axis) string {
	var words []string
	for i, word := range []string{"%d at a time", "%d B", "%d conn."} {
		if a := axes[i]; a.name != along.name && len(values(rows, a)) > 1 {
			words = append(words, fmt.Sprintf(word, a.of(row)))
		}
	}
	return strings.Join(words, ", ")
}

// The sizes of a plot.
const (
	width, height       = 420.0, 210.0
	left, right, bottom = 50.0, 16.0, 30.0
	keyLine             = 15.0
)

// draw is "" when there are no two points to join.
func draw(rows []Row, along axis, m measure) template.HTML {
	drawn := linesAlong(rows, along, m)
	if len(drawn) == 0 {
		return ""
	}
	low, high, top := math.MaxInt, 0, math.SmallestNonzeroFloat64 // figures are divided by top
	ticks := map[int]bool{}
	for _, l := range drawn {
		for _, row := range l.rows {
			n := along.of(row)
			ticks[n] = true
			low, high, top = min(low, n), max(high, n), max(top, m.of(row))
			if m.bare != nil {
				top = max(top, m.bare(row))
			}
		}
	}
	x := func(n int) float64 {
		return left + (width-left-right)*math.Log(float64(n)/float64(low))/math.Log(float64(high)/float64(low))
	}
	y := func(f float64) float64 { return height - bottom - (height-bottom-14)*(f/top) }
	keyed := len(drawn) > 1 || m.bare != nil
	var b strings.Builder
	tall := height
	if keyed {
		tall += keyLine * float64(len(drawn)+1)
	}
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s over %s">`, width, tall, m.name, along.name)
	for i := range 3 {
		f := top * (float64(i) / 2)
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text x="%.1f" y="%.1f" text-anchor="end">%s</text>`, left, width-right, y(f), y(f), left-6, y(f)+4, short(f))
	}
	last := -left
	for _, n := range slices.Sorted(maps.Keys(ticks)) {
		// Numbers do not run into each other.
		if x(n)-last >= 32 {
			last = x(n)
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%d</text>`, last, height-10, n)
		}
	}
	for i, l := range drawn {
		if m.bare != nil {
			fmt.Fprintf(&b, `<polyline class="c%d bare" points="%s"/>`, i, points(l.rows, along, m.bare, x, y))
		}
		fmt.Fprintf(&b, `<polyline class="c%d" points="%s"/>`, i, points(l.rows, along, m.of, x, y))
		for _, row := range l.rows {
			fmt.Fprintf(&b, `<circle class="c%d" cx="%.1f" cy="%.1f" r="3"/>`, i, x(along.of(row)), y(m.of(row)))
		}
		if keyed {
			at := height + keyLine*float64(i)
			fmt.Fprintf(&b, `<line class="c%d" x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f"/><text x="%.0f" y="%.1f">%s</text>`, i, left, left+20, at, at, left+26, at+4, cmp.Or(l.label, "target"))
		}
	}
	if m.bare != nil {
		at := height + keyLine*float64(len(drawn))
		fmt.Fprintf(&b, `<line class="any bare" x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f"/><text x="%.0f" y="%.1f">the bare exchange</text>`, left, left+20, at, at, left+26, at+4)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

func points(rows []Row, along axis, of func(Row) float64, x func(int) float64, y func(float64) float64) string {
	var list []string
	for _, row := range rows {
		list = append(list, fmt.Sprintf("%.1f,%.1f", x(along.of(row)), y(of(row))))
	}
	return strings.Join(list, " ")
}

func short(f float64) string {
	switch {
	case f >= 10000:
		return fmt.Sprintf("%.0fk", f/1000)
	case f >= 10 || f == 0:
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
