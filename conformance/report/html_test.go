package report

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/axonproto/axon/conformance/verdict"
)

// failingReport is a run of the suite against a peer that is broken on purpose,
// shortened, with one transcript that holds every kind of event.
func failingReport(t *testing.T) Report {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "failing.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := ReadJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	r.Total()
	return r
}

// manyFailures has n failing requirements, each with a check over ten streams
// that carry as many bytes as a transcript keeps.
func manyFailures(t *testing.T, n int) Report {
	t.Helper()
	r := failingReport(t)
	pattern := r.Requirements[slices.IndexFunc(r.Requirements, func(q Requirement) bool { return q.ID == "AXON-TLS-001" })]
	var events []Event
	for k := range int64(10) {
		events = append(events,
			Event{AtMS: float64(k), Direction: "sent", Connection: 1, Stream: 4 * k, Event: "open", Text: "bidirectional"},
			Event{AtMS: float64(k), Direction: "sent", Connection: 1, Stream: 4 * k, Event: "data", Text: strings.Repeat("é<", 1365), Bytes: 9000},
			Event{AtMS: float64(k), Direction: "sent", Connection: 1, Stream: 4 * k, Event: "fin", Fin: true},
			Event{AtMS: float64(k), Direction: "received", Connection: 1, Stream: 4 * k, Event: "data", Hex: strings.Repeat("00ff", 2048), Bytes: 4096})
	}
	r.Requirements = nil
	for i := range n {
		q := pattern
		q.ID, q.Scenarios = fmt.Sprintf("AXON-KIND-%03d", i+1), nil
		for k := range 12 {
			s := Scenario{Name: fmt.Sprintf("Check %d of %d", k, i), Location: fmt.Sprintf("kinds.feature:%d", 100*i+k), Verdict: verdict.Pass, DurationMS: 1}
			if k == 3 {
				s.Verdict, s.Transcript, s.Expected, s.Rerun = verdict.Fail, events, "something", "axon-conformance run"
				s.Actual = "fault " + strings.Repeat(string(rune('a'+i%26)), 1+i/26)
			}
			q.Scenarios = append(q.Scenarios, s)
		}
		r.Requirements = append(r.Requirements, q)
	}
	r.Total()
	return r
}

func htmlOf(t *testing.T, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, r, HTMLOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// walk calls f for each element of a page.
func walk(t *testing.T, text string, f func(n *html.Node, attribute map[string]string)) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		attribute := map[string]string{}
		for _, a := range n.Attr {
			attribute[a.Key] = a.Val
		}
		f(n, attribute)
	}
}

// TestHTMLIsSelfContained: nothing in the page leads out of it, nothing in it can
// run but its one script, and each link inside leads somewhere.
func TestHTMLIsSelfContained(t *testing.T) {
	for name, r := range map[string]Report{"sample": sample(), "good": good(), "failing": failingReport(t), "empty": {}} {
		text := htmlOf(t, r)
		ids, links := map[string]bool{}, []string{}
		scripts := 0
		walk(t, text, func(n *html.Node, a map[string]string) {
			if id, ok := a["id"]; ok {
				if ids[id] {
					t.Errorf("%s: the id %s stands twice", name, id)
				}
				ids[id] = true
			}
			for key, value := range a {
				switch {
				case strings.HasPrefix(key, "on"), key == "style", key == "src", key == "srcset", key == "action", key == "ping":
					t.Errorf("%s: <%s %s=%q>", name, n.Data, key, value)
				case key == "href" && n.Data == "a":
					links = append(links, value)
				case key == "href" && value != "data:,":
					t.Errorf("%s: <%s href=%q>", name, n.Data, value)
				}
			}
			switch n.Data {
			case "script":
				scripts++
				if n.FirstChild == nil || n.FirstChild.Data != pageScript {
					t.Errorf("%s: the script is not the page's own, so its hash does not fit", name)
				}
			case "style":
				if n.FirstChild == nil || n.FirstChild.Data != pageStyle {
					t.Errorf("%s: the style is not the page's own, so its hash does not fit", name)
				}
			case "b", "img", "iframe", "object", "embed", "base", "form":
				if a["onclick"] != "" || n.Data == "img" || n.Data == "iframe" || n.Data == "object" || n.Data == "embed" || n.Data == "base" {
					t.Errorf("%s: <%s>", name, n.Data)
				}
			}
		})
		if scripts != 1 {
			t.Errorf("%s: %d scripts", name, scripts)
		}
		for _, link := range links {
			fragment, ok := strings.CutPrefix(link, "#")
			plain, err := url.PathUnescape(fragment)
			if !ok || err != nil || !ids[plain] {
				t.Errorf("%s: the link %q leads nowhere", name, link)
			}
		}
		for _, q := range r.Requirements {
			if !ids[q.ID] {
				t.Errorf("%s: no place to link to for %s", name, q.ID)
			}
		}
	}
}

var anyTag = regexp.MustCompile(`<[^>]*>`)

func TestHTMLSaysWhatCounts(t *testing.T) {
	text := htmlOf(t, failingReport(t))
	plain := strings.Join(strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(text, " "))), " ")
	for _, want := range []string{
		"Not conformant: 5 MUSTs are broken, 1 more could not be judged.",
		"Fix first", "also breaks AXON-DEFERR-005",
		`actual the token axon/2 <b onclick="alert(1)">"quoted"</b>`,
		"AXON Message Types 2026-02-16, lines 43, 104",
		"no connection to the target: handshake: timeout",
		"What went over the wire", "stream 4 reset, code 1", "stream 4 stop sending, code 1", "connection close, code 298 (0x12a) bad certificate",
		"1.50 s later", "51 B FIN",
		"stream 4 bidirectional, opened by the suite 4 B, asked to stop with code 1 at 3.0 ms 0 B, reset with code 1 at 3.1 ms",
		"stream 3 unidirectional, opened by the target nothing can be sent back 43 B, FIN at 3.4 ms",
		"axon-conformance run --target 127.0.0.1:43679 --scenario payloads.feature:75",
		"the target took 310ms to answer",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(plain)
	}
}

