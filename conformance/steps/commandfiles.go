package steps

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`(\d+) lines of the file "([\w-]+)" are "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		want, err := number(a[0])
		if err != nil {
			return err
		}
		count := func(lines []string) int {
			n := 0
			for _, l := range lines {
				if l == a[2] {
					n++
				}
			}
			return n
		}
		lines := s.awaitLines(ctx, a[1], func(lines []string) bool { return count(lines) >= want })
		if count(lines) != want {
			return fail(s.last, fmt.Sprintf("%d times %s in what the programs note", want, a[2]), "they noted %q", lines)
		}
		return nil
	})
	define(`the file "([\w-]+)" has (\d+) lines`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		want, err := number(a[1])
		if err != nil {
			return err
		}
		if lines := s.awaitLines(ctx, a[0], func(lines []string) bool { return len(lines) >= want }); len(lines) != want {
			return fail(s.last, fmt.Sprintf("the program is run and notes %d lines", want), "it noted %q", lines)
		}
		return nil
	})
	define(`the file "([\w-]+)" is made`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return os.WriteFile(filepath.Join(s.terminal.folder, a[0]), nil, 0o600)
	})
	define(`no more than (\d+) programs ran at once, as the file "([\w-]+)" tells`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		most, err := number(a[0])
		if err != nil {
			return err
		}
		running := 0
		for i, l := range s.fileLines(a[1]) {
			if l == "start" {
				running++
			} else {
				running--
			}
			if running > most {
				return fail(s.last, "no more than "+a[0]+" programs at once", "%d ran at line %d of %q", running, i+1, s.fileLines(a[1]))
			}
		}
		return nil
	})
	define(`the processes that the file "([\w-]+)" names end`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		for {
			var living []string
			for _, l := range s.fileLines(a[0]) {
				pid, err := strconv.Atoi(l)
				if err != nil {
					return err
				}
				if control.Lives(pid) {
					living = append(living, l)
				}
			}
			if len(living) == 0 {
				return nil
			}
			if !pause(ctx) {
				return fail(s.last, "the program and its children are ended", "after %s there still is %s", s.Target.Ceiling, strings.Join(living, " and "))
			}
		}
	})
	define("bash completes `([^`]*)`", func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.complete(a[0])
	})
	define(`it (offers|does not offer) "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		want, err := s.expand(a[1], "")
		if err != nil {
			return err
		}
		c, out, _, err := s.lastOutput(ctx)
		if err != nil {
			return err
		}
		found := false
		for line := range strings.Lines(string(out)) {
			// Some scripts offer a description behind the word.
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			found = found || word == string(want)
		}
		if found != (a[0] == "offers") {
			return fail(nil, "a shell that "+a[0]+" "+string(want), "%s", spoken(c))
		}
		return nil
	}).bars()
	define(`standard output tells the version that the daemon told`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		told := s.line.Member("version")
		if told == "" {
			return fail(nil, "whoami tells a version", "it is %s", s.line.Raw)
		}
		return s.contains(ctx, "standard output", true, told)
	})
	define("`axon ([^`]*)` is run there", func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.runThere(a[0])
	})
}

// fileLines are the lines of a file in the scenario's folder.
func (s *Scenario) fileLines(name string) []string {
	b, err := os.ReadFile(filepath.Join(s.terminal.folder, name))
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// awaitLines waits for what programs note in a file.
func (s *Scenario) awaitLines(ctx context.Context, name string, enough func([]string) bool) []string {
	for {
		lines := s.fileLines(name)
		if enough(lines) || !pause(ctx) {
			return lines
		}
	}
}

// bashScript asks the completion of a command line as bash does. What the package
// bash-completion adds to bash is not needed.
const bashScript = `
_init_completion() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}; }
_get_comp_words_by_ref() { _init_completion; }
eval "$(axon completion bash)"
read -ra COMP_WORDS <<< "$COMP_LINE"
case $COMP_LINE in *' ') COMP_WORDS+=('');; esac
COMP_CWORD=$((${#COMP_WORDS[@]}-1)); COMP_POINT=${#COMP_LINE}; COMP_TYPE=63
set -- $(complete -p axon)
while [ "$1" != -F ]; do [ $# -gt 0 ] || exit 1; shift; done
"$2" axon "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
`

// complete has bash complete a command line by the target's own script, in the folder
// of the scenario.
func (s *Scenario) complete(line string) error {
	t, err := s.console()
	if err != nil {
		return err
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		return &verdict.Inapplicable{Reason: "there is no bash on this machine in which to try its completion"}
	}
	full, err := s.expand(line, "")
	if err != nil {
		return err
	}
	// The script calls the program by its name.
	bin := filepath.Join(t.folder, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	var words []string
	for _, w := range t.commands.line.Program {
		words = append(words, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	wrapper := filepath.Join(bin, "axon")
	if _, err := os.Stat(wrapper); err != nil {
		if err := os.WriteFile(wrapper, []byte("#!/bin/sh\nexec "+strings.Join(words, " ")+" \"$@\"\n"), 0o700); err != nil {
			return err
		}
	}
	environment := append(environmentOf(t.folder, t.root, map[string]string{"PATH": bin + string(os.PathListSeparator) + os.Getenv("PATH")}), "COMP_LINE="+string(full))
	shell := &control.CommandLine{Program: []string{bash, "--norc", "--noprofile", "-c", bashScript}}
	c, err := shell.Start(control.Invocation{Environment: environment, Dir: t.folder})
	if err != nil {
		return err
	}
	t.started = append(t.started, c)
	return nil
}

// runThere runs a command for the daemon that was started on a machine of its own: its
// socket can be reached from here.
func (s *Scenario) runThere(text string) error {
	api, err := s.localAPI()
	if err != nil {
		return err
	}
	served := *s.Target
	t, err := s.console()
	if err != nil {
		return err
	}
	// The scenario speaks of that daemon on.
	s.Target = &served
	t.root = filepath.Dir(api.Socket())
	line, err := s.expand(strings.ReplaceAll(text, "«newcomer»", s.newcomer().identity.AgentID()), wire.NewID())
	if err != nil {
		return err
	}
	_, err = s.runCommand(string(line), nil)
	return err
}
