package fuzz

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/axonproto/axon/conformance/mutants"
	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/wire"
	"github.com/axonproto/axon/schemas"
)

// TestExpect holds the oracle against inputs of which the text says what is to come.
func TestExpect(t *testing.T) {
	for _, c := range []struct {
		body string
		uni  bool
		what outcome
		id   string
	}{
		{`«request»`, false, accepted, "AXON-PAY-002"},
		{`{"id":"«id»","kind":"request","payload":{},"ref":null}`, false, accepted, "AXON-REF-003"},
		{`{"id":"«id»","kind":"request","payload":{},"ref":"«other id»"}`, false, accepted, "AXON-REF-004"},
		{`{"id":"«id»","kind":"request",«spaces to 65536 bytes»"payload":{}}`, false, accepted, "AXON-LIMIT-001"},
		{`{"id":"«id»","kind":"request",«spaces to 65537 bytes»"payload":{}}`, false, open, "AXON-LIMIT-002"},
		{`{"id":"«id»","kind":"request","payload":{"a":«99 times [»«99 times ]»}}`, false, accepted, "AXON-PAY-002"},
		{`{"id":"«id»","kind":"request","payload":{"a":«101 times [»«101 times ]»}}`, false, open, "AXON-LIMIT-004"},
		{`{"id":"«id in upper case»","kind":"request","payload":{}}`, false, open, "AXON-LIMIT-004"},
		{`{"id":"{«id»}","kind":"request","payload":{}}`, false, open, "AXON-LIMIT-004"},
		{`{"id":"«id»","id":"x","kind":"request","payload":{}}`, false, open, "AXON-LIMIT-004"},
		{`{"id":"«id»","kind":"request","payload":{},"priority":1}`, false, open, "AXON-ENV-014"},
		{`{"id":"«id»","kind":"request","payload":{},"ref":7}`, false, open, "AXON-LIMIT-004"},
		{`{"id":"«id»","kind":"message","payload":{}}`, false, open, "AXON-LIMIT-004"},
		{`{"id":"«id»","kind":"request","payload":{}}`, true, open, "AXON-LIMIT-004"},
		{`{"id":"«id»","kind":"future","payload":{}}`, false, unknown, "AXON-FWD-002"},
		{`{"id":"«id»","kind":"future","payload":{}}`, true, silent, "AXON-FWD-001"},
		{`{"id":"«id»","kind":"\ud800","payload":{}}`, false, open, "AXON-LIMIT-004"},
		{`«message»`, true, silent, "AXON-KIND-005"},
		{`{"id":"«id»","kind":"error","payload":{}}`, true, silent, "AXON-KIND-008"},
		{``, false, refused, "AXON-PAY-004"},
		{`[]`, true, refused, "AXON-ENV-013"},
		{`{"id":"«id»","kind":"request"}`, false, refused, "AXON-ENV-009"},
		{`{"ID":"«id»","kind":"request","payload":{}}`, false, refused, "AXON-ENV-014"},
		{`{"id":7,"kind":"request","payload":{}}`, false, refused, "AXON-ENV-010"},
		{`{"id":"00000000-0000-0000-0000-000000000000","kind":"future","payload":{}}`, false, refused, "AXON-ENV-006"},
		{`{"id":"«id of version 7»","kind":"request","payload":{}}`, false, refused, "AXON-ENV-015"},
		{`«request»x`, false, refused, "AXON-LIMIT-004"},
		{`{"id":"«id»","kind":"request","payload":{"t":"«hex ff»"}}`, false, refused, "AXON-LIMIT-004"},
		{`{"id":"«id»","kind":"request","payload":{},}`, false, refused, "AXON-PAY-004"},
	} {
		body, err := steps.Expand(c.body, wire.NewID())
		if err != nil {
			t.Fatal(err)
		}
		if got := expect(Input{Body: c.body, Uni: c.uni}, body); got.what != c.what || got.id != c.id {
			t.Errorf("%s, uni %v: %s by %s, want %s by %s", c.body, c.uni, got.what, got.id, c.what, c.id)
		}
	}
}

// TestInputsAreSteps: each input can be written as one step, which stands for the same
// bytes, and its sentences and steps are there.
func TestInputsAreSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	count := map[outcome]int{}
	for n := range 5000 {
		in := generate(r, n)
		id := wire.NewID()
		body, err := steps.Expand(in.Body, id)
		if err != nil {
			t.Fatalf("%s: %v", in.Body, err)
		}
		text := in.step()
		if strings.ContainsAny(text, "\n\r") {
			t.Fatalf("%q is more than a line", text)
		}
		if len(text) < 300 {
			if takers := steps.Takers(text); len(takers) != 1 {
				t.Fatalf("%q is taken by %d steps", text, len(takers))
			}
		}
		if strings.Join(atoms(in.Body), "") != in.Body {
			t.Fatalf("%q is not the sum of its atoms", in.Body)
		}
		e := expect(in, body)
		count[e.what]++
		for _, then := range e.then {
			if len(steps.Takers(then)) != 1 {
				t.Fatalf("there is no step %q", then)
			}
		}
	}
	for _, what := range []outcome{accepted, unknown, silent, refused, open} {
		if count[what] < 100 {
			t.Errorf("only %d of 5000 inputs are %s", count[what], what)
		}
	}
}

