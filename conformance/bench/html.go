package bench

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

// WriteHTML writes a report as one page that needs nothing from anywhere.
func WriteHTML(w io.Writer, r Report) error { return page.Execute(w, viewOf(r)) }

type view struct {
	Report
	Plots []plot
	Cells [][]string
}

type plot struct {
	Title string
	SVG   template.HTML // made of numbers and of the fixed words below
}

func viewOf(r Report) view {
	v := view{Report: r}
	for _, load := range Loads() {
		if s := lines(r, load, func(row Row) float64 { return row.RateRatio }); s != "" {
			v.Plots = append(v.Plots, plot{string(load) + ": rate, relative to the bare exchange", s})
		}
		if s := lines(r, load, func(row Row) float64 { return row.Target.P99 }); s != "" {
			v.Plots = append(v.Plots, plot{string(load) + ": p99 in milliseconds", s})
		}
	}
	for _, row := range r.Rows {
		f := row.Target
		v.Cells = append(v.Cells, []string{
			string(row.Load), fmt.Sprint(row.InFlight), whole(row.Size), fmt.Sprintf("%.0f", f.Rate), fmt.Sprintf("%.0f", row.Raw.Rate), fmt.Sprintf("%.2f", row.RateRatio),
			figure(f.P50, 3), figure(f.P99, 3), figure(f.P999, 3), figure(row.P99Ratio, 2), figure(f.CPU, 1), fmt.Sprint(f.Errors),
		})
	}
	return v
}

// lines draws a figure over the number in flight, a line for each size; "" when no row
// of the load has it.
func lines(r Report, load Load, of func(Row) float64) template.HTML {
	const width, height, left, bottom = 560.0, 220.0, 46.0, 30.0
	var sizes []int
	top, most := 0.0, 1
	for _, row := range r.Rows {
		if row.Load != load || of(row) == 0 {
			continue
		}
		if len(sizes) == 0 || sizes[len(sizes)-1] != row.Size {
			sizes = append(sizes, row.Size)
		}
		top, most = max(top, of(row)), max(most, row.InFlight)
	}
	if len(sizes) == 0 {
		return ""
	}
	x := func(n int) float64 {
		return left + (width-left-90)*math.Log2(float64(n)+1)/math.Log2(float64(most)+1)
	}
	y := func(f float64) float64 { return height - bottom - (height-bottom-14)*f/top }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" role="img">`, width, height)
	for i := range 3 {
		f := top * float64(i) / 2
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text x="%.1f" y="%.1f" text-anchor="end">%s</text>`, left, width-90, y(f), y(f), left-6, y(f)+4, short(f))
	}
	ticks := map[int]bool{}
	for i, size := range sizes {
		var points []string
		end := 0.0
		for _, row := range r.Rows {
			if row.Load != load || row.Size != size || of(row) == 0 {
				continue
			}
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(row.InFlight), y(of(row))))
			fmt.Fprintf(&b, `<circle class="c%d" cx="%.1f" cy="%.1f" r="3"/>`, i%4, x(row.InFlight), y(of(row)))
			if end = y(of(row)); !ticks[row.InFlight] {
				ticks[row.InFlight] = true
				fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%d</text>`, x(row.InFlight), height-10, row.InFlight)
			}
		}
		label := "a connection"
		if size > 0 {
			label = fmt.Sprintf("%d B", size)
		}
		fmt.Fprintf(&b, `<polyline class="c%d" points="%s"/><text class="c%d" x="%.1f" y="%.1f">%s</text>`, i%4, strings.Join(points, " "), i%4, width-84, end+4, label)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

func short(f float64) string {
	if f >= 10 {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

var page = template.Must(template.New("bench").Funcs(template.FuncMap{"megabytes": megabytes}).Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>AXON bench: {{.Target}}</title>
<style>
:root{color-scheme:light dark;--ink:#1c2128;--paper:#fff;--faint:#667;--rule:#d8dde3;--c0:#0b62c4;--c1:#b3541e;--c2:#1a7f4b;--c3:#8250df}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--paper:#14181d;--faint:#9aa4b0;--rule:#333b45;--c0:#6cb0ff;--c1:#f0a073;--c2:#6fd39b;--c3:#c4a5ff}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:74rem;margin:0 auto;padding:1.2rem}
h1{font-size:1.4rem;margin:0 0 .3rem}h2{font-size:1rem;margin:1.2rem 0 .2rem}p{margin:.3rem 0;color:var(--faint)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(19rem,1fr));gap:0 1.5rem}
svg{width:100%;height:auto}svg text{fill:var(--faint);font-size:11px}svg polyline{fill:none;stroke-width:2}.grid{stroke:var(--rule)}
polyline.c0,circle.c0{stroke:var(--c0)}polyline.c1,circle.c1{stroke:var(--c1)}polyline.c2,circle.c2{stroke:var(--c2)}polyline.c3,circle.c3{stroke:var(--c3)}
circle.c0,svg text.c0{fill:var(--c0)}circle.c1,svg text.c1{fill:var(--c1)}circle.c2,svg text.c2{fill:var(--c2)}circle.c3,svg text.c3{fill:var(--c3)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
th,td{text-align:right;padding:.25rem .6rem;border-bottom:1px solid var(--rule);white-space:nowrap}th:first-child,td:first-child{text-align:left}th{color:var(--faint);font-weight:600}
</style>
<h1>What {{.Target}} costs</h1>
<p>{{.Started.Format "2006-01-02 15:04 MST"}}, {{.Machine}}, {{.Processors}} processors; {{.Rounds}} rounds of {{printf "%.0f" .RoundMS}} ms each, the bare quic-go exchange and the target in turn.</p>
{{with .Before}}<p>Memory before: {{megabytes .Resident | printf "%.1f"}} MB resident, {{megabytes .Anonymous | printf "%.1f"}} MB of it anonymous.</p>{{end}}{{with .After}}<p>Memory after: {{megabytes .Resident | printf "%.1f"}} MB resident, {{megabytes .Anonymous | printf "%.1f"}} MB of it anonymous.</p>{{end}}
{{range .Notes}}<p>{{.}}</p>{{end}}
<div class="plots">{{range .Plots}}<section><h2>{{.Title}}</h2>{{.SVG}}<p>exchanges in flight</p></section>{{end}}</div>
<h2>All figures</h2><div class="wide"><table><tr><th>load<th>in flight<th>bytes<th>rate/s<th>bare/s<th>ratio<th>p50 ms<th>p99 ms<th>p99.9 ms<th>p99 ratio<th>CPU µs<th>failed</tr>
{{range .Cells}}<tr>{{range .}}<td>{{.}}{{end}}</tr>
{{end}}</table></div>
<p>A ratio is the target's figure divided by that of the bare exchange, the median over the rounds.</p>
</html>
`))
