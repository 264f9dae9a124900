package main

import (
	"context"
	"errors"

	"github.com/axonproto/axon/conformance/cli"
	"github.com/axonproto/axon/conformance/mutants"
	"github.com/axonproto/axon/conformance/suite"
)

// playPeer is the self test's peer, for people.
func playPeer(ctx context.Context, o cli.PeerOptions) error {
	p := mutants.PlayOptions{
		Identity: o.Identity, Listen: o.Listen, Dial: o.Dial, Admit: o.Admit, Fault: o.Fault, Log: o.Log, Ready: o.Ready,
	}
	switch o.Reply {
	case "echo":
		p.Reply = mutants.Echo
	case "custom":
		p.Reply = mutants.AsWritten(o.Custom)
	}
	err := mutants.Play(ctx, p)
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	// The address, the fault or the target: all of them are the caller's.
	return &suite.UsageError{Problem: err.Error()}
}
