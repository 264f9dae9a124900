package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/axonproto/axon/conformance/verdict"
)

// one makes a requirement with a check for each verdict.
func one(id, level string, verdicts ...verdict.Verdict) Requirement {
	q := Requirement{ID: id, Level: level, Section: "kinds", SectionTitle: "Kinds", Text: "The `text` of " + id + "."}
	for i, v := range verdicts {
		q.Scenarios = append(q.Scenarios, Scenario{Name: "Check", Location: "kinds.feature:" + string(rune('1'+i)), Verdict: v, Actual: "it was <odd>"})
	}
	q.Verdict = verdict.Worst(verdicts...)
	return q
}

func of(requirements ...Requirement) Report {
	r := good()
	r.Requirements = requirements
	r.Total()
	return r
}

func TestDiff(t *testing.T) {
	before := of(
		one("AXON-KIND-001", "MUST", verdict.Pass), one("AXON-KIND-002", "MUST", verdict.Fail), one("AXON-KIND-003", "MUST", verdict.NotApplicable),
		one("AXON-KIND-004", "MUST", verdict.Fail, verdict.Pass), one("AXON-KIND-005", "MUST", verdict.Pass), one("AXON-KIND-006", "MUST", verdict.CouldNotRun),
		one("AXON-KIND-007", "MUST", verdict.Pass), one("AXON-KIND-008", "SHOULD", verdict.Pass), one("AXON-KIND-009", "MUST", verdict.Pass), one("AXON-KIND-011", "MUST", verdict.Fail))
	after := of(
		one("AXON-KIND-001", "MUST", verdict.Fail), one("AXON-KIND-002", "MUST", verdict.Pass), one("AXON-KIND-003", "MUST", verdict.Pass),
		one("AXON-KIND-004", "MUST", verdict.Pass, verdict.Fail), one("AXON-KIND-005", "MUST", verdict.NotApplicable), one("AXON-KIND-006", "MUST", verdict.Pass),
		one("AXON-KIND-007", "MUST", verdict.CouldNotRun), one("AXON-KIND-008", "SHOULD", verdict.Warn), one("AXON-KIND-010", "MUST", verdict.Pass), one("AXON-KIND-011", "MUST", verdict.Fail))
	d := Diff("old.json", before, "new.json", after)
	ids := func(list []Change) string {
		var names []string
		for _, c := range list {
			names = append(names, c.ID[len(c.ID)-3:])
		}
		return strings.Join(names, " ")
	}
	for what, pair := range map[string][2]string{
		"broken":     {ids(d.Broken), "001 008"},
		"fixed":      {ids(d.Fixed), "002"},
		"shifted":    {ids(d.Shifted), "004"},
		"applicable": {ids(d.Applicable), "003 010"},
		"gone":       {ids(d.Gone), "005 009"},
		"unjudged":   {ids(d.Unjudged), "007"},
		"judged":     {ids(d.Judged), "006"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %s, want %s", what, pair[0], pair[1])
		}
	}
	if d.Same != 1 || !d.Worse() || d.Broken[1].Counts || len(d.Shifted[0].Checks) != 2 {
		t.Errorf("got %+v", d)
	}
	var text, markdown, doc bytes.Buffer
	for _, err := range []error{d.WriteText(&text), d.WriteMarkdown(&markdown), d.WriteJSON(&doc)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"NEWLY BROKEN (2)\n   AXON-KIND-001  MUST  pass → fail  The", "      kinds.feature:1 Check: pass → fail; it was <odd>\n",
		"NEWLY APPLICABLE (2)", "AXON-KIND-010  MUST  absent → pass", "2 newly broken, 1 broken in other checks than before, 1 newly fixed,"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	if !strings.Contains(markdown.String(), "### Newly broken (2)\n\n- **AXON-KIND-001** (MUST) pass → fail: The `text` of") || strings.Contains(outsideOfCode(markdown.String()), "<odd>") {
		t.Errorf("the Markdown is\n%s", markdown.String())
	}
	var back Difference
	if err := json.Unmarshal(doc.Bytes(), &back); err != nil || len(back.Broken) != 2 {
		t.Errorf("%v: %s", err, doc.String())
	}
	same := Diff("a", before, "b", before)
	text.Reset()
	if err := same.WriteText(&text); err != nil || !strings.Contains(text.String(), "\nnothing changed in 10 requirements\n") || same.Worse() {
		t.Errorf("%v: %s", err, text.String())
	}
	// A check that moved to another line is the same one.
	moved := of(one("AXON-KIND-004", "MUST", verdict.Fail, verdict.Pass))
	for i := range moved.Requirements[0].Scenarios {
		moved.Requirements[0].Scenarios[i].Location += "00"
	}
	if d := Diff("a", of(one("AXON-KIND-004", "MUST", verdict.Fail, verdict.Pass)), "b", moved); d.Same != 1 {
		t.Errorf("got %+v", d)
	}
}

func TestMatrix(t *testing.T) {
	a := of(one("AXON-KIND-001", "MUST", verdict.Pass), one("AXON-KIND-002", "MUST", verdict.Pass), one("AXON-KIND-003", "SHOULD", verdict.NotApplicable))
	b := of(one("AXON-KIND-001", "MUST", verdict.Fail), one("AXON-KIND-002", "MUST", verdict.Pass), one("AXON-KIND-009", "MUST", verdict.CouldNotRun))
	b.Suite.Version, b.Target.Address = "9.9", "<b>|`"
	m := NewMatrix([]MatrixEntry{{"ours", a}, {"a|`<i>theirs", b}})
	var text, markdown, page bytes.Buffer
	for _, write := range []struct {
		f func(io.Writer) error
		b *bytes.Buffer
	}{{m.WriteText, &text}, {m.WriteMarkdown, &markdown}, {m.WriteHTML, &page}} {
		if err := write.f(write.b); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(text.String(), "\n")
	find := func(prefix string) string {
		for _, l := range lines {
			if strings.HasPrefix(l, prefix) {
				return strings.Join(strings.Fields(l), " ")
			}
		}
		return ""
	}
	for prefix, want := range map[string]string{
		"verdict": "verdict Conformant Not conformant", "MUST": "MUST 2/2 1/3", "AXON-KIND-001": "AXON-KIND-001 MUST pass FAIL",
		"AXON-KIND-003": "AXON-KIND-003 SHOULD –", "AXON-KIND-009": "AXON-KIND-009 MUST ?", "note": "note: a|`<i>theirs was judged by suite 9.9, ours by devel",
	} {
		if got := find(prefix); got != want {
			t.Errorf("got %q, want %q\n%s", got, want, text.String())
		}
	}
	if !strings.Contains(markdown.String(), "| AXON-KIND-001 | MUST | pass | **FAIL** |\n") || strings.Contains(outsideOfCode(markdown.String()), "<b>") {
		t.Errorf("the Markdown is\n%s", markdown.String())
	}
	for _, line := range strings.Split(markdown.String(), "\n") {
		if n := strings.Count(line, "|"); strings.HasPrefix(line, "|") && n != 4 && n != 5 {
			t.Errorf("a row has %d bars: %s", n, line)
		}
	}
	same := 0
	walk(t, page.String(), func(n *html.Node, a map[string]string) {
		if a["class"] == "same" {
			same++
		}
		if n.Data == "i" || n.Data == "script" || a["style"] != "" || a["src"] != "" {
			t.Errorf("<%s %v>", n.Data, a)
		}
		if n.Data == "style" && n.FirstChild.Data != pageStyle {
			t.Error("the style does not fit its hash")
		}
	})
	if same != 1 {
		t.Errorf("%d rows are the same in all columns, want 1", same)
	}
}

func TestBadge(t *testing.T) {
	for want, r := range map[string]Report{
		"AXON 2026-02-16: 1/1 MUST":             good(),
		"AXON 2026-02-16: 1/5 MUST, incomplete": sample(), // a fault of the suite
		"AXON 2026-02-16: 1/2 MUST":             of(one("A", "MUST", verdict.Pass), one("B", "MUST", verdict.Fail)),
		"AXON 2026-02-16: 1/2 MUST, incomplete": of(one("A", "MUST", verdict.Pass), one("B", "MUST", verdict.CouldNotRun)),
		"AXON 2026-02-16: 0/0 MUST, incomplete": of(one("A", "MUST", verdict.NotApplicable)),
		"AXON <&>: 1/1 MUST":                    func() Report { r := good(); r.Suite.Edition = "<&>"; return r }(),
	} {
		var b bytes.Buffer
		if err := WriteBadge(&b, r); err != nil {
			t.Fatal(err)
		}
		var svg struct {
			Label string `xml:"aria-label,attr"`
			Title string `xml:"title"`
		}
		if err := xml.Unmarshal(b.Bytes(), &svg); err != nil || svg.Label != want || !strings.HasPrefix(svg.Title, want) {
			t.Errorf("got %q, %q, %v; want %q", svg.Label, svg.Title, err, want)
		}
	}
}

// part is a report of a part of a run.
func part(index, of int, requirements ...Requirement) Report {
	r := good()
	r.Requirements, r.Shard = requirements, &Shard{index, of}
	r.Total()
	return r
}

func TestMerge(t *testing.T) {
	whole := func(v verdict.Verdict, reason string) Scenario {
		return Scenario{Name: "Over the run", Location: "kinds.feature:9", Verdict: v, Reason: reason, WholeRun: true, DurationMS: 1}
	}
	at := func(line string, v verdict.Verdict) Scenario {
		return Scenario{Name: "Check " + line, Location: "kinds.feature:" + line, Verdict: v}
	}
	kind := func(scenarios ...Scenario) Requirement {
		var all []verdict.Verdict
		for _, s := range scenarios {
			all = append(all, s.Verdict)
		}
		return Requirement{ID: "AXON-KIND-002", Level: "MUST", Section: "kinds", Text: "T.", Scenarios: scenarios, Verdict: verdict.Worst(all...)}
	}
	order := func(a, b string) int { return strings.Compare(a, b) }
	one := part(1, 3, kind(at("3", verdict.Pass), at("7", verdict.Pass), whole(verdict.NotApplicable, "nothing was sent")))
	two := part(2, 3, kind(at("1", verdict.Pass), whole(verdict.Pass, "held 3 times")))
	three := part(3, 3, kind(at("2", verdict.Fail), whole(verdict.Pass, "held 9 times")))
	three.Baseline = &Baseline{File: "x"}
	three.Notes = append(three.Notes, "slow")
	merged, err := Merge([]Report{three, one, two}, order)
	if err != nil {
		t.Fatal(err)
	}
	q := merged.Requirements[0]
	var places []string
	for _, s := range q.Scenarios {
		places = append(places, s.Location[len("kinds.feature:"):]+string(s.Verdict))
	}
	if !slices.Equal(places, []string{"1pass", "2fail", "3pass", "7pass", "9pass"}) || q.Scenarios[4].Reason != "held 3 times; held 9 times" || q.Scenarios[4].DurationMS != 3 {
		t.Errorf("got %v, %+v", places, q.Scenarios[4])
	}
	if merged.Shard != nil || merged.Baseline != nil || merged.ExitCode != ExitBroken || merged.Summary.Must.Fail != 1 || merged.DurationMS != 3*one.DurationMS || len(merged.Notes) != 2 {
		t.Errorf("got %+v", merged)
	}
	// One part that fails over the run fails the whole.
	three.Requirements[0].Scenarios[1] = whole(verdict.Fail, "broken once")
	merged, err = Merge([]Report{one, two, three}, order)
	if s := merged.Requirements[0].Scenarios[4]; err != nil || s.Verdict != verdict.Fail || s.Reason != "broken once" {
		t.Errorf("got %+v, %v", s, err)
	}

	other := func(change func(*Report)) Report {
		r := part(2, 2, kind(at("1", verdict.Pass)))
		change(&r)
		return r
	}
	first := part(1, 2, kind(at("3", verdict.Pass)))
	for want, parts := range map[string][]Report{
		"there is none":               {},
		"report 1 is of a whole run":  {good()},
		"part 2/2 is missing":         {first},
		"part 1/2 is there twice":     {first, first},
		"part 2/3 stands beside part": {first, part(2, 3)},
		"made by suite 9 for edition": {first, other(func(r *Report) { r.Suite.Version = "9" })},
		"with --strict":               {first, other(func(r *Report) { r.Strict = true })},
		"part 2/2 had wire of the":    {first, other(func(r *Report) { r.Target.Capabilities = []string{"wire"} })},
		"about other requirements":    {first, other(func(r *Report) { r.Requirements = nil })},
		"stands in more than one":     {first, other(func(r *Report) { r.Requirements = first.Requirements })},
		"cannot be":                   {first, other(func(r *Report) { r.Shard.Index = 7 })},
	} {
		if _, err := Merge(parts, order); !errors.Is(err, ErrCannotMerge) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	// Targets with keys of their own are told of.
	merged, err = Merge([]Report{first, other(func(r *Report) { r.Target.AgentID = "ed25519.ffffffffffffffffffffffffffffffff" })}, order)
	if err != nil || !slices.ContainsFunc(merged.Notes, func(n string) bool { return strings.Contains(n, "met 2 targets") }) {
		t.Errorf("got %v, %v", merged.Notes, err)
	}
}
