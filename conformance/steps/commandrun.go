package steps

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/control/driver"
)

// subject is the pattern of a command that was started.
const subject = `(it|the first command|the second command|the third command)`

// settling is how long a command that goes on may take to say that it is ready; one
// that says nothing is taken to be ready then.
const settling = 2 * time.Second

func init() {
	define("`axon(?: ([^`]*))?` is run", func(_ context.Context, s *Scenario, a []string, _ string) error {
		_, err := s.runCommand(a[0], nil)
		return err
	})
	define("`axon ([^`]*)` is run with the input \"([^\"]*)\"", func(_ context.Context, s *Scenario, a []string, _ string) error {
		input, err := s.expand(strings.ReplaceAll(a[1], `\n`, "\n"), "")
		if err != nil {
			return err
		}
		_, err = s.runCommand(a[0], input)
		return err
	})
	define("`axon ([^`]*)` is run with the input:", func(_ context.Context, s *Scenario, a []string, doc string) error {
		input, err := s.expand(doc, "")
		if err != nil {
			return err
		}
		_, err = s.runCommand(a[0], input)
		return err
	})
	define("`axon ([^`]*)` is running", func(ctx context.Context, s *Scenario, a []string, _ string) error {
		c, err := s.runCommand(a[0], nil)
		if err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(ctx, settling)
		defer cancel()
		c.Await(waiting, func(out, err []byte) bool { return len(out)+len(err) > 0 })
		select {
		case <-c.Ended():
			return fail(nil, "a command that goes on until it is interrupted", "%s", spoken(c))
		default:
			return nil
		}
	})
	define(`the variable (\w+) is "([^"]*)"`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		t, err := s.console()
		if err != nil {
			return err
		}
		value, err := s.expand(a[1], "")
		t.variables[a[0]] = string(value)
		return err
	})
	define(`the variable (\w+) is not set`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		t, err := s.console()
		if err != nil {
			return err
		}
		t.variables[a[0]] = ""
		return nil
	})
	define(subject+` exits with code (\d+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		want, err := number(a[1])
		if err != nil {
			return err
		}
		return s.exits(ctx, a[0], "exit code "+a[1], func(code int) bool { return code == want })
	})
	define(subject+` exits with a code other than (\d+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		not, err := number(a[1])
		if err != nil {
			return err
		}
		return s.exits(ctx, a[0], "an exit code other than "+a[1], func(code int) bool { return code != not && code >= 0 })
	})
	define(subject+` took between ([\d.]+) and ([\d.]+) seconds`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		c, err := s.commandOf(a[0])
		if err != nil {
			return err
		}
		least, err1 := time.ParseDuration(a[1] + "s")
		most, err2 := time.ParseDuration(a[2] + "s")
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%s to %s: no durations", a[1], a[2])
		}
		if took := c.Finished().Sub(c.Started); took < least-clockSlack || took > most {
			return fail(nil, fmt.Sprintf("an end after %s to %s s", a[1], a[2]), "it came after %s; %s", took.Round(time.Millisecond), spoken(c))
		}
		return nil
	})
	define(`the time is noted`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		t, err := s.console()
		if err == nil {
			t.since = time.Now()
		}
		return err
	})
	define(`(\d+) to (\d+) seconds have passed`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		least, err1 := number(a[0])
		most, err2 := number(a[1])
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%s to %s: no seconds", a[0], a[1])
		}
		if took := time.Since(s.terminal.since); took < time.Duration(least)*time.Second-clockSlack || took > time.Duration(most)*time.Second {
			return fail(s.last, fmt.Sprintf("this within %d to %d s", least, most), "it took %s", took.Round(time.Millisecond))
		}
		return nil
	})
	define(`the program "([\w-]+)":`, func(_ context.Context, s *Scenario, a []string, doc string) error {
		t, err := s.console()
		if err != nil {
			return err
		}
		text, err := s.expand(doc, "")
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(t.folder, a[0]), append(text, '\n'), 0o600)
	})
	define(`all that was started ends`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for _, c := range s.terminal.started {
			if err := ended(ctx, s, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// runCommand starts the target's program with a command line as a shell would read it.
func (s *Scenario) runCommand(text string, input []byte) (*control.Command, error) {
	t, err := s.console()
	if err != nil {
		return nil, err
	}
	args, err := s.words(text)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 && args[0] == "daemon" && !slices.Contains(args, "--help") {
		args = append(args, t.commands.line.Loopback...)
	}
	if slices.Contains(args, "serve") {
		s.handled = true
	}
	c, err := t.commands.line.Start(control.Invocation{Args: args, Input: input, Environment: t.environment(), Dir: t.folder})
	if err != nil {
		return nil, err
	}
	t.started = append(t.started, c)
	return c, nil
}

// words parts a command line and then fills in the placeholders, so that what stands
// for one needs no quotes.
func (s *Scenario) words(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	// Placeholders of several words stay together.
	glued := placeholder.ReplaceAllStringFunc(text, func(m string) string { return strings.ReplaceAll(m, " ", "\x01") })
	args, err := driver.Split(glued)
	if err != nil {
		return nil, err
	}
	for i, a := range args {
		full, err := s.expand(strings.ReplaceAll(a, "\x01", " "), "")
		if err != nil {
			return nil, err
		}
		args[i] = string(full)
	}
	return args, nil
}

func (s *Scenario) commandOf(word string) (*control.Command, error) {
	if s.terminal == nil {
		return nil, fmt.Errorf("%s: no command was started", word)
	}
	i, err := s.terminal.index(word)
	if err != nil {
		return nil, err
	}
	return s.terminal.started[i], nil
}

// ended waits for the end of a command.
func ended(ctx context.Context, s *Scenario, c *control.Command) error {
	select {
	case <-c.Ended():
		return nil
	case <-ctx.Done():
		return fail(nil, "the command ends", "it still runs after %s; %s", s.Target.Ceiling, spoken(c))
	}
}

func (s *Scenario) exits(ctx context.Context, word, expected string, right func(code int) bool) error {
	c, err := s.commandOf(word)
	if err != nil {
		return err
	}
	if err := ended(ctx, s, c); err != nil {
		return err
	}
	if !right(c.Code()) {
		return fail(nil, expected, "%s", spoken(c))
	}
	return nil
}

// actsOnTerminal are characters that a terminal may act on: control characters but for
// line feed and tab, and those that change the direction of text.
var actsOnTerminal = regexp.MustCompile(`[\x{00}-\x{08}\x{0b}-\x{1f}\x{7f}-\x{9f}\x{061c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)