// TestHTMLStaysSmall: under 1 MB with 40 failures, however much they carried.
func TestHTMLStaysSmall(t *testing.T) {
	for n, most := range map[int]int{1: 200 << 10, 40: 1000 * 1000, 150: 2000 * 1000} {
		text := htmlOf(t, manyFailures(t, n))
		t.Logf("%d failures: %d bytes", n, len(text))
		if len(text) > most {
			t.Errorf("%d failures take %d bytes", n, len(text))
		}
		if strings.Contains(text, "\uFFFD") {
			t.Error("a character was cut in two")
		}
	}
}

// TestLongTextsAreCut: a target that says much does not make a large page.
func TestLongTextsAreCut(t *testing.T) {
	r := sample()
	long := strings.Repeat("<é`", 1<<18)
	r.Target.Address, r.Notes = long, []string{long}
	for i := range r.Requirements {
		r.Requirements[i].Text, r.Requirements[i].Fix = long, long
		for k := range r.Requirements[i].Scenarios {
			s := &r.Requirements[i].Scenarios[k]
			s.Name, s.Reason, s.Expected, s.Actual, s.Rerun, s.Steps = long, long, long, long, long, []string{long}
		}
	}
	if text := htmlOf(t, r); len(text) > 1<<20 || strings.Contains(text, "\uFFFD") {
		t.Errorf("the page has %d bytes", len(text))
	}
}

// TestCheckIsShownOnce: where it serves several requirements the others link.
func TestCheckIsShownOnce(t *testing.T) {
	r := sample()
	text := htmlOf(t, r)
	if got := strings.Count(text, `class="seq"`); got != 1 {
		t.Errorf("the transcript of one check is drawn %d times", got)
	}
	if !strings.Contains(text, `href="#check-AXON-ENV-002-envelope.feature%3a20"`) {
		t.Error("the second requirement does not lead to the first")
	}
	if got := causes(r); len(got) != 1 || !slices.Equal(got[0].also, []string{"AXON-ENV-007"}) {
		t.Errorf("got %+v", got)
	}
}

func TestCausesOrder(t *testing.T) {
	failed := func(location, actual string) Scenario {
		return Scenario{Location: location, Verdict: verdict.Fail, Actual: actual}
	}
	r := Report{Strict: true, Requirements: []Requirement{
		{ID: "A", Level: "SHOULD", Verdict: verdict.Warn, Scenarios: []Scenario{{Location: "s", Verdict: verdict.Warn, Actual: "shout"}}},
		{ID: "B", Level: "MUST", Verdict: verdict.Fail, Scenarios: []Scenario{failed("b", "one")}},
		{ID: "C", Level: "MUST", Verdict: verdict.Fail, Scenarios: []Scenario{failed("c", "id 6f1c2f3a-8f1e-4c7b-9d55-0123456789ab after 3 ms")}},
		{ID: "D", Level: "MUST", Verdict: verdict.Fail, Scenarios: []Scenario{failed("d", "id 00000000-8f1e-4c7b-9d55-0123456789ab after 12 ms")}},
		{ID: "E", Level: "MUST", Verdict: verdict.Fail, Scenarios: []Scenario{failed("c", "another word"), failed("b", "one")}},
		{ID: "F", Level: "MUST", Verdict: verdict.Pass, Scenarios: []Scenario{{Location: "b", Verdict: verdict.Pass}}},
	}}
	var got []string
	for _, c := range causes(r) {
		got = append(got, c.requirement.ID+":"+strings.Join(c.also, "+"))
	}
	// E fails for two reasons, so no single cause explains it.
	if want := []string{"C:D", "B:", "E:", "A:"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRanges(t *testing.T) {
	for want, lines := range map[string][]int{"": nil, "3": {3}, "32–33, 70, 76–79": {32, 33, 70, 76, 77, 78, 79}} {
		if got := ranges(lines); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRelativeLinks(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ dir, path, want string }{
		{"", "logs/a.sqlog", "logs/a.sqlog"}, {"", "", ""},
		{dir, filepath.Join(dir, "logs", "a.sqlog"), "logs/a.sqlog"},
		{filepath.Join(dir, "out"), filepath.Join(dir, "logs", "a.sqlog"), "../logs/a.sqlog"},
	} {
		if got := RelativePath(c.dir, c.path); got != c.want {
			t.Errorf("from %q to %q: got %q, want %q", c.dir, c.path, got, c.want)
		}
	}
}

// TestQLogIsLinked: from the page's own directory to the file.
func TestQLogIsLinked(t *testing.T) {
	r := sample()
	dir := t.TempDir()
	r.Requirements[1].Scenarios[0].QLog = filepath.Join(dir, "logs", "envelope.feature-20.sqlog")
	var b bytes.Buffer
	if err := WriteHTML(&b, r, HTMLOptions{Dir: filepath.Join(dir, "out")}); err != nil {
		t.Fatal(err)
	}
	if want := `<a href="../logs/envelope.feature-20.sqlog">../logs/envelope.feature-20.sqlog</a>`; !strings.Contains(b.String(), want) {
		t.Errorf("no %s", want)
	}
}
