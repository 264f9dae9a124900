package cli

import (
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/spec"
)

// redrawEvery keeps a live line from costing more than the checks.
const redrawEvery = 50 * time.Millisecond

// progress shows what happens meanwhile, on standard error: one live line on a
// terminal, one line for each section otherwise, one for each check with
// --verbose, nothing with --quiet.
type progress struct {
	w              io.Writer
	term           terminal
	quiet, verbose bool
	now            func() time.Time

	repeat   int
	drawn    time.Time
	live     bool // a live line stands on the terminal
	bad      int
	sections []*sectionProgress
}

type sectionProgress struct {
	title       string
	done, total int
	by          map[verdict.Verdict]int
	written     bool
}

func (p *program) newProgress(f *runFlags, listed []suite.Listed) *progress {
	g := &progress{w: p.err, term: p.terminalOf(p.err), quiet: f.quiet, verbose: f.verbose, now: time.Now, repeat: f.repeat}
	for _, l := range listed {
		g.section(l.IDs, l.Location).total += f.repeat
	}
	return g
}

// section finds or adds the section of a scenario: that of its first
// requirement, or its file where there is none.
func (g *progress) section(ids []string, location string) *sectionProgress {
	title := ""
	if len(ids) > 0 {
		if q, known := spec.Lookup(ids[0]); known {
			title = q.SectionTitle
		}
	}
	if title == "" {
		file, _, _ := strings.Cut(location, ":")
		title = strings.TrimSuffix(path.Base(file), ".feature")
	}
	for _, s := range g.sections {
		if s.title == title {
			return s
		}
	}
	s := &sectionProgress{title: title, by: map[verdict.Verdict]int{}}
	g.sections = append(g.sections, s)
	return s
}

// show tells of one finished scenario.
func (g *progress) show(done suite.Progress) {
	if g.quiet {
		return
	}
	s := g.section(done.IDs, done.Location)
	s.done++
	s.by[done.Verdict]++
	switch done.Verdict {
	case verdict.Fail, verdict.CouldNotRun, verdict.HarnessError:
		g.bad++
	}
	switch {
	case g.verbose:
		g.clear()
		line := fmt.Sprintf("%-14s %6d ms  %s  %s", done.Verdict, done.Duration.Milliseconds(), done.Location, done.Name)
		if done.Reason != "" && done.Verdict != verdict.Pass {
			line += ": " + done.Reason
		}
		fmt.Fprintln(g.w, report.Printable(line))
	case g.term.live:
		g.draw(s, done)
	case s.done == s.total:
		g.line(s)
	}
}

// draw writes the live line over the last one.
func (g *progress) draw(s *sectionProgress, done suite.Progress) {
	now := g.now()
	if done.Done < done.Total && now.Sub(g.drawn) < redrawEvery {
		return
	}
	g.drawn = now
	line := fmt.Sprintf("%d/%d  %s", done.Done, done.Total, s.title)
	if g.bad > 0 {
		line += fmt.Sprintf("  (%d not good)", g.bad)
	}
	line += "  " + report.Printable(done.Name)
	if width := g.term.width; width > 1 {
		if letters := []rune(line); len(letters) >= width {
			line = string(letters[:width-1])
		}
	}
	fmt.Fprintf(g.w, "\r\x1b[K%s", line)
	g.live = true
}

func (g *progress) clear() {
	if g.live {
		fmt.Fprint(g.w, "\r\x1b[K")
		g.live = false
	}
}

// shownOrder is the order of the counts in a line.
var shownOrder = []verdict.Verdict{verdict.Pass, verdict.Fail, verdict.Warn, verdict.Observed,
	verdict.CouldNotRun, verdict.HarnessError, verdict.NotApplicable}

// line writes the counts of a section.
func (g *progress) line(s *sectionProgress) {
	if s.written || s.done == 0 {
		return
	}
	s.written = true
	var counts []string
	for _, v := range shownOrder {
		if n := s.by[v]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, v))
		}
	}
	fmt.Fprintf(g.w, "%s: %d of %d checks: %s\n", s.title, s.done, s.total, strings.Join(counts, ", "))
}

// finish takes the live line away, or writes the sections that did not get to
// their end.
func (g *progress) finish() {
	g.clear()
	if g.quiet || g.verbose || g.term.live {
		return
	}
	for _, s := range g.sections {
		g.line(s)
	}
}
