package fuzz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/harness/wire"
)

// Bounds of making a finding shorter.
const (
	maxTries      = 150
	maxShortening = 20 * time.Second
	// leastPatience is how long a peer of ordinary speed gets for an answer then.
	leastPatience = 200 * time.Millisecond
)

// examine sees whether a failure can be repeated, makes its inputs as few and as short
// as it can, and reports it.
func (f *fuzzer) examine(ctx context.Context, first int, list []expectation, failure *failed) {
	// What did not answer in all the time will not answer in a part of it either, and
	// making an input shorter takes many tries.
	f.mu.Lock()
	ceiling := min(f.Target.Ceiling, max(leastPatience, 4*f.slowest))
	f.mu.Unlock()
	until := time.Now().Add(maxShortening)
	dead := false // it does not even take a connection
	again := func(list []expectation) *failed {
		if dead {
			return nil
		}
		if time.Now().After(until) {
			return nil
		}
		_, got := f.try(ctx, list, ceiling)
		if got != nil && got.blocked {
			dead = true
			return nil
		}
		if got != nil && same(got, failure) {
			return got
		}
		return nil
	}
	at := len(list) - 1
	var kept []expectation
	if failure.reply {
		kept = culprit(again, list)
	}
	switch {
	case kept != nil:
	case again(list[at:]) != nil:
		kept = list[at:]
	case again(list) != nil:
		kept = fewer(again, list)
	case dead:
		// It cannot be tried again; the last input is the likeliest.
		f.found(first+at, list[at:], failure)
		f.gone(ctx, failure)
		return
	default:
		f.note(fmt.Sprintf("seen once and not again, with input %d: %s: expected %s; %s", first+at, strings.Join(failure.Requirements, ", "), failure.Expected, failure.Actual))
		return
	}
	if len(kept) == 1 {
		kept = []expectation{shorter(again, kept[0])}
	}
	if _, got := f.try(ctx, kept, f.Target.Ceiling); got != nil && same(got, failure) {
		failure = got
	}
	f.found(first+at, kept, failure)
	f.gone(ctx, failure)
}

// same: two failures are about the same sentence, and nothing answers in both or in
// neither.
func same(a, b *failed) bool {
	return a.lost == b.lost && slices.Equal(a.Requirements, b.Requirements)
}

// culprit finds the one input whose reply is no envelope.
func culprit(again func([]expectation) *failed, list []expectation) []expectation {
	for i := range list {
		if again(list[i:i+1]) != nil {
			return list[i : i+1]
		}
	}
	return nil
}

// fewer leaves out what a failure does not need.
func fewer(again func([]expectation) *failed, list []expectation) []expectation {
	for i := len(list) - 2; i >= 0; i-- {
		if less := slices.Delete(slices.Clone(list), i, i+1); again(less) != nil {
			list = less
		}
	}
	return list
}

// shorter takes away what an input need not have to fail in the same way. What has to
// come of it stays the same.
func shorter(again func([]expectation) *failed, e expectation) expectation {
	tries := 0
	better := func(body string) bool {
		if tries++; tries > maxTries || len(body) >= len(e.in.Body) {
			return false
		}
		in := Input{Body: body, Uni: e.in.Uni}
		bytes, err := steps.Expand(body, wire.NewID())
		if err != nil {
			return false
		}
		shorter := expect(in, bytes)
		if shorter.what != e.what || shorter.id != e.id || again([]expectation{shorter}) == nil {
			return false
		}
		e = shorter
		return true
	}
	for part := 2; part <= 64; {
		list := atoms(e.in.Body)
		size := max(1, len(list)/part)
		shrunk := false
		for i := 0; i < len(list) && tries <= maxTries; i += size {
			if better(strings.Join(slices.Delete(slices.Clone(list), i, min(i+size, len(list))), "")) {
				shrunk = true
				break
			}
		}
		if !shrunk {
			if size == 1 {
				break
			}
			part *= 2
		}
	}
	// Then long repetitions.
	for i, a := range atoms(e.in.Body) {
		count, rest, found := strings.Cut(strings.TrimPrefix(a, "«"), " ")
		n, err := strconv.Atoi(count)
		for found && err == nil && n > 1 && tries <= maxTries {
			list := atoms(e.in.Body)
			n /= 2
			list[i] = fmt.Sprintf("«%d %s", n, rest)
			if !better(strings.Join(list, "")) {
				break
			}
		}
	}
	return e
}

// gone ends the run when the target does not come back, and tells whether it did.
func (f *fuzzer) gone(ctx context.Context, failure *failed) bool {
	if !failure.lost || ctx.Err() != nil {
		return false
	}
	target := *f.Target
	target.Record = steps.NewRecord()
	wait, cancel := context.WithTimeout(ctx, 2*f.Target.Ceiling)
	defer cancel()
	if _, err := steps.Preflight(wait, &target); err == nil {
		return false
	}
	f.stop(fmt.Errorf("%w: %s; %s", ErrGone, failure.Expected, failure.Actual))
	return true
}

// ErrGone says that the target does not answer any more.
var ErrGone = errors.New("the target does not answer any more")

func (f *fuzzer) note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.report.Notes) < 20 {
		f.report.Notes = append(f.report.Notes, text)
	}
}

// news tells whether nothing of this sort was seen before.
func (f *fuzzer) news(last expectation, failure *failed) bool {
	sort := fmt.Sprint(failure.Requirements, last.what, last.in.Uni, failure.lost, failure.reply)
	f.mu.Lock()
	defer f.mu.Unlock()
	news := !f.known[sort]
	f.known[sort] = true
	return news
}

// found reports a finding.
func (f *fuzzer) found(input int, list []expectation, failure *failed) {
	last := list[len(list)-1]
	then := slices.Clone(last.then)
	tag := strings.Join(failure.Requirements, " @")
	if failure.reply {
		then = append(then, "it held for everything that the target sent in this run")
		list = slices.Clone(list)
		list[len(list)-1].then = then
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.report.Findings) >= MaxFindings {
		return
	}
	f.report.Findings = append(f.report.Findings, Finding{
		Input: input, Requirements: failure.Requirements, Level: levelOf(failure.Requirements), Expected: failure.Expected, Actual: failure.Actual, Lost: failure.lost,
		Scenario: scenario(fmt.Sprintf("Found by fuzzing, seed %d, input %d", f.Seed, input), tag, list),
	})
	if len(f.report.Findings) >= MaxFindings {
		f.stop(errEnough)
	}
}
