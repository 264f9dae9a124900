package fuzz

import (
	"context"
	"math/rand/v2"
)

// eachBatches is how many batches have one crowd between them.
const eachBatches = 8

// crowdFactor times the ceiling is what a step of a crowd may take.
const crowdFactor = 10

// allAnswered and the others are what has to hold of many at once.
const (
	allAnswered = "all of them are answered, each on its own stream"
	eachRef     = "each reply's ref is the id of the request on its own stream"
)

func when(steps ...string) (list []line) {
	for _, s := range steps {
		list = append(list, line{"When", s})
	}
	return list
}

// crowds are connections that are used in ways in which one input cannot be: many
// streams at a time, and an end in the middle.
var crowds = []Case{
	{name: "64 requests at once", Crowd: when("64 requests are opened at once on one connection"), Claim: Claim{eachRef, []string{"AXON-REF-005"}}},
	{name: "64 requests that lie unfinished", Crowd: when("64 requests lie written and unfinished on one connection and are then finished in a mixed order"), Claim: Claim{eachRef, []string{"AXON-REF-005"}}},
	{name: "250 requests in a row", Crowd: when("250 requests are sent one after another on one connection"), Claim: Claim{allAnswered, []string{"AXON-STREAM-008"}}},
	{name: "60 unknown kinds on each type of stream", Crowd: when("60 envelopes of unknown kinds are sent on each type of stream"), Claim: Claim{survives, []string{"AXON-FWD-001"}}},
	{name: "60 errors", Crowd: when("60 errors are sent, each on a stream of its own"), Claim: Claim{survives, []string{"AXON-KIND-007"}}},
	{name: "200 messages", Crowd: when("200 messages are sent, each on a stream of its own"), Claim: Claim{survives, []string{"AXON-STREAM-011"}}},
	{name: "120 requests that are given up", Crowd: when("120 requests are begun and given up on one connection"), Claim: Claim{survives, []string{"AXON-STREAM-008"}}},
	{name: "a mixture of valid and malformed", Crowd: when("a mixture of 60 valid and malformed envelopes is sent on one connection"), Claim: Claim{servesOn, []string{"AXON-STREAM-008"}}},
	{name: "a connection that ends in the middle", Crowd: when("the probe sends a request", "the probe writes half a request on a stream and leaves it open",
		"the probe closes the connection in the middle of that", "the probe sends a request"), Claim: Claim{oneReply, []string{"AXON-STREAM-006"}}},
	{name: "20 connections", Crowd: when("20 connections are made one after another, and on each a request is written at once"), Claim: Claim{allAnswered, []string{"AXON-STREAM-006"}}},
}

// inRow are crowds that show what is wrong with a reply now and then.
func inRow(c Claim) []Case {
	var list []Case
	for _, step := range []string{"20 requests are sent one after another on one connection", "250 requests are sent one after another on one connection", "64 requests are opened at once on one connection"} {
		list = append(list, Case{Crowd: append(when(step), line{"Then", allAnswered}), Claim: c, name: "now and then"})
	}
	return list
}

// crowd plays, after some batches, the next of the crowds; each run has another order.
func (f *fuzzer) crowd(ctx context.Context) error {
	if f.batches++; f.batches%eachBatches != 0 {
		return nil
	}
	nth := f.batches/eachBatches - 1
	order := rand.New(rand.NewPCG(f.Seed, 1)).Perm(len(crowds))
	c := crowds[order[nth%len(crowds)]]
	k := key(c.Claim, c.name)
	if at, known := f.found[k]; known {
		f.report.Findings[at].Seen++
		return nil
	}
	failure, gone, err := f.fails(ctx, c)
	if failure == nil {
		return err
	}
	saw := suspicion{-1, c.Claim, c.name, failure.Actual}
	if err == nil {
		// Once may be chance.
		if failure, _, err = f.fails(ctx, c); failure == nil {
			f.note("seen once and not again: %s (%s)", saw.saw, c.name)
			return err
		}
	}
	f.tell(c, failure, saw, k, trial{steady: err == nil, gone: gone})
	return err
}
