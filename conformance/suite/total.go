package suite

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/spec"
)

// report makes the report of a run from the results of its repetitions.
func (r *run) report(began time.Time, sets []map[string]*result) report.Report {
	edition, _ := r.options.Select.edition() // was looked at when checks were chosen
	out := report.Report{
		SchemaVersion: report.SchemaVersion,
		Suite:         report.Suite{Name: "axon-conformance", Version: r.options.Version, Edition: edition},
		Target: report.Target{
			Address: r.options.Address, AgentID: r.target.AgentID, PublicKey: r.publicKey(),
			KeySource: r.keySource(), Capabilities: r.capabilities(),
		},
		Started: began.UTC(), Strict: r.options.Strict, Notes: []string{}, Requirements: []report.Requirement{},
	}
	worst := map[string]*result{}
	for _, set := range sets {
		for _, k := range r.chosen {
			res := set[k.location]
			if kept := worst[k.location]; kept == nil || verdict.Worst(res.worst(k), kept.worst(k)) != kept.worst(k) {
				worst[k.location] = res
			}
		}
	}
	for _, q := range spec.Requirements() {
		if entry, concerned := r.requirement(q, worst); concerned {
			out.Requirements = append(out.Requirements, entry)
		}
	}
	if named, ok := r.options.Control.(control.Named); ok {
		out.Target.Name, out.Target.Version = named.Implementation()
	}
	if s := r.options.Select; s.Shards > 0 {
		out.Shard = &report.Shard{Index: s.Shard, Of: s.Shards}
	}
	out.Notes = append(out.Notes, r.notes...)
	out.Notes = append(out.Notes, r.reviver.remarks()...)
	if remarker, ok := r.options.Control.(control.Remarker); ok {
		out.Notes = append(out.Notes, remarker.Remarks()...)
	}
	if len(sets) > 1 {
		out.Notes = append(out.Notes, r.compare(sets))
	}
	out.DurationMS = milliseconds(time.Since(began))
	out.Total()
	return out
}

func (r *run) keySource() string {
	switch {
	case r.options.KeySource != "":
		return r.options.KeySource
	case r.options.Key != nil:
		return report.KeyPinned
	}
	return report.KeyLearned
}

// requirement gathers the results of the checks of one sentence. A sentence is not
// part of the report when none of its checks was selected, unless everything was:
// then it is not applicable.
func (r *run) requirement(q spec.Requirement, results map[string]*result) (report.Requirement, bool) {
	entry := report.Requirement{ID: q.ID, Level: string(q.Level), Section: q.Section, Text: q.Text, Scenarios: []report.Scenario{},
		SectionTitle: q.SectionTitle, SeedLines: q.SeedLines, Source: q.Source, Why: q.Why, Fix: q.Fix}
	if edition, _ := r.options.Select.edition(); q.Withdrawn || !spec.InEdition(edition, q) {
		return entry, false
	}
	if sel := r.options.Select; len(sel.Requirements) > 0 && !slices.Contains(sel.Requirements, q.ID) ||
		sel.Level != "" && !strings.EqualFold(sel.Level, string(q.Level)) {
		return entry, false
	}
	var all []verdict.Verdict
	for _, k := range r.chosen {
		if !slices.Contains(k.ids, q.ID) {
			continue
		}
		res := results[k.location]
		s := report.Scenario{
			Name: k.name, Location: k.location, Verdict: res.under(q.ID), Reason: res.reason,
			DurationMS: milliseconds(res.took), Transcript: []report.Event{}, Rerun: r.rerun(k),
			WholeRun: k.wholeRun,
		}
		if s.Verdict != verdict.Pass && s.Verdict != verdict.NotApplicable {
			s.Expected, s.Actual = res.expected, res.actual
			s.Transcript = append(s.Transcript, res.transcript...)
			s.Steps, s.QLog = k.steps, res.qlog
		}
		entry.Scenarios = append(entry.Scenarios, s)
		all = append(all, s.Verdict)
	}
	entry.Verdict = verdict.Worst(all...)
	sel := r.options.Select
	everything := sel.Tags == "" && sel.Location == "" && sel.Locations == nil
	return entry, len(all) > 0 || everything
}

// rerun is a command that runs one check again.
func (r *run) rerun(k *check) string {
	args := ""
	if r.options.RerunArgs != "" {
		args = " " + r.options.RerunArgs
	}
	program := r.options.Program
	if program == "" {
		program = "axon-conformance"
	}
	return program + " run" + args + " --scenario " + k.location
}

// compare says whether all repetitions gave the same verdicts.
func (r *run) compare(sets []map[string]*result) string {
	var differ []string
	for _, k := range r.chosen {
		for _, set := range sets[1:] {
			if set[k.location].worst(k) != sets[0][k.location].worst(k) {
				differ = append(differ, k.location)
				break
			}
		}
	}
	if len(differ) == 0 {
		return fmt.Sprintf("%d repetitions gave %d identical sets of verdicts", len(sets), len(sets))
	}
	return fmt.Sprintf("%d repetitions differ in the verdicts of %d checks, the worst of which count: %s", len(sets), len(differ), strings.Join(differ, ", "))
}
