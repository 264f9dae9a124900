package mutants

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
)

const (
	// localWorkers is the number of daemons at once: they wait as much as they work.
	localWorkers = 6
	// localPatience is what the check of the handler's deadline may take beyond the
	// daemon's own.
	localPatience = time.Second
	// localSample is the part, one in so many, of the checks that do not concern a
	// fault which its daemon meets all the same.
	localSample = 24
	// secondCeiling times a check's ceiling is what it gets in the second look, where
	// the suite did not find what it should have found: a machine that is busy with
	// other things may be late.
	secondCeiling = 4
)

// localNeeds are the needs that a local API serves.
var localNeeds = []string{"drive", "handle", "observe"}

// throughLocal tells whether a check is made through a local API alone.
func throughLocal(l suite.Listed) bool {
	return slices.ContainsFunc(l.Needs, func(n string) bool { return slices.Contains(localNeeds, n) }) &&
		!slices.Contains(l.Needs, "cli") && !slices.Contains(l.Needs, "lan")
}

// localChecks names the places of the checks for a daemon with a local API.
func (s *selection) localChecks(j *job, whole bool) []string {
	broken := slices.Concat(j.row.MadeFor, j.also)
	var places []string
	for _, l := range s.locals {
		made := slices.ContainsFunc(l.IDs, func(id string) bool { return slices.Contains(j.row.MadeFor, id) })
		concerned := made || slices.ContainsFunc(l.IDs, func(id string) bool { return slices.Contains(broken, id) })
		if s.heavy[l.Location] && !j.heavy || s.slow[l.Location] && !made && !j.minutes {
			continue
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(j.row.Name + " " + l.Name))
		if whole || j.whole || concerned || h.Sum32()%localSample == 0 {
			places = append(places, l.Location)
		}
	}
	return places
}

// runLocal has the suite judge one daemon with a local API.
func (j *job) runLocal(ctx context.Context, o Options, checks *selection, me credential.Identity) (Row, error) {
	return looks(ctx, func(second bool) (Row, error) {
		return j.lookLocal(ctx, o, checks, me, ceilingOf(j.ceiling, second))
	})
}

// ceilingOf gives a check more time in the second look.
func ceilingOf(ceiling time.Duration, second bool) time.Duration {
	if second {
		return secondCeiling * ceiling
	}
	return ceiling
}

func (j *job) lookLocal(ctx context.Context, o Options, checks *selection, me credential.Identity, ceiling time.Duration) (Row, error) {
	m := correctLocal()
	j.local(&m)
	d, err := startLocal(m, me)
	if err != nil {
		return j.row, err
	}
	defer d.close()
	api, err := control.NewIPC(ctx, d.path())
	if err != nil {
		return j.row, fmt.Errorf("the local API does not answer: %w", err)
	}
	defer func() { _ = api.Close() }()
	options := suite.Options{
		Address: d.peer.address(), Identity: me, Features: o.Features, Control: api,
		Timeout: ceiling, Slow: true, Patience: m.deadline + localPatience, Version: o.Version,
	}
	options.Select.Locations = checks.localChecks(j, o.Whole)
	r, err := suite.Run(ctx, options)
	if err != nil {
		return j.row, err
	}
	return j.judge(r), nil
}