// TestSameSeed gives the same inputs, however they are shared out.
func TestSameSeed(t *testing.T) {
	draw := func(seed uint64) (all []Input) {
		f := &fuzzer{Options: Options{Seed: seed}}
		for first := 0; first < 4*batch; first += batch {
			r := rand.New(rand.NewPCG(f.Seed, uint64(first)))
			for i := range batch {
				all = append(all, f.make(r, first+i).in)
			}
		}
		return all
	}
	if !slices.Equal(draw(7), draw(7)) {
		t.Error("a seed gives other inputs the second time")
	}
	if slices.Equal(draw(7), draw(8)) {
		t.Error("two seeds give the same inputs")
	}
}

// TestOddPeers: what is odd and allowed is not found.
func TestOddPeers(t *testing.T) {
	names := []string{""}
	for _, o := range mutants.Oddities() {
		names = append(names, o.Name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := against(t, name, 3, inputsOf(name))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				if f.Level == "SHOULD" {
					continue // as in a run, where it is a warning
				}
				t.Errorf("%v: expected %s; %s\n%s", f.Requirements, f.Expected, f.Actual, f.Scenario)
			}
			if r.Inputs == 0 || len(r.Outcomes) == 0 {
				t.Errorf("nothing was shown: %+v", r)
			}
			validate(t, r)
		})
	}
}

// inputsOf: the slow ones among the peers get fewer.
func inputsOf(name string) int {
	switch {
	case name == "":
		return 1000
	case strings.Contains(name, "slow"), strings.Contains(name, "late"), strings.Contains(name, "jitter"):
		return 10
	}
	return 30
}

func validate(t *testing.T, r Report) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.MustCompile("fuzz/report").Validate(text); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestFindingIsAScenario: what is printed can be run, fails the peer that it was found
// in, and passes a correct one.
func TestFindingIsAScenario(t *testing.T) {
	for _, name := range found[:3] {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := against(t, name, 1, 600)
			if err != nil && !errors.Is(err, ErrGone) || len(r.Findings) == 0 {
				t.Fatalf("%v, %+v", err, r)
			}
			validate(t, r)
			var text strings.Builder
			if err := r.Text(&text); err != nil || !strings.Contains(text.String(), r.Findings[0].Scenario) {
				t.Errorf("%v\n%s", err, &text)
			}
			file := "Feature: Found by fuzzing\n\n" + r.Findings[0].Scenario
			for fault, want := range map[string]int{name: 1, "": 0} {
				p := play(t, fault)
				got, err := suite.Run(t.Context(), suite.Options{
					Strict:  true,
					Address: p.address, Key: p.own.Public(), Identity: p.suite, Timeout: 3 * time.Second,
					Features: fstest.MapFS{"found.feature": {Data: []byte(file)}},
				})
				if err != nil || got.ExitCode != want {
					t.Errorf("with the fault %q the scenario ends in %d, want %d: %v\n%s", fault, got.ExitCode, want, err, file)
				}
			}
			if n := len(r.Findings[0].Scenario); n > 600 {
				t.Errorf("the scenario of %d bytes is not short:\n%s", n, r.Findings[0].Scenario)
			}
		})
	}
}

// TestDeadTarget: a target that is gone is no success.
func TestDeadTarget(t *testing.T) {
	p := play(t, "")
	target := p.target(t)
	p.stop()
	target.Ceiling = time.Second / 2
	r, err := Run(t.Context(), Options{Target: target, Seed: 1, Inputs: 100})
	if !errors.Is(err, ErrGone) {
		t.Errorf("%v, %+v", err, r)
	}
	if r.Outcomes["accepted"] > 1 {
		t.Errorf("%+v", r)
	}
}

func TestMemoryThatGrows(t *testing.T) {
	p := play(t, "")
	held := []int64{20 << 20, 500 << 20}
	r, err := Run(t.Context(), Options{Target: p.target(t), Seed: 1, Inputs: 25, Memory: func() int64 {
		now := held[0]
		held = held[1:]
		return now
	}})
	if err != nil || len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Actual, "500 MB") {
		t.Errorf("%v, %+v", err, r.Findings)
	}
	validate(t, r)
	var text strings.Builder
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "FINDING 1  MUST  memory") {
		t.Error(&text)
	}
}
