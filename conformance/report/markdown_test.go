package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/axonproto/axon/conformance/verdict"
)

func markdownOf(t *testing.T, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMarkdown(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	text := markdownOf(t, failingReport(t))
	for _, want := range []string{
		"## AXON conformance: not conformant\n\n**Not conformant:** 5 MUSTs are broken, 1 more could not be judged.\n",
		"\n**1. AXON-FWD-002** (MUST) ", "- also breaks: AXON-DEFERR-005\n",
		"```sh\naxon-conformance run --target 127.0.0.1:43679 --scenario payloads.feature:75\n```\n",
		"- **could-not-run** `no connection to the target", "<details><summary>Warnings: 2 SHOULDs are broken</summary>",
		"| MUST |", "<details><summary>Not applicable: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if first, fold := strings.Index(text, "**1. "), strings.Index(text, "<details>"); first < 0 || fold < first {
		t.Error("failures do not come first")
	}
	if strings.Count(text, "<details>") != strings.Count(text, "</details>") {
		t.Error("a fold is left open")
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestMarkdownFitsAComment(t *testing.T) {
	for _, n := range []int{0, 1, 40, 150, 900} {
		text := markdownOf(t, manyFailures(t, n))
		if len(text) > MaxMarkdown {
			t.Errorf("%d failures take %d bytes", n, len(text))
		}
		if strings.Count(text, "<details>") != strings.Count(text, "</details>") || strings.Count(text, "\n```")%2 != 0 {
			t.Errorf("%d failures leave something open", n)
		}
	}
}

// TestMarkdownCannotBeSteered: what a target says forms no markup, link or mention.
func TestMarkdownCannotBeSteered(t *testing.T) {
	evil := "```\n</details><img src=x>[a](http://x) @everyone #1 `x` ``` ~~~ | <!-- \x1b[31m"
	r := sample()
	r.Target.Address, r.Notes = evil, []string{evil}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		q.Text += evil
		for k := range q.Scenarios {
			s := &q.Scenarios[k]
			s.Name, s.Expected, s.Actual, s.Reason, s.Rerun = evil, evil, evil, evil, evil
			s.Transcript = []Event{{Direction: "received", Connection: 1, Event: "data", Text: evil, Bytes: len(evil)}}
		}
	}
	text := markdownOf(t, r)
	// What is left once code is taken away must hold nothing of it.
	rest := outsideOfCode(text)
	for _, bad := range []string{"<img", "@everyone", "](http", "<!--", "\x1b", "\n~~~"} {
		if strings.Contains(strings.ReplaceAll(rest, `\`+bad[:1], ""), bad) {
			t.Errorf("%q stands outside of code", bad)
		}
	}
	if strings.Count(rest, "<details>") != strings.Count(rest, "</details>") {
		t.Error("a fold was closed from inside")
	}
	if t.Failed() {
		t.Log(rest)
	}
}

var fenceLine = regexp.MustCompile("^(`{3,})([a-z]*)$")

// outsideOfCode removes fenced blocks and code spans as CommonMark reads them.
func outsideOfCode(text string) string {
	var out []string
	open := ""
	for _, line := range strings.Split(text, "\n") {
		m := fenceLine.FindStringSubmatch(line)
		switch {
		case open == "" && m != nil:
			open = m[1]
		case open != "" && m != nil && len(m[1]) >= len(open) && m[2] == "":
			open = ""
		case open == "":
			out = append(out, spans(line))
		}
	}
	return strings.Join(out, "\n")
}

// spans removes the code spans of a line.
func spans(line string) string {
	var out strings.Builder
	for i := 0; i < len(line); {
		if line[i] == '\\' && i+1 < len(line) {
			out.WriteString(line[i : i+2])
			i += 2
			continue
		}
		if line[i] != '`' {
			out.WriteByte(line[i])
			i++
			continue
		}
		n := 0
		for i+n < len(line) && line[i+n] == '`' {
			n++
		}
		end := -1
		for k := i + n; k < len(line); {
			m := 0
			for k+m < len(line) && line[k+m] == '`' {
				m++
			}
			if m == n {
				end = k + m
				break
			}
			k += max(m, 1)
		}
		if end < 0 {
			out.WriteString(line[i : i+n])
			i += n
			continue
		}
		i = end
	}
	return out.String()
}

func TestMarkdownOfAGoodRun(t *testing.T) {
	text := markdownOf(t, good())
	if !strings.Contains(text, "**Conformant:** every MUST that applies holds (1).") || strings.Contains(text, "### ") {
		t.Errorf("got %s", text)
	}
	r := good()
	r.Requirements[0].Verdict, r.Requirements[0].Scenarios[0].Verdict = verdict.CouldNotRun, verdict.CouldNotRun
	r.Total()
	if text := markdownOf(t, r); !strings.Contains(text, "**Incomplete:** 1 requirement could not be judged, and none failed.") {
		t.Errorf("got %s", text)
	}
}
