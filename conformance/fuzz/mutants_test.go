package fuzz

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/axonproto/axon/conformance/mutants"
	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/harness/credential"
)

// played is a peer that is up.
type played struct {
	own, suite credential.Identity
	address    string
	stop       func()
	handler    bool // answers of its own accord
}

// play starts a peer with a fault; empty is none.
func play(t *testing.T, fault string) played {
	t.Helper()
	p := played{own: identity(t), suite: identity(t), handler: strings.HasPrefix(fault, "odd-handler")}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- mutants.Play(ctx, mutants.PlayOptions{Identity: p.own, Admit: p.suite.Public(), Fault: fault, Ready: func(a string) { ready <- a }})
		close(ended)
	}()
	p.stop = func() { cancel(); <-ended }
	t.Cleanup(p.stop)
	select {
	case p.address = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	return p
}

func (p played) target(t *testing.T) *steps.Target {
	t.Helper()
	target := &steps.Target{Address: p.address, Key: p.own.Public(), AgentID: p.own.AgentID(), Identity: p.suite, HasHandler: p.handler, Ceiling: 3 * time.Second, Record: steps.NewRecord()}
	ctx, cancel := context.WithTimeout(t.Context(), target.Ceiling)
	defer cancel()
	if answered, err := steps.Preflight(ctx, target); err != nil || answered == 0 {
		t.Skipf("a plain request is not answered, which is for `run` to say: %v", err)
	}
	target.Single = !steps.KeepsConnections(ctx, target)
	return target
}

// against fuzzes a peer with a fault.
func against(t *testing.T, fault string, seed uint64, inputs int) (Report, error) {
	t.Helper()
	return Run(t.Context(), Options{Target: play(t, fault).target(t), Seed: seed, Inputs: inputs})
}

func identity(t *testing.T) credential.Identity {
	t.Helper()
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// found are peers broken on malformed, large, nested or odd input, of each sort one.
var found = []string{
	"array-of-values-accepted",
	"bom-accepted",
	"hangs-on-domain",
	"id-nil-accepted",
	"invalid-utf-8-replaced",
	"limit-on-payload-bytes",
	"names-trimmed",
	"oversize-closes",
	"payload-deep-refused-64",
	"unknown-kind-closes-one-way",
}

// all has every peer that shows a fault on the wire tried, which takes minutes.
const all = "AXON_FUZZ_ALL"

// TestBrokenPeers: what is broken on odd input is found.
func TestBrokenPeers(t *testing.T) {
	names := found
	if os.Getenv(all) != "" {
		names = mutants.Faults()
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := against(t, name, 1, 600)
			if err != nil && !errors.Is(err, ErrGone) {
				t.Fatal(err)
			}
			if len(r.Findings) > 0 || err != nil {
				return
			}
			if slices.Contains(found, name) {
				t.Errorf("nothing was found in %d inputs", r.Inputs)
			} else {
				t.Logf("nothing was found in %d inputs", r.Inputs)
			}
		})
	}
}
