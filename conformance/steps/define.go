package steps

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v34"
)

// Definition is one step: a pattern that matches a step's whole text and the
// function that carries it out.
type Definition struct {
	// Pattern is a regular expression without its anchors.
	Pattern string
	// Do gets the texts of the pattern's groups and the step's doc string, which
	// is empty when there is none.
	Do func(ctx context.Context, s *Scenario, args []string, doc string) error
	// Bars is true of a step that says that something did not happen and makes sure
	// itself that it would have by then.
	Bars bool

	// compiled at first use: a program that is linked with this package, the bundled
	// daemon's for one, should not wait for hundreds of expressions at its start.
	compile  sync.Once
	compiled *regexp.Regexp
}

// expr is the pattern of the whole text. One that does not compile is a mistake in
// this package, so it panics.
func (d *Definition) expr() *regexp.Regexp {
	d.compile.Do(func() { d.compiled = regexp.MustCompile(`^(?:` + d.Pattern + `)$`) })
	return d.compiled
}

// Matches tells whether the definition takes a step text.
func (d *Definition) Matches(text string) bool { return d.expr().MatchString(text) }

var definitions []*Definition

// define adds a step.
func define(pattern string, do func(ctx context.Context, s *Scenario, args []string, doc string) error) *Definition {
	d := &Definition{Pattern: pattern, Do: do}
	definitions = append(definitions, d)
	return d
}

// bars marks a step that says that something did not happen, and has the answer to a
// later request, or the end of what it is about, show that it would have by then.
func (d *Definition) bars() { d.Bars = true }

// Definitions lists every step, in the order of the source.
func Definitions() []*Definition { return slices.Clone(definitions) }

// longText is the length of a text from which on its takers are not remembered.
const longText = 2048

// takers remembers who takes a text. There are as many texts as the feature files of a
// process have.
var takers sync.Map // text → []*Definition

// Takers are the definitions that take a step text: one, unless something is wrong.
func Takers(text string) []*Definition {
	if known, ok := takers.Load(text); ok {
		return known.([]*Definition)
	}
	var found []*Definition
	for _, d := range definitions {
		if d.Matches(text) {
			found = append(found, d)
		}
	}
	// A text with a whole body in it is met once.
	if len(text) < longText {
		takers.Store(text, found)
	}
	return found
}

type scenarioKey struct{}

// With puts a scenario into the context that godog hands to its steps.
func With(ctx context.Context, s *Scenario) context.Context {
	return context.WithValue(ctx, scenarioKey{}, s)
}

// From gets the scenario back, nil when there is none.
func From(ctx context.Context) *Scenario {
	s, _ := ctx.Value(scenarioKey{}).(*Scenario)
	return s
}

// Every step of a feature file is one of two sorts: a text that ends in a colon has a
// doc string.
var (
	plainStep = regexp.MustCompile(`(?s)^(.*[^:])$`)
	docStep   = regexp.MustCompile(`(?s)^(.*:)$`)
)

// Register has godog give all steps to this package. godog is told of two steps only:
// it takes its steps anew for each scenario, which would cost more than most scenarios
// do.
func Register(sc *godog.ScenarioContext) {
	sc.Step(plainStep, func(ctx context.Context, text string) error { return perform(ctx, text, "") })
	sc.Step(docStep, func(ctx context.Context, text string, doc *messages.PickleDocString) error {
		return perform(ctx, text, doc.Content)
	})
}

// perform carries a step out.
func perform(ctx context.Context, text, doc string) error {
	s := From(ctx)
	if s == nil || s.Skip {
		return nil
	}
	if s.Err != nil {
		return s.Err
	}
	found := Takers(text)
	if len(found) != 1 {
		s.Err = fmt.Errorf("the step %q is taken by %d definitions; one has to", text, len(found))
		return s.Err
	}
	return found[0].run(ctx, s, found[0].expr().FindStringSubmatch(text)[1:], doc)
}

func (d *Definition) run(ctx context.Context, s *Scenario, args []string, doc string) error {
	defer func() {
		// A panic is a fault of the suite, and one scenario's must not end the run.
		if p := recover(); p != nil {
			s.Err = fmt.Errorf("the step %q panicked: %v", d.Pattern, p)
		}
	}()
	s.Err = d.Do(ctx, s, args, doc)
	return s.Err
}
