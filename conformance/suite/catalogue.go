package suite

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/spec"
)

// check is one scenario, or one row of an outline's examples.
type check struct {
	name     string
	location string // FILE:LINE
	ids      []string
	needs    []spec.Need
	tags     []string
	// heavy: many exchanges, so the ceiling bounds the time between two of them.
	heavy bool
	// slow: it takes half a minute or more, because its sentence is about that.
	slow bool
	// waits is the time that its steps let pass, beyond the ceiling of others.
	waits time.Duration
	// alone: nothing else may run at the same time.
	alone bool
	// wholeRun: it judges what the run as a whole has shown, so it comes last.
	wholeRun bool
	steps    []string
	order    int
}

// heavyFactor times the ceiling is what a check that is tagged @heavy may take in
// all.
const heavyFactor = 60

// catalogue is every check of a set of feature files.
type catalogue struct {
	checks   []*check
	byPlace  map[string]*check
	contents []content
}

// loaded keeps what was read of files that are part of the program: they do not
// change, and a self test reads them for each of hundreds of peers.
var loaded sync.Map // embed.FS → *catalogue, which nobody changes

// load reads and checks all feature files. Its errors are *UsageError: with one's
// own feature files they are the author's.
func load(features fs.FS) (*catalogue, error) {
	embedded, constant := features.(embed.FS)
	if constant {
		if c, known := loaded.Load(embedded); known {
			return c.(*catalogue), nil
		}
	}
	c, err := read(features)
	if err == nil && constant {
		loaded.Store(embedded, c)
	}
	return c, err
}

func read(features fs.FS) (*catalogue, error) {
	c, drafts, err := readDrafts(features)
	if err == nil && len(drafts) > 0 {
		return nil, &UsageError{drafts[0].location + ": " + fmt.Sprintf("the scenario %q has no steps", drafts[0].name)}
	}
	return c, err
}

// readDrafts is read for files with scenarios that have no steps yet.
func readDrafts(features fs.FS) (_ *catalogue, drafts []*check, err error) {
	files, err := featureFiles(features)
	if err != nil {
		return nil, nil, err
	}
	c := &catalogue{byPlace: map[string]*check{}}
	ids := (&messages.Incrementing{}).NewId
	for _, name := range files {
		text, err := fs.ReadFile(features, name)
		if err != nil {
			return nil, nil, &UsageError{fmt.Sprintf("cannot read feature file %s: %v", name, err)}
		}
		document, err := gherkin.ParseGherkinDocument(bytes.NewReader(text), ids)
		if err != nil {
			return nil, nil, &UsageError{fmt.Sprintf("feature file %s: %v", name, err)}
		}
		for _, p := range gherkin.Pickles(*document, name, ids) {
			k, err := newCheck(p)
			if err != nil {
				return nil, nil, err
			}
			if len(k.steps) == 0 {
				drafts = append(drafts, k)
				continue
			}
			k.order = len(c.checks)
			if other, double := c.byPlace[k.location]; double {
				return nil, nil, &UsageError{fmt.Sprintf("%s: two scenarios at one place: %q and %q", k.location, other.name, k.name)}
			}
			c.checks = append(c.checks, k)
			c.byPlace[k.location] = k
		}
		c.contents = append(c.contents, content{name, text, document.Feature})
	}
	if len(c.checks)+len(drafts) == 0 {
		return nil, nil, &UsageError{"there is no scenario in the feature files: name a directory that holds *.feature files"}
	}
	return c, drafts, nil
}

// featureFiles lists the files in the order of the spec's sections, by which they
// are named; others follow by name.
func featureFiles(features fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(features, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".feature") {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return nil, &UsageError{fmt.Sprintf("cannot read the feature files: %v", err)}
	}
	rank := map[string]int{}
	for i, s := range spec.Sections() {
		rank[s.Slug] = i + 1
	}
	position := func(file string) int {
		if r, ok := rank[strings.TrimSuffix(path.Base(file), ".feature")]; ok {
			return r
		}
		return len(rank) + 1
	}
	sort.SliceStable(files, func(i, j int) bool {
		if a, b := position(files[i]), position(files[j]); a != b {
			return a < b
		}
		return files[i] < files[j]
	})
	return files, nil
}

