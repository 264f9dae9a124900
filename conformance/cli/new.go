package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/spec"
)

// draft is a sentence that an author begins.
type draft struct {
	dir              string
	id, sentence     string
	level, section   string
	needs            []string
	lines            []int
	file             string // of the section, in spec/
	edited           map[string][]byte
	scenario, mutant string // where the two stubs stand
	needsAnEdition   bool
}

// draftMarker is the line in draftsFile above which the next mutant is begun.
const (
	draftsFile  = "conformance/mutants/table_draft.go"
	draftMarker = "// New drafts go above this line."
)

var requirementID = regexp.MustCompile(`^AXON-([A-Z]+)-(\d{3})$`)

func (p *program) newCommand() *cobra.Command {
	d := draft{edited: map[string][]byte{}}
	c := &cobra.Command{
		Use:   "new ID SENTENCE",
		Short: "Begin a requirement: its sentence, a scenario and a mutant",
		Long: `Write a new sentence into spec/, a scenario without steps into features/, and a
mutant without a fault into conformance/mutants, each in its place in the source
tree in which you are. Nothing is written when one of them cannot be.

'coverage' then says what is still to be done, and CONTRIBUTING.md how.`,
		Example: `  axon-conformance new AXON-STREAM-042 "A stream is closed by who opened it." --level must --section streams --seed-lines 76
  axon-conformance new AXON-IPC-140 "An answer names its command." --level should --section ipc-lines --needs drive`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("new needs an id and a sentence in quotes, and has %d words; write for example %s new AXON-STREAM-042 \"A stream …\" --level must --section streams --seed-lines 76", len(args), programName)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			d.id, d.sentence = args[0], strings.TrimSpace(args[1])
			if err := d.check(); err != nil {
				return err
			}
			if err := d.edit(); err != nil {
				return &failure{code: report.ExitUsage, err: err}
			}
			if err := writeTogether(d.edited); err != nil {
				return &failure{code: report.ExitUsage, err: err}
			}
			return d.tell(p)
		},
	}
	c.Flags().StringVar(&d.level, "level", "must", "its `LEVEL`: must, should or advisory")
	c.Flags().StringVar(&d.section, "section", "", "the `SECTION` of the text that it belongs to, as in streams")
	c.Flags().IntSliceVar(&d.lines, "seed-lines", nil, "the `LINES` of the seed that it comes from, separated by commas (not for what does not come from it)")
	c.Flags().StringSliceVar(&d.needs, "needs", []string{"wire"}, "what a target must offer, `NEEDS` separated by commas")
	c.Flags().StringVar(&d.dir, "dir", "", "the source tree, a `DIR` (default: the one in which you are)")
	_ = c.RegisterFlagCompletionFunc("section", cobra.FixedCompletions(sectionNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("level", cobra.FixedCompletions(levels, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("needs", cobra.FixedCompletions(needNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// check looks at what was given.
func (d *draft) check() error {
	m := requirementID.FindStringSubmatch(d.id)
	if m == nil || m[2] == "000" {
		return usagef("%s is no id: write AXON-AREA-NNN, as in AXON-STREAM-042", d.id)
	}
	if q, known := spec.Lookup(d.id); known {
		return usagef("%s is there already: %q; ids are never given another meaning, take the next free number", d.id, q.Text)
	}
	if d.sentence == "" || strings.ContainsAny(d.sentence, "\r\n") || !strings.HasSuffix(d.sentence, ".") {
		return usagef("the sentence is one line that ends in a full stop")
	}
	if !slices.Contains(levels, strings.ToLower(d.level)) {
		return usagef("--level %s: there is no such level%s", d.level, suggest(d.level, levels))
	}
	d.level = strings.ToUpper(d.level)
	at := slices.IndexFunc(spec.Sections(), func(s spec.Section) bool { return s.Slug == d.section })
	if at < 0 {
		return usagef("--section %q: there is no such section%s; there are %s", d.section, suggest(d.section, sectionNames()), strings.Join(sectionNames(), ", "))
	}
	d.file = spec.Sections()[at].File
	for _, n := range d.needs {
		if !slices.Contains(needNames(), n) {
			return usagef("--needs %s: there is no such need%s", n, suggest(n, needNames()))
		}
	}
	known := map[int]spec.SeedLine{}
	for _, l := range spec.SeedLines() {
		known[l.Number] = l
	}
	for _, n := range d.lines {
		if l, there := known[n]; !there {
			return usagef("--seed-lines %d: the seed has no such line with something on it", n)
		} else if !l.Normative && d.level != string(spec.Advisory) {
			return usagef("--seed-lines %d: that line is not normative (%s); only an advisory sentence can come from it", n, l.Note)
		}
	}
	d.needsAnEdition = d.file == "messages.md" || d.file == "transport.md"
	if d.needsAnEdition && len(d.lines) == 0 {
		return usagef("a sentence of the section %q comes from the seed: name its --seed-lines", d.section)
	}
	return d.findTree()
}

// findTree finds the source tree above the working directory.
func (d *draft) findTree() error {
	named := d.dir != ""
	if !named {
		here, err := os.Getwd()
		if err != nil {
			return usagef("%w; name the source tree with --dir", err)
		}
		d.dir = here
	}
	for at := d.dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "spec", d.file)); err == nil {
			d.dir = at
			return nil
		}
		if named || at == filepath.Dir(at) {
			return usagef("%s is in no source tree of the suite: go into one, or name it with --dir", d.dir)
		}
	}
}

func (d *draft) read(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		return "", fmt.Errorf("%w; is %s a source tree of the suite?", err, d.dir)
	}
	return string(b), nil
}

func (d *draft) keep(name, text string) {
	d.edited[filepath.Join(d.dir, filepath.FromSlash(name))] = []byte(text)
}

// edit makes the three new texts.
func (d *draft) edit() error {
	name := "spec/" + d.file
	text, err := d.read(name)
	if err != nil {
		return err
	}
	if text, err = d.withSentence(text); err != nil {
		return err
	}
	if _, err := spec.Parse(d.file, []byte(text)); err != nil {
		return fmt.Errorf("with it the text would be malformed: %w", err)
	}
	d.keep(name, text)

	name = "features/" + d.section + ".feature"
	if text, err = d.read(name); err != nil {
		return err
	}
	text = strings.TrimRight(text, "\n") + "\n\n  @" + d.id
	for _, n := range d.needs {
		if n != "wire" {
			text += " @" + n
		}
	}
	text += "\n  Scenario: To be written: " + strings.TrimSuffix(d.sentence, ".") + "\n"
	d.scenario = name + ":" + strconv.Itoa(strings.Count(text, "\n"))
	d.keep(name, text)

	if text, err = d.read(draftsFile); err != nil {
		return err
	}
	before, after, found := strings.Cut(text, draftMarker)
	if !found {
		return fmt.Errorf("%s has no line %q; put it back", draftsFile, draftMarker)
	}
	short := strings.TrimPrefix(d.id, "AXON-")
	stub := fmt.Sprintf("{\n\t\t\tName: %q, Draft: true, For: ids(%q),\n\t\t\tFault: \"to be written: the smallest thing that the sentence forbids\", Reason: \"to be written: what the suite then sees\",\n\t\t\tchange: func(*manner) {},\n\t\t},\n\t\t",
		"draft-"+strings.ToLower(short), short)
	d.mutant = draftsFile + ":" + strconv.Itoa(strings.Count(before, "\n")+1)
	d.keep(draftsFile, before+stub+draftMarker+after)
	return nil
}

// withSentence puts the sentence at the end of its section.
func (d *draft) withSentence(text string) (string, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	begin := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "## ") && strings.HasSuffix(l, " · "+d.section)
	})
	if begin < 0 {
		return "", fmt.Errorf("spec/%s has no section %s; is it that of this program?", d.file, d.section)
	}
	end := begin + 1
	for end < len(lines) && !strings.HasPrefix(lines[end], "## ") {
		end++
	}
	for lines[end-1] == "" {
		end--
	}
	source := "- source: to be written: where it comes from"
	if len(d.lines) > 0 {
		var numbers []string
		slices.Sort(d.lines)
		for _, n := range slices.Compact(d.lines) {
			numbers = append(numbers, strconv.Itoa(n))
		}
		source = "- seed: " + strings.Join(numbers, ", ")
	}
	entry := []string{
		"", "### " + d.id + " · " + d.level, "", d.sentence, "", source,
		"- needs: " + strings.Join(d.needs, ", "),
		"- why: to be written: whom it harms when it does not hold.",
		"- fix: to be written: how it is usually got wrong, and the way out.",
	}
	return strings.Join(slices.Concat(lines[:end], entry, lines[end:]), "\n") + "\n", nil
}

