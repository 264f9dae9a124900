package fuzz

import (
	"context"
	"slices"
)

// try sends a batch and looks into what does not look right.
func (f *fuzzer) try(ctx context.Context, batch []Input) error {
	if f.apart {
		return f.tryApart(ctx, batch)
	}
	o, err := f.play(ctx, batch)
	if err != nil {
		return err
	}
	if o.sent < len(batch) && !o.lost {
		// The target keeps streams that it refused; smaller batches go through.
		f.size = max(1, o.sent)
		if err := f.look(ctx, batch[:o.sent], o.suspicions); err != nil {
			return err
		}
		return f.try(ctx, batch[max(1, o.sent):])
	}
	if o.lost && o.closed && slices.ContainsFunc(batch, f.mayClose) {
		return f.tryApart(ctx, batch)
	}
	return f.look(ctx, batch, o.suspicions)
}

// mayClose: the text allows the target to end the connection on an input.
func (f *fuzzer) mayClose(in Input) bool { return !f.oracle.expect(in).stays }

// tryApart sends what must not end the connection together, and the rest one by one.
func (f *fuzzer) tryApart(ctx context.Context, batch []Input) error {
	together := slices.DeleteFunc(slices.Clone(batch), f.mayClose)
	if len(together) > 0 {
		o, err := f.play(ctx, together)
		if err != nil {
			return err
		}
		if err := f.look(ctx, together[:o.sent], o.suspicions); err != nil {
			return err
		}
	}
	for _, in := range batch {
		if !f.mayClose(in) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o, err := f.play(ctx, []Input{in})
		if err != nil {
			return err
		}
		if o.lost && o.closed {
			f.apart = true
			o.suspicions = f.afterClose(in)
		}
		if err := f.look(ctx, []Input{in}, o.suspicions); err != nil {
			return err
		}
	}
	return nil
}

// closesSeen is how many inputs of a sort that ended their connections are played as a
// scenario, which knows what is allowed then.
const closesSeen = 5

// afterClose are the claims on an input that ended its connection, as is allowed; none
// when several of its sort have kept them.
func (f *fuzzer) afterClose(in Input) []suspicion {
	e := f.oracle.expect(in)
	if f.closes[e.why]++; f.closes[e.why] > closesSeen {
		return nil
	}
	if len(e.claims) == 0 || !in.Bidi {
		return []suspicion{{0, f.quiet(in, e), e.why, ""}}
	}
	return []suspicion{{0, e.claims[0], e.why, ""}}
}

// quiet is the claim that holds of every input: nothing answers it where nothing may,
// and the target serves on.
func (f *fuzzer) quiet(in Input, e expectation) Claim {
	if in.Bidi {
		return e.survival(in)
	}
	return Claim{nothingAnswers, e.about}
}
