package spec

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const wellFormed = `# Title

Prose before the first section.

## Kinds · kinds

Prose of the section.

### AXON-KIND-001 · MUST

A sentence that
runs on.

- seed: 3, 5-7
- needs: wire, quiet; observe
- why: one line
  and its continuation
- fix: do it.

### AXON-KIND-002 · SHOULD · withdrawn

It said too much.

## Prose

No requirement here.

## Transport · tls

### AXON-TLS-001 · ADVISORY
Without blank lines it reads as well.
- source: protocol v1
- needs: cli
- why: w
- fix: f
`

func TestParseWellFormed(t *testing.T) {
	for _, text := range []string{wellFormed, strings.ReplaceAll(wellFormed, "\n", "\r\n")} {
		rs, err := Parse("a.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(rs) != 3 {
			t.Fatalf("%d requirements, want 3", len(rs))
		}
		want := `{ID:AXON-KIND-001 Level:MUST Section:kinds SectionTitle:Kinds Text:A sentence that runs on. SeedLines:[3 5 6 7] Source: ` +
			`Needs:[[wire quiet] [observe]] Why:one line and its continuation Fix:do it. Withdrawn:false File:a.md Line:9}`
		if got := fmt.Sprintf("%+v", rs[0]); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if !rs[1].Withdrawn || rs[1].Level != Should || rs[1].Line != 20 {
			t.Errorf("withdrawn: %+v", rs[1])
		}
		if r := rs[2]; r.Source != "protocol v1" || r.SeedLines != nil || r.Section != "tls" || r.Level != Advisory || r.Line != 30 {
			t.Errorf("source: %+v", r)
		}
	}
}

func TestParseWithoutRequirements(t *testing.T) {
	for _, text := range []string{"", "# Only prose\n", "# A\n\n```\n### AXON-KIND-001 · MUST\n```\n"} {
		if rs, err := Parse("a.md", []byte(text)); err != nil || len(rs) != 0 {
			t.Errorf("%q: %v %v", text, rs, err)
		}
	}
}