var needTags = map[string]spec.Need{
	"@quiet": spec.Quiet, "@drive": spec.Drive, "@handle": spec.Handle,
	"@observe": spec.Observe, "@cli": spec.CLI, "@lan": spec.LAN,
}

func newCheck(p *messages.Pickle) (*check, error) {
	k := &check{name: p.Name, location: fmt.Sprintf("%s:%d", p.Uri, p.Location.Line)}
	wrong := func(format string, args ...any) error {
		return &UsageError{k.location + ": " + fmt.Sprintf(format, args...)}
	}
	for _, t := range p.Tags {
		k.tags = append(k.tags, t.Name)
		need, isNeed := needTags[t.Name]
		switch {
		case strings.HasPrefix(t.Name, "@AXON-"):
			id := t.Name[1:]
			q, known := spec.Lookup(id)
			if !known {
				return nil, wrong("the tag %s names no sentence of spec/: write the sentence first, or use %s", t.Name, nearestID(id))
			}
			if q.Withdrawn {
				return nil, wrong("the sentence %s is withdrawn: remove the scenario or its tag", id)
			}
			if !slices.Contains(k.ids, id) {
				k.ids = append(k.ids, id)
			}
		case isNeed:
			k.needs = append(k.needs, need)
			// There is one handler lease, and with it the target is not quiet.
			k.alone = k.alone || need == spec.Handle
		case t.Name == "@heavy":
			k.heavy = true
		case t.Name == "@slow":
			k.slow = true
		case t.Name == "@alone":
			k.alone = true
		case t.Name == "@whole-run":
			k.wholeRun = true
		default:
			return nil, wrong("unknown tag %s: use a requirement id, a need (@quiet @drive @handle @observe @cli @lan), @heavy, @slow, @alone or @whole-run", t.Name)
		}
	}
	if len(k.ids) == 0 {
		return nil, wrong("the scenario %q has no requirement id: tag it with the @AXON-… that it checks", p.Name)
	}
	for _, step := range p.Steps {
		k.steps = append(k.steps, step.Text)
		k.waits += waitsOf(step.Text)
		if err := stepDefined(step); err != nil {
			return nil, wrong("%v", err)
		}
	}
	return k, nil
}

// secondsNamed finds the time that passes in a step: "after 1 second", "lets 2 seconds
// pass".
var secondsNamed = regexp.MustCompile(`\b(?:after|lets|wait) (\d+) seconds?\b`)

func waitsOf(step string) time.Duration {
	m := secondsNamed.FindStringSubmatch(step)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // it is digits
	return time.Duration(n) * time.Second
}

// stepDefined: exactly one definition takes the step.
func stepDefined(step *messages.PickleStep) error {
	var takers []string
	for _, d := range steps.Takers(step.Text) {
		takers = append(takers, d.Pattern)
	}
	switch len(takers) {
	case 1:
		hasDoc := step.Argument != nil && step.Argument.DocString != nil
		if hasDoc != strings.HasSuffix(step.Text, ":") {
			return fmt.Errorf("the step %q and its doc string do not fit: a step that takes one ends in a colon, others take none", step.Text)
		}
		return nil
	case 0:
		return fmt.Errorf("no step is defined for %q; the nearest is %q", step.Text, nearestStep(step.Text))
	}
	return fmt.Errorf("the step %q is taken by more than one definition: %q", step.Text, takers)
}

// file is the name of the feature file that the check stands in.
func (k *check) file() string {
	name, _, _ := strings.Cut(k.location, ":")
	return name
}

// needsOf lists what a check needs of the target, beyond an address.
func (k *check) needsOf() []string {
	var names []string
	for _, n := range k.needs {
		names = append(names, string(n))
	}
	return names
}
