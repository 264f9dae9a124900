package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/axonproto/axon"

// rule says what the Go files of a folder may import of this module, as path
// prefixes: "harness" covers harness and everything below. The most particular
// rule of a folder is the one that counts. Tests may import more.
type rule struct {
	folder string
	may    []string
	tests  []string
}

// agreement is the folder whose tests, and nothing else, may import both sides.
const agreement = "impl/internal/agreement"

// rules hold the layout in code: impl and what judges it share nothing.
// A folder without a rule is an error, so that a new one is thought about.
var rules = []rule{
	{folder: "spec"},
	{folder: "schemas"},
	{folder: "features", tests: []string{"spec"}},

	{folder: "harness", may: []string{"harness", "schemas"}},

	{folder: "conformance/bench", may: []string{"conformance/report", "harness"}, tests: []string{"schemas"}},
	{folder: "conformance/fuzz", may: []string{"conformance/bench", "conformance/report", "conformance/steps", "conformance/suite", "conformance/verdict", "harness", "spec"},
		tests: []string{"conformance/mutants", "features", "schemas"}},
	{folder: "conformance/cli", may: []string{"conformance/baseline", "conformance/bench", "conformance/fuzz", "conformance/report", "conformance/suite", "conformance/verdict", "harness", "spec", "features"}},
	{folder: "conformance/verdict"},
	{folder: "conformance/report", may: []string{"conformance/verdict"}, tests: []string{"schemas"}},
	{folder: "conformance/baseline", may: []string{"conformance/verdict", "conformance/report", "spec"}, tests: []string{"schemas"}},
	{folder: "conformance/steps", may: []string{"conformance/verdict", "conformance/steps", "harness", "spec", "schemas"},
		tests: []string{"conformance/mutants", "features"}},
	{folder: "conformance/suite", may: []string{"conformance/verdict", "conformance/report", "conformance/steps", "conformance/baseline", "harness", "spec", "schemas", "features"},
		tests: []string{"conformance/mutants"}},
	{folder: "conformance/mutants", may: []string{"conformance", "harness", "spec", "schemas", "features"}},
	// Written as a stranger would write them.
	{folder: "conformance/examples"},

	{folder: "impl/internal/envelope"},
	{folder: "impl/internal/atomicfile"},
	{folder: "impl/internal/identity", may: []string{"impl/internal/atomicfile"}},
	{folder: "impl/internal/rarelog"},
	{folder: "impl/internal/config", may: []string{"impl/internal/atomicfile", "impl/internal/identity"}},
	{folder: "impl/internal/peers", may: []string{"impl/internal/atomicfile", "impl/internal/identity", "impl/internal/config"}},
	{folder: "impl/internal/dispatch", may: []string{"impl/internal/envelope", "impl/internal/identity", "impl/internal/rarelog"}},
	{folder: "impl/internal/transport", may: []string{"impl/internal"}},
	{folder: "impl/internal/links", may: []string{"impl/internal/config", "impl/internal/identity", "impl/internal/peers", "impl/internal/rarelog", "impl/internal/transport"}},
	{folder: "impl/internal/stateroot", may: []string{"impl/internal/atomicfile"}},
	{folder: "impl/internal/ipc", may: []string{"impl/internal"}, tests: []string{"schemas"}},
	{folder: "impl/internal/discovery", may: []string{"impl/internal"}},
	{folder: "impl/internal/daemon", may: []string{"impl/internal"}},
	{folder: "impl/internal/soak", tests: []string{"impl"}},
	// The daemon's readers held against the suite's.
	{folder: agreement, tests: []string{"impl/internal", "harness", "schemas"}},
	{folder: "impl/client", tests: []string{"impl"}},
	{folder: "impl/cli", may: []string{"impl"}, tests: []string{"schemas"}},

	{folder: "cmd/axon", may: []string{"impl/cli"}},
	{folder: "cmd/axon-conformance/internal"},
	{folder: "cmd/axon-conformance/internal/faulty", may: []string{"impl/cli"}},
	// The one place that holds both sides.
	{folder: "cmd/axon-conformance", may: []string{"cmd/axon-conformance/internal", "conformance", "features", "impl/cli"}, tests: []string{"harness", "spec", "schemas"}},
}

// forbidden pairs hold whatever the rules above allow, but for the tests of agreement.
var forbidden = []struct {
	folder, imported, why string
	testsToo              bool
}{
	{"impl", "harness", "the daemon and its judge share no code", true},
	{"impl", "conformance", "the daemon and its judge share no code", true},
	{"harness", "impl", "the judge and what it judges share no code", true},
	{"conformance", "impl", "the judge and what it judges share no code", true},
	{"harness", "conformance", "instruments act and record, they never judge", true},
	{"impl/internal/dispatch", "impl/internal/transport", "dispatch declares the interfaces that it needs", false},
	{"impl/internal/dispatch", "impl/internal/ipc", "dispatch declares the interfaces that it needs", false},
}