// Each case changes one thing in the good entry, which begins in line 3.
func TestParseMalformed(t *testing.T) {
	const good = "## Kinds · kinds\n\n### AXON-KIND-001 · MUST\n\nA sentence.\n\n- seed: 3\n- needs: wire\n- why: w\n- fix: f\n"
	if _, err := Parse("a.md", []byte(good)); err != nil {
		t.Fatal(err)
	}
	again := strings.SplitAfterN(good, "\n\n", 2)[1]
	cases := []struct {
		name, old, new string
		line           int
		reason         string
	}{
		{"level unknown", "· MUST", "· MAY", 3, `unknown level "MAY"`},
		{"level in lower case", "· MUST", "· must", 3, `unknown level "must"`},
		{"level missing", " · MUST", "", 3, "needs a level"},
		{"level after a hyphen", " · MUST", " - MUST", 3, "not of the form"},
		{"remark after the level", "· MUST", "· MUST · later", 3, "only `withdrawn`"},
		{"too many parts", "· MUST", "· MUST · withdrawn · x", 3, "needs a level"},
		{"id with two digits", "KIND-001", "KIND-01", 3, "not of the form"},
		{"id with four digits", "KIND-001", "KIND-0001", 3, "not of the form"},
		{"id in lower case", "AXON-KIND", "AXON-kind", 3, "not of the form"},
		{"id of another protocol", "AXON-KIND", "HTTP-KIND", 3, "not of the form"},
		{"id zero", "KIND-001", "KIND-000", 3, "begin at 001"},
		{"duplicate id", "- fix: f\n", "- fix: f\n\n" + again, 12, "duplicate id AXON-KIND-001, first in line 3"},
		{"descending ids", "- fix: f\n", "- fix: f\n\n" + strings.Replace(good[18:], "001", "003", 1) + "\n" + strings.Replace(again, "001", "002", 1), 22, "ascending"},
		{"no section", "## Kinds · kinds\n", "## Kinds\n", 3, "outside of a section"},
		{"no section at all", "## Kinds · kinds\n", "\n", 3, "outside of a section"},
		{"section slug", "· kinds", "· Kinds", 1, "slug"},
		{"section slug with space", "· kinds", "· the kinds", 1, "slug"},
		{"section title", "## Kinds · kinds", "##  · kinds", 1, "without a title"},
		{"section twice", "- fix: f\n", "- fix: f\n\n## Again · kinds\n", 12, "stands already in line 1"},
		{"sentence missing", "A sentence.\n", "", 3, "no sentence"},
		{"sentence without stop", "sentence.", "sentence", 5, "full stop"},
		{"second paragraph", "A sentence.\n", "A sentence.\n\nAnother.\n", 7, "no field"},
		{"code for sentence", "A sentence.", "```x.", 5, "code block"},
		{"text after the fields", "- fix: f\n", "- fix: f\n\nA remark.\n", 12, "text after the fields"},
		{"line after the fields", "- fix: f\n", "- fix: f\nA remark.\n", 11, "no field"},
		{"list without a key", "- fix: f\n", "- fix f\n", 10, "no field"},
		{"seed missing", "- seed: 3\n", "", 7, "lacks the field seed"},
		{"needs missing", "- needs: wire\n", "", 8, "lacks the field needs"},
		{"why missing", "- why: w\n", "", 9, "lacks the field why"},
		{"fix missing", "- fix: f\n", "", 3, "lacks the field fix"},
		{"all fields missing", "- seed: 3\n- needs: wire\n- why: w\n- fix: f\n", "", 3, "lacks the field seed"},
		{"seed and source", "- seed: 3\n", "- seed: 3\n- source: x\n", 8, "twice or out of order"},
		{"field twice", "- why: w\n", "- why: w\n- why: w\n", 10, "twice or out of order"},
		{"field unknown", "- why: w\n", "- because: w\n", 9, `unknown field "because"`},
		{"field in capitals", "- why: w\n", "- Why: w\n", 9, `unknown field "Why"`},
		{"field empty", "- why: w\n", "- why:\n", 9, "is empty"},
		{"seed empty", "- seed: 3", "- seed:", 7, "is empty"},
		{"seed no number", "seed: 3", "seed: three", 7, "neither a number nor a range"},
		{"seed zero", "seed: 3", "seed: 0", 7, "neither a number nor a range"},
		{"seed beyond the end", "seed: 3", "seed: 176", 7, "neither a number nor a range"},
		{"seed range backwards", "seed: 3", "seed: 7-5", 7, "neither a number nor a range"},
		{"seed range of one", "seed: 3", "seed: 5-5", 7, "neither a number nor a range"},
		{"seed trailing comma", "seed: 3", "seed: 3,", 7, "neither a number nor a range"},
		{"seed not ascending", "seed: 3", "seed: 5, 3", 7, "do not ascend"},
		{"seed overlapping", "seed: 3", "seed: 3-5, 5", 7, "do not ascend"},
		{"need unknown", "needs: wire", "needs: wires", 8, `unknown need "wires"`},
		{"need in capitals", "needs: wire", "needs: CLI", 8, `unknown need "CLI"`},
		{"need twice", "needs: wire", "needs: wire, wire", 8, "stands twice"},
		{"need empty", "needs: wire", "needs: wire;", 8, `unknown need ""`},
		{"heading too deep", "### AXON", "#### AXON", 3, "third level"},
		{"heading without space", "### AXON", "###AXON", 3, "third level"},
		{"requirement without heading", "### AXON", "AXON", 3, "without `### `"},
		{"heading forgotten", "### AXON-KIND-001 · MUST\n", "\n", 7, "outside of a requirement"},
		{"code without end", "- fix: f\n", "- fix: f\n\n# Code\n```\n", 13, "without an end"},
		{"invalid UTF-8", "A sentence.", "A \xff sentence.", 5, "UTF-8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(good, c.old) {
				t.Fatalf("nothing to replace: %q", c.old)
			}
			text := strings.Replace(good, c.old, c.new, 1)
			rs, err := Parse("a.md", []byte(text))
			if err == nil {
				t.Fatalf("no error for\n%s", text)
			}
			if rs != nil {
				t.Errorf("requirements beside an error: %v", rs)
			}
			var pe *ParseError
			if !errors.As(err, &pe) || pe.File != "a.md" || pe.Line != c.line || !strings.Contains(pe.Reason, c.reason) {
				t.Errorf("first error %v\nwant a.md:%d: …%s…", err, c.line, c.reason)
			}
			if !strings.HasPrefix(err.Error(), fmt.Sprintf("a.md:%d: ", c.line)) {
				t.Errorf("error %q does not begin with its place", err)
			}
		})
	}
}

func TestParseReportsEveryFault(t *testing.T) {
	text := strings.ReplaceAll(wellFormed, "· MUST", "· MAY")
	text = strings.Replace(text, "- needs: cli", "- needs: none", 1)
	_, err := Parse("a.md", []byte(text))
	if err == nil || strings.Count(err.Error(), "a.md:") != 2 {
		t.Errorf("want two faults, got %v", err)
	}
}

