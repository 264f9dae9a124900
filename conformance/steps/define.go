package steps

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
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

// groups is the number of texts that the pattern hands to Do.
func (d *Definition) groups() int { return d.expr().NumSubexp() }

var definitions []*Definition

// define adds a step.
func define(pattern string, do func(ctx context.Context, s *Scenario, args []string, doc string) error) {
	definitions = append(definitions, &Definition{Pattern: pattern, Do: do})
}

// Definitions lists every step, in the order of the source.
func Definitions() []*Definition { return append([]*Definition(nil), definitions...) }

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

var (
	contextType   = reflect.TypeFor[context.Context]()
	stringType    = reflect.TypeFor[string]()
	docStringType = reflect.TypeFor[*messages.PickleDocString]()
	errorType     = reflect.TypeFor[error]()
)

// Register gives all steps to godog.
func Register(sc *godog.ScenarioContext) {
	for _, d := range definitions {
		sc.Step(d.expr(), d.handler())
	}
}

// handler makes the function of the type that godog wants for the pattern:
// func(ctx, string…) error, with a *DocString at the end for a text that ends in
// a colon.
func (d *Definition) handler() any {
	in := []reflect.Type{contextType}
	for range d.groups() {
		in = append(in, stringType)
	}
	if d.takesDoc() {
		in = append(in, docStringType)
	}
	call := func(values []reflect.Value) []reflect.Value {
		ctx, _ := values[0].Interface().(context.Context)
		args := make([]string, d.groups())
		for i := range args {
			args[i] = values[1+i].String()
		}
		doc := ""
		if d.takesDoc() {
			doc = values[len(values)-1].Interface().(*messages.PickleDocString).Content
		}
		err := d.run(ctx, args, doc)
		if err == nil {
			return []reflect.Value{reflect.Zero(errorType)}
		}
		return []reflect.Value{reflect.ValueOf(err)}
	}
	return reflect.MakeFunc(reflect.FuncOf(in, []reflect.Type{errorType}, false), call).Interface()
}

// takesDoc: a step text that ends in a colon has a doc string.
func (d *Definition) takesDoc() bool { return d.Pattern[len(d.Pattern)-1] == ':' }

func (d *Definition) run(ctx context.Context, args []string, doc string) error {
	s := From(ctx)
	if s == nil || s.Skip {
		return nil
	}
	if s.Err != nil {
		return s.Err
	}
	defer func() {
		// A panic is a fault of the suite, and one scenario's must not end the run.
		if p := recover(); p != nil {
			s.Err = fmt.Errorf("the step %q panicked: %v", d.Pattern, p)
		}
	}()
	s.Err = d.Do(ctx, s, args, doc)
	return s.Err
}
