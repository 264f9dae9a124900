package bench

import (
	"bytes"
	"encoding/xml"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/axonproto/axon/schemas"
)

// stored is a report with one of everything.
func stored() Report {
	figures := Figures{Exchanges: 1000, Errors: 1, Rate: 5000.5, P50: 0.2, P99: 1.5, P999: 9, CPU: 80}
	return Report{
		SchemaVersion: SchemaVersion, Suite: "0.1.0", Target: "127.0.0.1:7100", AgentID: "ed25519.00", Started: time.Date(2026, 2, 16, 12, 0, 0, 0, time.UTC),
		DurationMS: 1234.5, Machine: "linux/amd64, go1.26", Processors: 2, RoundMS: 1000, Rounds: 3, Before: &Memory{1e7, 5e6}, After: &Memory{2e7, 1e7},
		Rows: []Row{
			{Load: Request, InFlight: 1, Connections: 1, Size: 200, Target: figures, Raw: figures, RateRatio: 0.5, P50Ratio: 2, P99Ratio: 3},
			{Load: Request, InFlight: 64, Connections: 1, Size: 200, Target: figures, Raw: figures, RateRatio: 0.4, P50Ratio: 2, P99Ratio: 3},
			{Load: Message, InFlight: 1, Connections: 1, Size: 3000, Target: Figures{Rate: 1}, Raw: Figures{Rate: 2}, RateRatio: 0.5},
			{Load: Handshake, InFlight: 1, Connections: 1, Target: figures, Raw: figures, RateRatio: 0.9, P50Ratio: 1, P99Ratio: 1},
		},
		Notes: []string{"request, 1 in flight, 200 bytes: 1 of 1001 failed"},
	}
}

func jsonOf(t testing.TB, r Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadJSONRefuses(t *testing.T) {
	text := string(jsonOf(t, stored()))
	if r, err := ReadJSON(strings.NewReader(text)); err != nil || !reflect.DeepEqual(r, stored()) {
		t.Errorf("%+v, %v", r, err)
	}
	for name, c := range map[string]struct{ doc, want string }{
		"empty":         {"", "unexpected end"},
		"other":         {"{}", "schema version 0"},
		"next version":  {strings.Replace(text, `"schema_version": 1`, `"schema_version": 2, "more": 1`, 1), "schema version 2"},
		"another":       {strings.Replace(text, `"machine"`, `"machines"`, 1), "unknown field"},
		"text after it": {text + "x", "after top-level value"},
		"load":          {strings.Replace(text, `"load": "message"`, `"load": "\u001b[31m"`, 1), `row 2 has the load "\x1b[31m"`},
		"in flight":     {strings.Replace(text, `"in_flight": 64`, `"in_flight": 0`, 1), "row 1 has 0 in flight"},
		"figure":        {strings.Replace(text, `"rate": 2`, `"rate": -2`, 1), "row 2 has a figure below 0"},
		"memory":        {strings.Replace(text, `"resident": 1`, `"resident": -1`, 1), "memory below 0"},
		"rounds":        {strings.Replace(text, `"rounds": 3`, `"rounds": 0`, 1), "rounds"},
		"target":        {strings.Replace(text, `"127.0.0.1:7100"`, `""`, 1), "no target"},
	} {
		if _, err := ReadJSON(strings.NewReader(c.doc)); !errors.Is(err, ErrNotReport) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}

func TestNotesOfADiffStandInLines(t *testing.T) {
	other := stored()
	other.Machine, other.Rows = "a\x1b[31m", other.Rows[:2]
	var b bytes.Buffer
	if err := WriteDiff(&b, stored(), other); err != nil {
		t.Fatal(err)
	}
	if want := "\n\nnote: measured on two machines: linux/amd64, go1.26 with 2 processors, and a\\x1b[31m with 2\nnote: 2 rows are in one of the two only\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("got %q, want at its end %q", b.String(), want)
	}
}

// FuzzReadJSON: a report that is taken keeps to its schema once it is written, and is
// the same then; compared with itself nothing has changed; and nothing in it gets out
// of its place on a screen or in a page.
func FuzzReadJSON(f *testing.F) {
	hostile := stored()
	hostile.Target, hostile.Machine = "\x1b[31m</title><script>alert(1)</script>", "\x1b]0;x\a\t"
	hostile.Notes = []string{"a\r\nb\x1b[2J", "<img onerror=x>"}
	for _, r := range []Report{stored(), hostile, {SchemaVersion: SchemaVersion, Target: "x", RoundMS: 1, Rounds: 1, Processors: 1}} {
		f.Add(jsonOf(f, r))
	}
	text := string(jsonOf(f, stored()))
	for _, s := range []string{"", "{}", "null", text + "x", strings.Replace(text, "5000.5", "1e308", 1), strings.Replace(text, `"in_flight": 64`, `"in_flight": 9223372036854775807`, 1)} {
		f.Add([]byte(s))
	}
	schema, err := schemas.Compile("bench/report")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ReadJSON(bytes.NewReader(text))
		if err != nil {
			if !errors.Is(err, ErrNotReport) || len(err.Error()) > 10*len(text)+500 || !reflect.DeepEqual(r, Report{}) {
				t.Fatalf("%q: %v, %+v", text, err, r)
			}
			return
		}
		written := jsonOf(t, r)
		if err := schema.Validate(written); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if again, err := ReadJSON(bytes.NewReader(written)); err != nil || !reflect.DeepEqual(r, again) {
			t.Fatalf("%q: read as %+v, written and read as %+v, %v", text, r, again, err)
		}
		var b bytes.Buffer
		if err := WriteText(&b, r); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		fitScreen(t, text, b.String())
		b.Reset()
		if err := WriteDiff(&b, r, r); (err == nil) != (len(r.Rows) > 0) {
			t.Fatalf("%q: %v", text, err)
		}
		fitScreen(t, text, b.String())
		b.Reset()
		if err := WriteHTML(&b, r); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		page := strings.ToLower(b.String())
		for _, tag := range []string{"<script", "<img", "<iframe", "</title><"} {
			if strings.Contains(page, tag) {
				t.Fatalf("%q: the page holds %s", text, tag)
			}
		}
		for _, p := range viewOf(r).Plots {
			if err := xml.Unmarshal([]byte(p.SVG), new(struct{})); err != nil || strings.Contains(string(p.SVG), "NaN") || strings.Contains(string(p.SVG), "Inf") {
				t.Fatalf("%q: %v in %s", text, err, p.SVG)
			}
		}
	})
}

func fitScreen(t *testing.T, text []byte, shown string) {
	t.Helper()
	if at := strings.IndexFunc(shown, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }); at >= 0 {
		t.Fatalf("%q: shown: %q", text, shown[at:])
	}
}
