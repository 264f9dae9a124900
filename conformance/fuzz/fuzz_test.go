package fuzz

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/features"
	"github.com/axonproto/axon/schemas"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSameSeed: the seed and the number give the input, and another seed another one.
func TestSameSeed(t *testing.T) {
	known, err := samplesOf(features.FS())
	if err != nil || len(known) < 200 {
		t.Fatalf("%d samples, %v", len(known), err)
	}
	again, err := gather(features.FS())
	if err != nil {
		t.Fatal(err)
	}
	classes, differ := map[Class]int{}, 0
	for n := range 2000 {
		a, b, c := generate(5, n, known), generate(5, n, again), generate(6, n, known)
		if a.Bidi != b.Bidi || a.End != b.End || a.Pieces != b.Pieces || !bytes.Equal(a.Body, b.Body) {
			t.Fatalf("input %d: %q and %q", n, a.Body, b.Body)
		}
		if !bytes.Equal(a.Body, c.Body) {
			differ++
		}
		classes[oracle{}.expect(a).class]++
	}
	if differ < 1800 || classes[Valid] < 400 || classes[Invalid] < 400 || classes[Open] < 100 {
		t.Errorf("%d differ, %v", differ, classes)
	}
}

// TestText: a step sends the bytes that it was written from, with another id too.
func TestText(t *testing.T) {
	known, err := samplesOf(features.FS())
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3000 {
		in := generate(9, n, known)
		in.End, in.Pieces = Fin, 0
		c := Case{Inputs: []Input{in}, Claim: Claim{survives, []string{"AXON-KIND-002"}}}
		step := c.lines()[1].step
		bidi, body, ok := steps.Stimulus(step, in.ID)
		if !ok || bidi != in.Bidi || !bytes.Equal(body, in.Body) {
			t.Fatalf("input %d: %q is sent by %s as %q", n, in.Body, step, body)
		}
		if strings.ContainsAny(step, "\n\r\x00\x1b") {
			t.Errorf("input %d: the step is not one line: %q", n, step)
		}
	}
}

func TestMistakes(t *testing.T) {
	for want, o := range map[string]Options{
		"would not end":        {},
		"must not be negative": {Inputs: -1},
	} {
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestReport: what a run finds can be written in each form.
func TestReport(t *testing.T) {
	_, o := play(t, "bom-accepted")
	o.Seed, o.Inputs = 1, 1000
	r, err := Run(t.Context(), o)
	if err != nil || len(r.Findings) != 1 || r.Broken(false) || !r.Broken(true) || !r.Complete {
		t.Fatalf("%+v, %v", r, err)
	}
	var stored, text bytes.Buffer
	if err := errors.Join(WriteJSON(&stored, r), WriteText(&text, r)); err != nil {
		t.Fatal(err)
	}
	if err := schemas.MustCompile("fuzz/report").Validate(stored.Bytes()); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"SHOULD An invalid input is accepted: bom", "    When the probe sends «hex ef bb bf»", "found: 0 against a MUST, 1 against a SHOULD"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestInterrupted: what was sent by then is told.
func TestInterrupted(t *testing.T) {
	_, o := play(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Inputs = 1 << 20
	o.Progress = func(p Progress) {
		if p.Inputs > 100 {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) || r.Inputs < 100 || r.Complete || len(r.Findings) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestGone: a target that does not come back is no target without a fault.
func TestGone(t *testing.T) {
	_, o := play(t, "dies-of-malformed")
	o.Inputs, o.Restart = 500, nil
	r, err := Run(t.Context(), o)
	if !errors.Is(err, ErrGone) || len(r.Findings) != 1 || !r.Findings[0].Gone {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("there is nobody, and no error")
	}
}