// TestImports reads the files themselves, whatever their build tags, so that no
// cached answer and no platform hides one.
func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := entry.Name(); entry.IsDir() && name != root && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		files++
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Errorf("%s: %v", relative, err)
			return nil
		}
		var imported []string
		for _, spec := range parsed.Imports {
			text, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imported = append(imported, text)
		}
		for _, problem := range judge(relative, imported) {
			t.Error(problem)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("only %d files were found; does the test still look at the whole module?", files)
	}
}

// judge gives the problems of one file, whose path is relative to the module.
func judge(file string, imported []string) []string {
	folder := path.Dir(file)
	test := strings.HasSuffix(file, "_test.go")
	found, ok := ruleOf(folder)
	if !ok {
		return []string{fmt.Sprintf("%s: the folder %s has no rule; add one to cmd/axon-conformance/imports_test.go", file, folder)}
	}
	var problems []string
	for _, full := range imported {
		local, ours := strings.CutPrefix(full, module+"/")
		if !ours {
			continue
		}
		may := found.may
		if test {
			may = slices.Concat(found.may, found.tests)
		}
		if !slices.ContainsFunc(may, func(prefix string) bool { return below(local, prefix) }) && local != folder {
			problems = append(problems, fmt.Sprintf("%s imports %s, which the rule of %s does not allow", file, local, found.folder))
		}
		for _, pair := range forbidden {
			if below(folder, pair.folder) && below(local, pair.imported) && (pair.testsToo || !test) && !(test && folder == agreement) {
				problems = append(problems, fmt.Sprintf("%s imports %s: %s", file, local, pair.why))
			}
		}
	}
	return problems
}

// ruleOf finds the most particular rule of a folder.
func ruleOf(folder string) (rule, bool) {
	var best rule
	for _, r := range rules {
		if below(folder, r.folder) && len(r.folder) > len(best.folder) {
			best = r
		}
	}
	return best, best.folder != ""
}

// below tells whether a path is prefix or under it.
func below(name, prefix string) bool {
	return name == prefix || strings.HasPrefix(name, prefix+"/")
}

func TestTheImportRulesBite(t *testing.T) {
	of := func(names ...string) []string {
		for i := range names {
			names[i] = module + "/" + names[i]
		}
		return names
	}
	for _, c := range []struct {
		file     string
		imported []string
		want     int
	}{
		{"impl/internal/transport/x.go", of("impl/internal/envelope"), 0},
		{"impl/internal/transport/x.go", of("harness/wire"), 2},
		{"impl/internal/transport/x_test.go", of("harness/wire"), 2},
		{"impl/internal/dispatch/x.go", of("impl/internal/transport"), 2},
		{"impl/internal/agreement/x_test.go", of("harness/wire", "impl/internal/envelope"), 0},
		{"impl/internal/agreement/x_test.go", of("conformance/report"), 1},
		{"impl/internal/agreement/x.go", of("harness/wire"), 2},
		{"impl/internal/agreement/below/x_test.go", of("harness/wire"), 1},
		{"impl/internal/envelope/x.go", of("impl/internal/agreement"), 1},
		{"harness/probe/x.go", of("impl/cli"), 2},
		{"harness/probe/x.go", of("conformance/verdict"), 2},
		{"harness/probe/x.go", of("harness/wire", "schemas"), 0},
		{"conformance/steps/x.go", of("impl/client"), 2},
		{"conformance/suite/x.go", of("conformance/mutants"), 1},
		{"conformance/suite/x_test.go", of("conformance/mutants"), 0},
		{"conformance/cli/x.go", of("conformance/suite", "harness/credential"), 0},
		{"conformance/cli/x.go", of("impl/cli"), 2},
		{"cmd/axon-conformance/main.go", of("impl/cli", "conformance/cli"), 0},
		{"cmd/axon-conformance/main.go", of("impl/internal/daemon"), 1},
		{"cmd/axon/main.go", of("conformance/cli"), 1},
		{"spec/spec.go", of("schemas"), 1},
		{"conformance/newcomer/x.go", nil, 1},
		{"impl/internal/newcomer/x.go", nil, 1},
		{"tools/x.go", nil, 1},
		{"main.go", nil, 1},
		{"spec/spec.go", []string{"fmt", "github.com/axonproto/axonish/impl"}, 0},
	} {
		if got := judge(c.file, c.imported); len(got) != c.want {
			t.Errorf("%s importing %v: got %q, want %d problems", c.file, c.imported, got, c.want)
		}
	}
}