func TestLoadAcrossFiles(t *testing.T) {
	entry := func(section, id string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("## S · " + section + "\n### " + id + " · MUST\nA.\n- source: s\n- needs: wire\n- why: w\n- fix: f\n")}
	}
	table := &fstest.MapFile{Data: []byte("| line | normative | note |\n|--:|---|---|\n| 1 | no | n |\n| 3 | yes | n |\n")}
	fsys := fstest.MapFS{
		"cli.md": entry("cli", "AXON-CLI-001"), "messages.md": entry("kinds", "AXON-KIND-001"), "ipc.md": entry("ipc", "AXON-IPC-001"),
		"README.md": {Data: []byte("# Prose\n")}, "seed-lines.md": table,
	}
	c, err := load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range c.requirements {
		ids = append(ids, r.ID)
	}
	if want := []string{"AXON-KIND-001", "AXON-IPC-001", "AXON-CLI-001"}; !slices.Equal(ids, want) {
		t.Errorf("order %v, want %v", ids, want)
	}
	if len(c.seedLines) != 2 || !c.seedLines[1].Normative || c.seedLines[0].Normative {
		t.Errorf("seed lines %v", c.seedLines)
	}
	for name, bad := range map[string]struct {
		file   string
		with   *fstest.MapFile
		reason string
	}{
		"id in two files":   {"ipc.md", entry("ipc", "AXON-KIND-001"), "ipc.md:2: duplicate id AXON-KIND-001, first at messages.md:2"},
		"slug in two files": {"ipc.md", entry("kinds", "AXON-IPC-001"), `ipc.md:1: section "kinds" stands already at messages.md:1`},
		"file not listed":   {"extra.md", entry("extra", "AXON-EXTRA-001"), "extra.md:2: requirements in a file without a place"},
		"bad file":          {"ipc.md", entry("ipc", "AXON-IPC-1"), "ipc.md:2: id"},
		"bad table":         {"seed-lines.md", &fstest.MapFile{Data: []byte("| 1 | maybe | n |\n")}, "seed-lines.md:1: the second cell"},
	} {
		t.Run(name, func(t *testing.T) {
			with := fstest.MapFS{}
			for n, f := range fsys {
				with[n] = f
			}
			with[bad.file] = bad.with
			if _, err := load(with); err == nil || !strings.Contains(err.Error(), bad.reason) {
				t.Errorf("got %v, want %s", err, bad.reason)
			}
		})
	}
}

func TestParseSeedLinesMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "s.md:1: no row",
		"| 1 | yes |":                     "s.md:1: a row has three cells",
		"| 1 | yes | a | b |":             "s.md:1: a row has three cells",
		"| 1 | yes | a":                   "s.md:1: a row has three cells",
		"\n| 0 | yes | a |":               "s.md:2: the first cell",
		"| 176 | yes | a |":               "s.md:1: the first cell",
		"| one | yes | a |":               "s.md:1: the first cell",
		"| 1 | Yes | a |":                 "s.md:1: the second cell",
		"| 1 | yes |  |":                  "s.md:1: the note is missing",
		"| 2 | yes | a |\n| 1 | no | a |": "s.md:2: seed line 1 does not ascend",
		"| 2 | yes | a |\n| 2 | no | a |": "s.md:2: seed line 2 does not ascend",
	} {
		if _, err := parseSeedLines("s.md", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// FuzzParse: requirements are whole, and what is wrong is told with its line.
func FuzzParse(f *testing.F) {
	f.Add([]byte(wellFormed))
	f.Add([]byte("### AXON-KIND-001 · MUST"))
	f.Add([]byte(strings.Replace(wellFormed, "MUST", "MAY", 1)))
	f.Add([]byte(strings.Replace(wellFormed, "- ", "- \x1b", 2)))
	place := regexp.MustCompile(`^f\.md:(\d+): `)
	f.Fuzz(func(t *testing.T, text []byte) {
		rs, err := Parse("f.md", text)
		lines := strings.Count(string(text), "\n") + 1
		if err != nil {
			m := place.FindStringSubmatch(err.Error())
			if m == nil || rs != nil {
				t.Fatalf("%q: %v, %+v", text, err, rs)
			}
			if line, _ := strconv.Atoi(m[1]); line < 1 || line > lines+1 {
				t.Fatalf("%q: %v, of %d lines", text, err, lines)
			}
		}
		seen := map[string]bool{}
		for _, r := range rs {
			if r.ID == "" || r.Text == "" || r.Line < 1 || r.Line > lines || r.Section == "" || seen[r.ID] {
				t.Fatalf("half a requirement: %+v", r)
			}
			seen[r.ID] = true
		}
	})
}
