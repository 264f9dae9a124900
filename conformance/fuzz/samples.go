package fuzz

import (
	"embed"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/suite"
)

// sample is an input that a feature sends.
type sample struct {
	bidi bool
	body string
	// ids are the ids in it that are new each time, its own first.
	ids []string
}

var freshID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// gathered keeps the samples of features that are part of the program.
var gathered sync.Map // embed.FS → []sample, which nobody changes

// samplesOf gathers what the features send on a stream of its own, each once.
func samplesOf(features fs.FS) ([]sample, error) {
	embedded, constant := features.(embed.FS)
	if constant {
		if list, known := gathered.Load(embedded); known {
			return list.([]sample), nil
		}
	}
	list, err := gather(features)
	if err == nil && constant {
		gathered.Store(embedded, list)
	}
	return list, err
}

func gather(features fs.FS) ([]sample, error) {
	texts, err := suite.Steps(features)
	if err != nil {
		return nil, err
	}
	var list []sample
	// The same in each run, so that its variants are.
	const id = "9d3f7c1e-52ab-4e08-b6d4-71c0a8e5f293"
	for _, text := range texts {
		bidi, body, ok := steps.Stimulus(text, id)
		if !ok || len(body) > 2*largest {
			continue
		}
		s := sample{bidi, string(body), []string{id}}
		for _, other := range freshID.FindAllString(s.body, -1) {
			// One that the text itself has is the same each time.
			if other != id && !strings.Contains(text, other) {
				s.ids = append(s.ids, other)
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// sample takes one, with ids of the generator's.
func (g *generator) sample(s sample) (bidi bool, body []byte) {
	text := s.body
	for i, id := range s.ids {
		other := g.id
		if i > 0 {
			other = g.uuid()
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, id, other), strings.ToUpper(id), strings.ToUpper(other))
	}
	return s.bidi, []byte(text)
}
