package suite

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/spec"
)

// Finding is something that an author should mend.
type Finding struct {
	// Place is FILE:LINE, or "steps" for what concerns the steps themselves.
	Place string `json:"place"`
	// Rule is its short name: step, tag, barrier, order, unused or similar.
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// Lint reads feature files as their author wants them read. Whole says that these are
// all that there are, so that a step which none of them uses is of no use. Its error
// is a *UsageError: files that cannot be read at all.
func Lint(features fs.FS, whole bool) ([]Finding, error) {
	files, err := featureFiles(features)
	if err != nil {
		return nil, err
	}
	l := &linter{used: map[*steps.Definition]bool{}, seen: map[Finding]bool{}}
	ids := (&messages.Incrementing{}).NewId
	for _, name := range files {
		text, err := fs.ReadFile(features, name)
		if err != nil {
			return nil, &UsageError{fmt.Sprintf("cannot read feature file %s: %v", name, err)}
		}
		document, err := gherkin.ParseGherkinDocument(bytes.NewReader(text), ids)
		if err != nil {
			return nil, &UsageError{fmt.Sprintf("feature file %s: %v", name, err)}
		}
		l.file(name, document.Feature, gherkin.Pickles(*document, name, ids))
	}
	if whole {
		l.unused()
	}
	l.similar()
	return l.found, nil
}

type linter struct {
	found []Finding
	seen  map[Finding]bool
	used  map[*steps.Definition]bool
}

func (l *linter) add(place, rule, format string, args ...any) {
	f := Finding{place, rule, fmt.Sprintf(format, args...)}
	if !l.seen[f] {
		l.seen[f] = true
		l.found = append(l.found, f)
	}
}

func (l *linter) file(name string, feature *messages.Feature, pickles []*messages.Pickle) {
	if feature == nil {
		l.add(name+":1", "step", "the file holds no feature")
		return
	}
	lines := map[string]int64{} // node id of a step or scenario → its line
	for _, child := range feature.Children {
		if child.Scenario == nil {
			continue
		}
		lines[child.Scenario.Id] = child.Scenario.Location.Line
		for _, s := range child.Scenario.Steps {
			lines[s.Id] = s.Location.Line
		}
	}
	at := func(nodes []string) string {
		for _, n := range nodes {
			if line, ok := lines[n]; ok {
				return name + ":" + strconv.FormatInt(line, 10)
			}
		}
		return name
	}
	last := 0
	for _, p := range pickles {
		place := at(p.AstNodeIds)
		for _, s := range p.Steps {
			for _, d := range steps.Takers(s.Text) {
				l.used[d] = true
			}
			if err := stepDefined(s); err != nil {
				l.add(at(s.AstNodeIds), "step", "%v", err)
			}
		}
		if _, err := newCheck(p); err != nil && !strings.Contains(err.Error(), " step ") {
			l.add(place, "tag", "%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("%s:%d: ", name, p.Location.Line)))
		}
		l.barrier(p, at)
		last = l.order(name, place, p, last)
	}
}

// absence finds steps that say that something did not happen; barred are those among
// them that ask a good request, or wait for an event, themselves.
var (
	absence = regexp.MustCompile(`(?i)\b(nothing|none|no|not|never|silent|neither)\b`)
	barrier = regexp.MustCompile(`(?i)(survives|serves on|lives on|is (still )?(answered|accepted|served|delivered)|is shown|gets? |carries|answers? |comes? |exits? |ends? |accepts?|takes?|receives?|prints?|says|within)`)
)

// barrier: what did not happen has not happened only once something that came later
// has.
func (l *linter) barrier(p *messages.Pickle, at func([]string) string) {
	for i, s := range p.Steps {
		if s.Type != messages.PickleStepType_OUTCOME || !absence.MatchString(s.Text) {
			continue
		}
		if found := steps.Takers(s.Text); len(found) == 1 && found[0].Bars {
			continue
		}
		if !slices.ContainsFunc(slices.Concat(p.Steps[:i], p.Steps[i+1:]), func(o *messages.PickleStep) bool {
			return o.Type == messages.PickleStepType_OUTCOME && barrier.MatchString(o.Text) && !absence.MatchString(o.Text)
		}) {
			l.add(at(s.AstNodeIds), "barrier", "%q says that something did not happen, and nothing in the scenario shows that it would have by then: have a good request answered behind it", s.Text)
		}
	}
}

// order: a file holds one section, and its scenarios come in the order of the text.
func (l *linter) order(name, place string, p *messages.Pickle, last int) int {
	section := strings.TrimSuffix(path.Base(name), ".feature")
	known := slices.ContainsFunc(spec.Sections(), func(s spec.Section) bool { return s.Slug == section })
	if !known {
		return last
	}
	// The first of its ids in this section is what it is about.
	first := 0
	for _, t := range p.Tags {
		if i := slices.IndexFunc(spec.Requirements(), func(q spec.Requirement) bool { return q.Section == section && t.Name == "@"+q.ID }); i >= 0 && first == 0 {
			first = i + 1
		}
	}
	switch {
	case first == 0:
		l.add(place, "order", "the scenario %q has no id of the section %q, after which its file is named: move it", p.Name, section)
		return last
	case first < last:
		l.add(place, "order", "the scenario %q stands behind those of a later sentence: move it", p.Name)
		return last
	}
	return first
}

func (l *linter) unused() {
	for _, d := range steps.Definitions() {
		if !l.used[d] {
			l.add("steps", "unused", "no scenario uses the step %q: take it out", d.Pattern)
		}
	}
}

// similar finds steps that differ by an article or a letter, of which an author cannot
// know which one to write.
func (l *linter) similar() {
	plain := func(pattern string) string {
		text := articles.ReplaceAllString(groups.ReplaceAllString(strings.ToLower(pattern), "…"), "")
		return strings.Join(strings.Fields(text), " ")
	}
	all := steps.Definitions()
	texts := make([]string, len(all))
	for i, d := range all {
		texts[i] = plain(d.Pattern)
	}
	for i, x := range texts {
		for j, y := range texts[:i] {
			if x == y || len(x) > 12 && len(x) == len(y) && differ(x, y) == 1 {
				l.add("steps", "similar", "the steps %q and %q are nearly the same: make one of them", all[j].Pattern, all[i].Pattern)
			}
		}
	}
}

var (
	articles = regexp.MustCompile(`\b(a|an|the|that|its|this)\b`)
	groups   = regexp.MustCompile(`\([^()]*\)|\\.\+?|\[[^\]]*\]\+?|\.\+|\.\*`)
)

func differ(a, b string) int {
	n := 0
	for i := range len(a) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}
