package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestEachHelpTeaches holds the help texts to what a reader needs who has never
// met the program.
func TestEachHelpTeaches(t *testing.T) {
	_, overview, _ := run(t, "--help")
	root := newRoot(nil)
	for _, c := range root.Commands() {
		t.Run(c.Name(), func(t *testing.T) {
			code, out, errs := run(t, c.Name(), "--help")
			if code != ExitOK || errs != "" {
				t.Fatalf("exit %d, %s", code, errs)
			}
			if !strings.Contains(overview, c.Name()) || !strings.Contains(overview, c.Short) {
				t.Errorf("the overview does not tell of it: %q", c.Short)
			}
			if len(c.Short) < 15 || len(c.Long) < 60 && c.Name() != "version" || c.Long == c.Short {
				t.Errorf("too little is said: %q, %q", c.Short, c.Long)
			}
			if !strings.Contains(out, "Examples:\n  axon "+c.Name()) && !strings.Contains(out, "axon "+c.Name()) {
				t.Error("there is no example")
			}
			_, names, _ := strings.Cut(c.Use, " ")
			for _, name := range strings.FieldsFunc(names, func(r rune) bool { return strings.ContainsRune(" []|", r) }) {
				if !regexp.MustCompile(`(?m)^  ` + name + `  +\S`).MatchString(out) {
					t.Errorf("the argument %s is not explained:\n%s", name, out)
				}
			}
			for _, line := range strings.Split(c.Long, "\n") {
				if len(line) > 2*helpWidth {
					t.Errorf("a line of %d bytes: %s", len(line), line)
				}
			}
		})
	}
}

// words of flags and commands that are no plain English, with the reason.
var allowedWords = map[string]string{
	"axon": "the program", "whoami": "given by the protocol page", "mdns": "the name of a protocol", "json": "the name of a format",
	"config": "given by the protocol page", "addr": "given by the protocol page", "rekey": "given by the protocol page", "unset": "given by the protocol page",
}

func TestFlagsAreWords(t *testing.T) {
	root := newRoot(nil)
	word := regexp.MustCompile(`^[a-z]{3,}$`)
	check := func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Shorthand != "" && len(f.Name) < 2 {
				t.Errorf("%s: -%s has no long form", c.Name(), f.Shorthand)
			}
			for _, part := range strings.Split(f.Name, "-") {
				if allowedWords[part] == "" && !word.MatchString(part) {
					t.Errorf("%s: --%s is no word", c.Name(), f.Name)
				}
			}
			if len(f.Usage) < 10 {
				t.Errorf("%s: --%s says only %q", c.Name(), f.Name, f.Usage)
			}
		})
	}
	check(root)
	for _, c := range root.Commands() {
		check(c)
		if !word.MatchString(c.Name()) {
			t.Errorf("command %s", c.Name())
		}
	}
}

// TestEachPrintingCommandTakesJSON holds for all but those whose output is a
// script, a log or help.
func TestEachPrintingCommandTakesJSON(t *testing.T) {
	for _, c := range newRoot(nil).Commands() {
		switch c.Name() {
		case "daemon", "completion", "help":
		default:
			if c.Flags().Lookup("json") == nil {
				t.Errorf("%s has no --json", c.Name())
			}
		}
	}
}
