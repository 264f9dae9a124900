package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/spec"
)

// levels as --level takes them.
var levels = []string{"must", "should", "advisory"}

// selectionFlags are the flags by which run and list choose.
type selectionFlags struct {
	tags, level, section, need string
	scenario, features         string
	edition, shard             string
	requirements               []string
}

func (s *selectionFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&s.tags, "tags", "", "only scenarios whose tags fit this `EXPRESSION`, as in \"@AXON-KIND-002 or not @heavy\"")
	c.Flags().StringSliceVar(&s.requirements, "requirement", nil, "only this `ID`; repeatable, or separated by commas")
	c.Flags().StringVar(&s.level, "level", "", "only requirements of this `LEVEL`: must, should or advisory")
	c.Flags().StringVar(&s.section, "section", "", "only requirements of this `SECTION`, as in streams; 'axon-conformance coverage' shows all")
	c.Flags().StringVar(&s.need, "need", "", "only checks that need this `NEED` of the target: wire (nothing but its address), quiet, drive, handle, observe, cli or lan")
	c.Flags().StringVar(&s.scenario, "scenario", "", "only the scenario at `FILE:LINE`, as reports print it")
	c.Flags().StringVar(&s.edition, "edition", "", "requirements of this `EDITION` of AXON Message Types (default: "+spec.Edition+", the newest)")
	c.Flags().StringVar(&s.shard, "shard", "", "only part I of N of the checks, as `I/N`; 'axon-conformance merge' joins the reports of all parts")
	addFeatures(c, &s.features)
	_ = c.RegisterFlagCompletionFunc("edition", cobra.FixedCompletions(spec.Editions(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("level", cobra.FixedCompletions(levels, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("section", cobra.FixedCompletions(sectionNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("need", cobra.FixedCompletions(needNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("requirement", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return requirementIDs(), cobra.ShellCompDirectiveNoFileComp
	})
}

func addFeatures(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "features", "", "`DIR` with *.feature files to use instead of the embedded ones")
}

func sectionNames() []string {
	var names []string
	for _, s := range spec.Sections() {
		names = append(names, s.Slug)
	}
	return names
}

func needNames() []string {
	var names []string
	for _, n := range spec.Needs() {
		names = append(names, string(n))
	}
	return names
}

func requirementIDs() []string {
	var ids []string
	for _, q := range spec.Requirements() {
		if !q.Withdrawn {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

// read checks the flags and gives the feature files and the selection.
func (s *selectionFlags) read(p *program) (fs.FS, suite.Selection, error) {
	none := suite.Selection{}
	chosen := suite.Selection{Tags: s.tags, Level: strings.ToUpper(s.level)}
	if s.level != "" && !slices.Contains(levels, strings.ToLower(s.level)) {
		return nil, none, usagef("--level %s: there is no such level%s", s.level, suggest(s.level, levels))
	}
	if chosen.Section = strings.ToLower(s.section); s.section != "" && !slices.Contains(sectionNames(), chosen.Section) {
		return nil, none, usagef("--section %s: there is no such section%s; there are %s", s.section, suggest(s.section, sectionNames()), strings.Join(sectionNames(), ", "))
	}
	if chosen.Need = strings.ToLower(s.need); s.need != "" && !slices.Contains(needNames(), chosen.Need) {
		return nil, none, usagef("--need %s: there is no such need%s", s.need, suggest(s.need, needNames()))
	}
	var err error
	if chosen.Edition, err = edition(s.edition); err != nil {
		return nil, none, err
	}
	if chosen.Shard, chosen.Shards, err = parseShard(s.shard); err != nil {
		return nil, none, err
	}
	known := requirementIDs()
	for _, id := range s.requirements {
		id = strings.TrimSpace(id)
		if id == "" {
			return nil, none, usagef("--requirement holds an empty id; write --requirement ID,ID")
		}
		if !slices.Contains(known, id) {
			if q, withdrawn := spec.Lookup(id); withdrawn && q.Withdrawn {
				return nil, none, usagef("--requirement %s: this requirement is withdrawn; '%s list' shows those that are checked", id, programName)
			}
			return nil, none, usagef("--requirement %s: there is no such requirement%s; '%s list' shows them",
				id, suggest(id, known), programName)
		}
		chosen.Requirements = append(chosen.Requirements, id)
	}
	if s.scenario != "" {
		at := strings.LastIndexByte(s.scenario, ':')
		if at <= 0 {
			return nil, none, usagef("--scenario %s: the line is missing; write FILE:LINE as '%s list' prints it", s.scenario, programName)
		}
		if line, err := strconv.Atoi(s.scenario[at+1:]); err != nil || line < 1 {
			return nil, none, usagef("--scenario %s: %q is no line number; write FILE:LINE as '%s list' prints it",
				s.scenario, s.scenario[at+1:], programName)
		}
		chosen.Location = s.scenario
	}
	files, err := p.featureFiles(s.features)
	return files, chosen, err
}

// edition checks the name of an edition; empty is the newest.
func edition(name string) (string, error) {
	known := spec.Editions()
	switch {
	case name == "":
		return spec.Edition, nil
	case !slices.Contains(known, name):
		return "", usagef("--edition %s: there is no such edition of the text%s", name, suggest(name, known))
	}
	return name, nil
}

// maxShards bounds the parts of a run.
const maxShards = 1000

// parseShard reads I/N; both are 0 for an empty text.
func parseShard(text string) (index, of int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	first, second, found := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(first)
	of, err2 := strconv.Atoi(second)
	if !found || err1 != nil || err2 != nil {
		return 0, 0, usagef("--shard %s: write I/N, as in --shard 1/4", text)
	}
	if of < 1 || of > maxShards || index < 1 || index > of {
		return 0, 0, usagef("--shard %s: I goes from 1 to N, and N to %d at most", text, maxShards)
	}
	return index, of, nil
}

// featureFiles opens the feature files of a directory, or the embedded ones.
func (p *program) featureFiles(dir string) (fs.FS, error) {
	if dir == "" {
		if p.env.Features == nil {
			return nil, &failure{code: report.ExitHarnessError, err: errors.New("this build has no embedded feature files; name some with --features DIR")}
		}
		return p.env.Features, nil
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, &failure{code: report.ExitUsage, err: fmt.Errorf("--features: %w; name a directory with *.feature files", err)}
	case !info.IsDir():
		return nil, &failure{code: report.ExitUsage, err: fmt.Errorf("--features %s is a file; name the directory, %s, and choose with --scenario",
			dir, filepath.Dir(dir))}
	}
	return os.DirFS(dir), nil
}

// engineError gives what the suite returns its exit code.
func engineError(err error) error {
	if _, ok := errors.AsType[*failure](err); ok {
		return err
	}
	if usage, ok := errors.AsType[*suite.UsageError](err); ok {
		return &failure{code: report.ExitUsage, err: usage}
	}
	if errors.Is(err, context.Canceled) {
		return &failure{code: report.ExitIncomplete, err: errors.New("interrupted before anything was judged; run it again")}
	}
	return &failure{code: report.ExitHarnessError, err: fmt.Errorf("the suite itself went wrong: %w; please report this", err)}
}
