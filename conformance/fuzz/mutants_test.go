package fuzz

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/axonproto/axon/conformance/mutants"
	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
)

// every plays all mutants and oddities, and not only some of them.
var every = flag.Bool("every", false, "play every mutant and every oddity")

// sampleOfMutants is a good part of the peers that are broken on odd input.
var sampleOfMutants = strings.Fields(`
	invalid-utf-8 no-fin reply-twice-by-lines number-behind
	id-nil-accepted kind-object-accepted payload-array-accepted array-of-values-accepted names-any-case encoding-json
	trailing-data-accepted utf-16-accepted latin-1-read brace-completed empty-stream-answered comments-accepted nan-accepted
	unknown-kind-own-code kind-1000-dropped kind-non-ascii-dropped
	payload-deep-refused-64 payload-lone-surrogate-refused payload-exponent-refused limit-65535 oversize-closes space-inside-refused
	ref-null-refused message-answered-by-error error-closes answers-before-fin reset-accepted malformed-then-dropped
	dies-of-deep-payload hangs-on-null-ref code-kebab-in-own-errors`)

// TestMutants: the fuzzer finds peers that are broken on odd input, with a fixed seed
// and a fixed number of inputs, and what it prints fails them when it is run.
func TestMutants(t *testing.T) {
	handler := map[string]bool{}
	for _, m := range mutants.Mutants() {
		handler[m.Name] = m.HasHandler
	}
	names := sampleOfMutants
	if *every {
		names = slices.DeleteFunc(mutants.Faults(), func(n string) bool { return strings.HasPrefix(n, "odd-") })
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, o := play(t, name)
			o.Seed, o.Inputs, o.MaxFindings, o.HasHandler = 3, 3000, 1, handler[name]
			r, err := Run(t.Context(), o)
			if len(r.Findings) == 0 {
				t.Fatalf("not found with %d inputs: %v, %q", r.Inputs, err, r.Notes)
			}
			t.Logf("after %d inputs, %q: %s", r.Inputs, r.Findings[0].Requirements, r.Findings[0].Title)
			if r.Findings[0].Steady {
				s.replay(r.Findings[0], handler[name])
			} else {
				t.Log("it does not fail each time")
			}
		})
	}
}

// replay runs what was found as a feature: it fails the peer and no peer without a fault.
// In a peer whose streams race, it does so in one of a few runs.
func (s *stage) replay(f Finding, hasHandler bool) {
	s.t.Helper()
	fault := s.fault
	for range 5 {
		code := s.asFeature(f, hasHandler, time.Second)
		// Of one that died between two steps a run cannot tell what of, and is incomplete.
		if code == report.ExitBroken || code == report.ExitIncomplete && strings.HasPrefix(fault, "dies-") {
			s.fault = ""
			if code := s.asFeature(f, false, 0); code != report.ExitConformant { // nothing is waited for in vain
				s.t.Errorf("as a feature against a peer without a fault it ends in %d\n%s", code, f.Scenario)
			}
			return
		}
	}
	s.t.Errorf("as a feature against %q it fails nothing\n%s", fault, f.Scenario)
}

// asFeature is the exit code of a run of a finding's scenario against the stage's peer.
func (s *stage) asFeature(f Finding, hasHandler bool, ceiling time.Duration) int {
	s.t.Helper()
	address, _, err := s.start(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := suite.Run(s.t.Context(), suite.Options{
		Address: address, Identity: s.me, HasHandler: hasHandler, Timeout: ceiling, Strict: true,
		Features: fstest.MapFS{"found.feature": &fstest.MapFile{Data: []byte("Feature: Found\n\n" + f.Scenario)}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return r.ExitCode
}

// TestOddities: no peer that does odd things which are allowed is found fault with.
func TestOddities(t *testing.T) {
	quick := []string{"odd-correct", "odd-malformed-closes", "odd-two-streams", "odd-closes-newer", "odd-duplicates-taken", "odd-handler-messages"}
	inputs := 480 // the features' own and some more
	seeds := 1
	if *every {
		seeds, inputs = 3, 1500
	}
	for _, odd := range mutants.Oddities() {
		if !*every && !slices.Contains(quick, odd.Name) {
			continue
		}
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", odd.Name, seed), func(t *testing.T) {
				t.Parallel()
				_, o := play(t, odd.Name)
				o.Seed, o.Inputs, o.HasHandler, o.Ceiling = uint64(seed), inputs, odd.HasHandler, 0
				r, err := Run(t.Context(), o)
				if err != nil || len(r.Findings) > 0 {
					t.Errorf("%v, %+v", err, r.Findings)
				}
			})
		}
	}
}
