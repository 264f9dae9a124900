package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// action is what these tests read of action.yml.
type action struct {
	Inputs map[string]struct {
		Default     string `yaml:"default"`
		Description string `yaml:"description"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Value string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Steps []struct {
			ID  string            `yaml:"id"`
			Run string            `yaml:"run"`
			Env map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

// TestAction plays the step of action.yml that runs the suite, as the runner would.
func TestAction(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no bash to play the action with")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	script, env := "", map[string]string{}
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("the step %s has an expression in its script, so that an input could become part of it", s.ID)
		}
		if s.ID == "run" {
			script, env = s.Run, s.Env
		}
	}
	for name, in := range a.Inputs {
		if in.Description == "" {
			t.Errorf("the input %s is not described", name)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, programName)); err != nil {
		t.Skip(err)
	}
	// play runs the step with the inputs given, and gives its exit code.
	play := func(t *testing.T, outcome string, inputs map[string]string) (code int, output, summary, said string) {
		t.Helper()
		dir := t.TempDir()
		command := exec.CommandContext(t.Context(), bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
		command.Dir = dir
		command.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "OUTCOME="+outcome, "SHOW_OPTIONS=1", "HOME="+dir,
			"XDG_CONFIG_HOME="+dir, "COLUMNS=500", "GORACE=atexit_sleep_ms=0",
			"GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"))
		for name, expression := range env {
			input := strings.TrimSuffix(strings.TrimPrefix(expression, "${{ inputs."), " }}")
			declared, known := a.Inputs[input]
			if !known {
				t.Fatalf("%s is taken from %s, which is no input", name, expression)
			}
			value, given := inputs[input]
			if !given {
				value = declared.Default
			}
			command.Env = append(command.Env, name+"="+value)
		}
		var out bytes.Buffer
		command.Stdout, command.Stderr = &out, &out
		err := command.Run()
		if left, ok := errors.AsType[*exec.ExitError](err); ok {
			code = left.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		read := func(name string) string {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			return string(text)
		}
		for _, name := range []string{"report.json", "report.html", "report.xml", "report.md"} {
			if read(filepath.Join("axon-conformance-report", name)) == "" && code != 2 {
				t.Errorf("no %s: %s", name, out.String())
			}
		}
		return code, read("output"), read("summary"), out.String()
	}

	code, output, summary, said := play(t, "", nil)
	if code != 0 || !strings.Contains(output, "exit-code=0\nconformant=true\njson=axon-conformance-report/report.json\n") || !strings.HasPrefix(summary, "## AXON conformance: conformant") {
		t.Errorf("exit %d, output %q, summary %q: %s", code, output, summary, said)
	}
	for name := range a.Outputs {
		if !strings.Contains(output, name+"=") {
			t.Errorf("the output %s is never set", name)
		}
	}
	code, output, summary, _ = play(t, "fail", map[string]string{"summary": "false"})
	if code != 1 || !strings.Contains(output, "exit-code=1\nconformant=false\n") || summary != "" {
		t.Errorf("exit %d, output %q, summary %q", code, output, summary)
	}
	// Inputs reach the suite as they are, whatever a shell would make of them.
	code, _, _, said = play(t, "", map[string]string{
		"target": "localhost:7100", "identity": "a b.key", "shard": "1/2", "edition": "2026-02-16", "arguments": "--strict\n\n--tags=@a or $(touch oops)\n",
	})
	for _, want := range []string{"target  localhost:7100", "Tags:@a or $(touch oops)", "Shard:1 Shards:2", "--identity 'a b.key'"} {
		if code != 0 || !strings.Contains(said, want) {
			t.Errorf("exit %d, no %q in %s", code, want, said)
		}
	}
	if code, output, _, _ := play(t, "", map[string]string{"edition": "soon"}); code != 2 || !strings.Contains(output, "exit-code=2\nconformant=false\n") {
		t.Errorf("exit %d, output %q", code, output)
	}
}
