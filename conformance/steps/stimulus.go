package steps

import (
	"context"

	"github.com/axonproto/axon/harness/wire"
)

// making makes the body that a step sends, with an id that is given.
type making func(s *Scenario, args []string, doc, id string) (bidi bool, body []byte, err error)

type stimulusStep struct {
	*Definition
	make making
}

var stimuli []stimulusStep

// stimulus adds a step that sends one body on a stream of its own.
func stimulus(pattern string, make making) {
	d := define(pattern, func(ctx context.Context, s *Scenario, args []string, doc string) error {
		bidi, body, err := make(s, args, doc, wire.NewID())
		if err != nil {
			return err
		}
		_, err = s.send(ctx, bidi, body)
		return err
	})
	stimuli = append(stimuli, stimulusStep{d, make})
}

// Stimulus tells what a step without a doc string sends, with the id that is given in
// place of a new one; not ok when it is no step that sends one body, or one that has
// to be in a run for it.
func Stimulus(text, id string) (bidi bool, body []byte, ok bool) {
	for _, d := range stimuli {
		if args := d.expr().FindStringSubmatch(text); args != nil {
			bidi, body, err := d.make(&Scenario{Target: &Target{}}, args[1:], "", id)
			return bidi, body, err == nil
		}
	}
	return false, nil, false
}
