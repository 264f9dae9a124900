package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/axonproto/axon/conformance/report"
)

// WriteJSON writes a report as schemas/bench/report.schema.json describes it.
func WriteJSON(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// MaxJSON bounds what ReadJSON takes, in bytes.
const MaxJSON = 16 << 20

// ErrNotReport is wrapped by the errors of ReadJSON for text that is no report.
var ErrNotReport = errors.New("it is no report of a measurement")

// ReadJSON reads what WriteJSON wrote. It is strict: members that it does not know,
// text after the document, and figures that cannot be are errors.
func ReadJSON(from io.Reader) (Report, error) {
	text, err := io.ReadAll(io.LimitReader(from, MaxJSON+1))
	if err != nil {
		return Report{}, fmt.Errorf("reading the report: %w", err)
	}
	if len(text) > MaxJSON {
		return Report{}, fmt.Errorf("%w: it is larger than %d bytes", ErrNotReport, MaxJSON)
	}
	var head struct {
		SchemaVersion int `json:"schema_version"`
	}
	// Text after the document is found here already.
	if err := json.Unmarshal(text, &head); err != nil {
		return Report{}, fmt.Errorf("%w: %w; write one with bench --report json=FILE", ErrNotReport, err)
	}
	if head.SchemaVersion != SchemaVersion {
		return Report{}, fmt.Errorf("%w: it has the schema version %d, and this program knows %d", ErrNotReport, head.SchemaVersion, SchemaVersion)
	}
	var r Report
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Report{}, fmt.Errorf("%w: %w; the file was changed by hand or is of another program", ErrNotReport, err)
	}
	if problem := r.problem(); problem != "" {
		return Report{}, fmt.Errorf("%w: %s; the file was changed by hand or is of another program", ErrNotReport, problem)
	}
	if r.Rows == nil {
		r.Rows = []Row{}
	}
	if r.Notes == nil {
		r.Notes = []string{}
	}
	return r, nil
}

// problem is what cannot be in a report, empty for nothing.
func (r *Report) problem() string {
	switch {
	case r.Target == "":
		return "it names no target"
	case r.DurationMS < 0 || r.RoundMS <= 0 || r.Rounds < 1 || r.Processors < 1:
		return "its durations, rounds or processors are below what there can be"
	}
	for _, m := range []*Memory{r.Before, r.After} {
		if m != nil && (m.Resident < 0 || m.Anonymous < 0) {
			return "it has a memory below 0"
		}
	}
	for i, row := range r.Rows {
		switch {
		case !slices.Contains(Loads(), row.Load):
			return fmt.Sprintf("row %d has the load %.40q, which is none", i, row.Load)
		case row.InFlight < 1 || row.Size < 0 || row.Connections < 1:
			return fmt.Sprintf("row %d has %d in flight over %d connections and a size of %d", i, row.InFlight, row.Connections, row.Size)
		case row.RateRatio < 0 || row.P50Ratio < 0 || row.P99Ratio < 0 || row.Target.negative() || row.Raw.negative():
			return fmt.Sprintf("row %d has a figure below 0", i)
		}
	}
	return ""
}

func (f *Figures) negative() bool {
	return f.Exchanges < 0 || f.Errors < 0 || f.Rate < 0 || f.P50 < 0 || f.P99 < 0 || f.P999 < 0 || f.CPU < 0
}

// WriteText writes a report for people.
func WriteText(w io.Writer, r Report) error {
	fmt.Fprintf(w, "target %s, beside a bare quic-go exchange; %s, %d processors; %d rounds of %.0f ms each\n\n",
		report.Printable(r.Target), report.Printable(r.Machine), r.Processors, r.Rounds, r.RoundMS)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, strings.Join(header(), "\t")+"\t")
	for _, row := range r.Rows {
		fmt.Fprintln(t, strings.Join(cells(row), "\t")+"\t")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Before != nil && r.After != nil {
		fmt.Fprintf(w, "\nmemory of the target: %.1f MB before (%.1f MB of it anonymous), %.1f MB after (%.1f MB)\n",
			megabytes(r.Before.Resident), megabytes(r.Before.Anonymous), megabytes(r.After.Resident), megabytes(r.After.Anonymous))
	}
	if !r.Complete {
		fmt.Fprintln(w, "\nThis is not all that was to be measured.")
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", report.Printable(n))
	}
	_, err := fmt.Fprintln(w, "\nA ratio is the target's figure divided by that of the bare exchange, the median over the rounds.")
	return err
}

// header and cells are the table of the text and of the page.
func header() []string {
	return []string{
		"load", "in flight", "bytes", "conns", "rate/s", "bare/s", "ratio", "p50 ms", "p99 ms", "p99.9 ms",
		"p50 ratio", "p99 ratio", "CPU µs", "bare CPU µs", "MB", "failed",
	}
}

func cells(row Row) []string {
	f, memory := row.Target, "-"
	if row.Memory != nil {
		memory = fmt.Sprintf("%.1f", megabytes(row.Memory.Resident))
	}
	return []string{
		string(row.Load), fmt.Sprint(row.InFlight), whole(row.Size), fmt.Sprint(row.Connections), fmt.Sprintf("%.0f", f.Rate), fmt.Sprintf("%.0f", row.Raw.Rate),
		fmt.Sprintf("%.2f", row.RateRatio), figure(f.P50, 3), figure(f.P99, 3), figure(f.P999, 3),
		figure(row.P50Ratio, 2), figure(row.P99Ratio, 2), figure(f.CPU, 1), figure(row.Raw.CPU, 1), memory, fmt.Sprint(f.Errors),
	}
}

func megabytes(n int64) float64 { return float64(n) / 1e6 }

func whole(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func figure(f float64, digits int) string {
	if f == 0 {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, f)
}

// WriteDiff writes how the rows of one report changed in another. Rates of two runs are
// compared by their ratios to the bare exchange, so that a busier machine is no change.
func WriteDiff(w io.Writer, before, after Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "load\tin flight\tbytes\tconns\tratio before\tafter\tchange\tp99 ratio before\tafter\tchange\t")
	common := 0
	for _, a := range before.Rows {
		for _, b := range after.Rows {
			if !a.same(b) {
				continue
			}
			common++
			fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%.2f\t%.2f\t%s\t%s\t%s\t%s\t\n", a.Load, a.InFlight, whole(a.Size), a.Connections, a.RateRatio, b.RateRatio, change(a.RateRatio, b.RateRatio),
				figure(a.P99Ratio, 2), figure(b.P99Ratio, 2), change(a.P99Ratio, b.P99Ratio))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if common == 0 {
		return fmt.Errorf("the two reports have no row in common: measure both with the same --load, --in-flight and --size")
	}
	var notes []string
	if before.Machine != after.Machine || before.Processors != after.Processors {
		notes = append(notes, fmt.Sprintf("measured on two machines: %s with %d processors, and %s with %d", before.Machine, before.Processors, after.Machine, after.Processors))
	}
	if left := len(before.Rows) + len(after.Rows) - 2*common; left > 0 {
		notes = append(notes, fmt.Sprintf("%d rows are in one of the two only", left))
	}
	if len(notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range notes {
		if _, err := fmt.Fprintf(w, "note: %s\n", report.Printable(n)); err != nil {
			return err
		}
	}
	return nil
}

func change(a, b float64) string {
	if a == 0 || b == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.0f %%", 100*(b-a)/a)
}
