package bench

import (
	"html/template"
	"io"
)

// WriteHTML writes a report as one page that needs nothing from anywhere.
func WriteHTML(w io.Writer, r Report) error { return page.Execute(w, viewOf(r)) }

type view struct {
	Report
	Plots []plot
	Head  []string
	Cells [][]string
}

func viewOf(r Report) view {
	v := view{Report: r, Plots: plots(r), Head: header()}
	for _, row := range r.Rows {
		v.Cells = append(v.Cells, cells(row))
	}
	return v
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
svg{width:100%;height:auto}svg text{fill:var(--faint);font-size:11px}svg polyline,svg line{fill:none;stroke-width:2}svg line.grid{stroke-width:1}svg .bare{stroke-dasharray:4 4;stroke-width:1.3}.any{stroke:var(--faint)}.alarm{color:var(--c1)}.grid{stroke:var(--rule)}
polyline.c0,line.c0,circle.c0{stroke:var(--c0)}polyline.c1,line.c1,circle.c1{stroke:var(--c1)}polyline.c2,line.c2,circle.c2{stroke:var(--c2)}polyline.c3,line.c3,circle.c3{stroke:var(--c3)}
circle.c0{fill:var(--c0)}circle.c1{fill:var(--c1)}circle.c2{fill:var(--c2)}circle.c3{fill:var(--c3)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
th,td{text-align:right;padding:.25rem .6rem;border-bottom:1px solid var(--rule);white-space:nowrap}th:first-child,td:first-child{text-align:left}th{color:var(--faint);font-weight:600}
</style>
<h1>What {{.Target}} costs</h1>
<p>{{.Started.Format "2006-01-02 15:04 MST"}}, {{.Machine}}, {{.Processors}} processors; {{.Rounds}} rounds of {{printf "%.0f" .RoundMS}} ms each, the bare quic-go exchange and the target in turn.</p>
{{with .Before}}<p>Memory before: {{megabytes .Resident | printf "%.1f"}} MB resident, {{megabytes .Anonymous | printf "%.1f"}} MB of it anonymous.</p>{{end}}{{with .After}}<p>Memory after: {{megabytes .Resident | printf "%.1f"}} MB resident, {{megabytes .Anonymous | printf "%.1f"}} MB of it anonymous.</p>{{end}}
{{if not .Complete}}<p class="alarm">This is not all that was to be measured.</p>{{end}}
{{range .Notes}}<p>{{.}}</p>{{end}}
<div class="plots">{{range .Plots}}<section><h2>{{.Title}}</h2>{{.SVG}}<p>over {{.Axis}}</p></section>{{end}}</div>
<h2>All figures</h2><div class="wide"><table><tr>{{range .Head}}<th>{{.}}{{end}}</tr>
{{range .Cells}}<tr>{{range .}}<td>{{.}}{{end}}</tr>
{{end}}</table></div>
<p>A ratio is the target's figure divided by that of the bare exchange, the median over the rounds.</p>
</html>
`))
