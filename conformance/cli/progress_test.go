package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/conformance/verdict"
)

func play(g *progress, verdicts ...verdict.Verdict) {
	for i, v := range verdicts {
		g.show(suite.Progress{Done: i + 1, Total: len(verdicts), Name: "\x1b[2Jname", Location: "kinds.feature:3",
			IDs: []string{"AXON-KIND-002"}, Verdict: v, Reason: "because", Duration: 3 * time.Millisecond})
	}
	g.finish()
}

func newTestProgress(listed int) (*progress, *bytes.Buffer) {
	var b bytes.Buffer
	g := &progress{w: &b, repeat: 1, now: time.Now}
	for range listed {
		g.section([]string{"AXON-KIND-002"}, "kinds.feature:3").total++
	}
	return g, &b
}

func TestProgressPlain(t *testing.T) {
	g, b := newTestProgress(3)
	play(g, verdict.Pass, verdict.Fail, verdict.Pass)
	if want := "Kinds: 3 of 3 checks: 2 pass, 1 fail\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	// An interrupted run shows how far it came, once.
	g, b = newTestProgress(5)
	play(g, verdict.Pass)
	if want := "Kinds: 1 of 5 checks: 1 pass\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestProgressVerbose(t *testing.T) {
	g, b := newTestProgress(2)
	g.verbose = true
	play(g, verdict.Pass, verdict.Fail)
	want := "pass                3 ms  kinds.feature:3  \\x1b[2Jname\n" +
		"fail                3 ms  kinds.feature:3  \\x1b[2Jname: because\n"
	if b.String() != want {
		t.Errorf("got\n%q, want\n%q", b.String(), want)
	}
}

func TestProgressQuiet(t *testing.T) {
	g, b := newTestProgress(1)
	g.quiet = true
	play(g, verdict.Fail)
	if b.Len() > 0 {
		t.Errorf("got %q", b.String())
	}
}

func TestProgressLive(t *testing.T) {
	g, b := newTestProgress(4)
	g.term = terminal{live: true, width: 30}
	now := time.Unix(0, 0)
	g.now = func() time.Time { now = now.Add(redrawEvery / 2); return now }
	play(g, verdict.Fail, verdict.Pass, verdict.Pass, verdict.Pass)
	text := b.String()
	if strings.Contains(text, "\n") || !strings.HasSuffix(text, "\r\x1b[K") {
		t.Errorf("the line does not stay one, or does not go away: %q", text)
	}
	if !strings.Contains(text, "4/4  Kinds  (1 not good)") {
		t.Errorf("the last state is not shown: %q", text)
	}
	if drawn := strings.Count(text, "/4 "); drawn != 3 {
		t.Errorf("drawn %d times, want 3: at first, after the pause, and at the end", drawn)
	}
	for _, line := range strings.Split(text, "\r\x1b[K") {
		if len([]rune(line)) >= 30 {
			t.Errorf("wider than the terminal: %q", line)
		}
	}
}

func TestProgressOfRepetitions(t *testing.T) {
	p := &program{err: &bytes.Buffer{}, env: Env{Getenv: func(string) string { return "" }}}
	g := p.newProgress(&runFlags{repeat: 3}, []suite.Listed{{IDs: []string{"AXON-KIND-002"}, Location: "kinds.feature:3"}, {Location: "own/mine.feature:1"}})
	if len(g.sections) != 2 || g.sections[0].total != 3 || g.sections[1].title != "mine" {
		t.Errorf("got %+v", g.sections)
	}
}