// writeTogether writes all files or none: each to a new file beside it first.
func writeTogether(files map[string][]byte) (err error) {
	var made []string
	defer func() {
		for _, name := range made {
			_ = os.Remove(name)
		}
	}()
	old := map[string][]byte{}
	for name, text := range files {
		if old[name], err = os.ReadFile(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w; nothing was changed", err)
		}
		f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
		if err != nil {
			return fmt.Errorf("%w; nothing was changed", err)
		}
		made = append(made, f.Name())
		_, err = f.Write(text)
		if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
			return fmt.Errorf("%w; nothing was changed", err)
		}
		files[name] = []byte(f.Name())
	}
	for name, from := range files {
		if err := os.Rename(string(from), name); err != nil {
			for back, text := range old {
				if now, readErr := os.ReadFile(back); readErr == nil && !bytes.Equal(now, text) {
					_ = os.WriteFile(back, text, 0o644)
				}
			}
			return fmt.Errorf("%w; nothing was changed", err)
		}
	}
	return nil
}

func (d *draft) tell(p *program) error {
	fmt.Fprintf(p.out, "%s was begun. Still to be written:\n", d.id)
	fmt.Fprintf(p.out, "  spec/%s  why it matters, and how it is usually got wrong\n", d.file)
	fmt.Fprintf(p.out, "  %s  the scenario's name and steps\n", d.scenario)
	fmt.Fprintf(p.out, "  %s  the mutant's fault, in a table of its sort\n", d.mutant)
	if d.needsAnEdition {
		fmt.Fprintf(p.out, "  spec/editions/DATE.txt  an edition of the text that holds the sentence\n")
	}
	_, err := fmt.Fprintf(p.out, "'go run ./cmd/axon-conformance coverage' says what is missing.\n")
	return err
}
