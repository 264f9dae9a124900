package steps

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/wire"
)

// nextStep are words by which a message leads on: a command, or what to do with one.
var nextStep = regexp.MustCompile(`(?i)\baxon [a-z]|--[a-z]|\b(give|write|see|use|start|try|run|choose|set|put|take|remove|stop|check|admit|ask|leave|correct|rename|did you mean|must|needs?)\b`)

// lastOutput of the latest command, once it has ended.
func (s *Scenario) lastOutput(ctx context.Context) (c *control.Command, out, err []byte, problem error) {
	if c, problem = s.commandOf("it"); problem != nil {
		return nil, nil, nil, problem
	}
	if problem = ended(ctx, s, c); problem != nil {
		return nil, nil, nil, problem
	}
	out, err = c.Output()
	return c, out, err, nil
}

func init() {
	define(`standard output is empty`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, out, _, err := s.lastOutput(ctx)
		if err == nil && len(out) > 0 {
			err = fail(nil, "nothing on standard output", "%s", spoken(c))
		}
		return err
	})
	define(`standard output is the JSON (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		want, err := s.expand(a[0], "")
		if err != nil {
			return err
		}
		c, out, _, err := s.lastOutput(ctx)
		if err != nil {
			return err
		}
		expected, err := wire.Parse(want)
		if err != nil {
			return fmt.Errorf("the JSON of this check: %w", err)
		}
		if got, err := wire.Parse(bytes.TrimSpace(out)); err != nil || !wire.Equal(got, expected) {
			return fail(nil, "standard output is "+shorten(string(want)), "%s", spoken(c))
		}
		return nil
	})
	define(`standard output is one JSON object(?: on one line)? with ("[^"]+"(?:, "[^"]+")*)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.printedMembers(ctx, strings.Split(strings.ReplaceAll(a[0], `"`, ""), ", "))
	})
	define(`standard output is JSON, one document on a line`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, out, _, err := s.lastOutput(ctx)
		if err != nil {
			return err
		}
		if len(out) == 0 {
			return fail(nil, "JSON on standard output", "%s", spoken(c))
		}
		for line := range bytes.Lines(out) {
			if _, err := wire.Parse(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
				return fail(nil, "each line of standard output is one JSON document", "%q is none (%v); %s", shorten(string(line)), err, spoken(c))
			}
		}
		return nil
	})
	define(`standard output's "([^"]+)" is (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		want, err := s.expand(a[1], "")
		if err != nil {
			return err
		}
		if err := s.printed(ctx); err != nil {
			return err
		}
		return s.lineHas(a[0], want)
	})
	define(`standard output (names|does not name) "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.contains(ctx, "standard output", a[0] == "names", a[1])
	})
	define(`standard error (says|does not say) "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.contains(ctx, "standard error", a[0] == "says", a[1])
	})
	define(`standard error says what is wrong and what to do next`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, _, text, err := s.lastOutput(ctx)
		if err == nil && (!explains(string(text), "") || !nextStep.Match(text)) {
			err = fail(nil, "standard error says what is wrong and what to do next", "%s", spoken(c))
		}
		return err
	})
	define(`standard error says how to start a daemon`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, _, text, err := s.lastOutput(ctx)
		if err == nil && !bytes.Contains(text, []byte("axon daemon")) {
			err = fail(nil, "standard error says that `axon daemon` starts one", "%s", spoken(c))
		}
		return err
	})
	define(`standard error tells the daemon's reason`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, _, text, err := s.lastOutput(ctx)
		if reason := s.line.Member("message"); err == nil && !strings.Contains(string(text), reason) {
			err = fail(nil, "standard error tells what the daemon said: "+strQuote(reason), "%s", spoken(c))
		}
		return err
	})
	define(`nothing that it printed acts on a terminal`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, out, text, err := s.lastOutput(ctx)
		if err != nil {
			return err
		}
		if found := actsOnTerminal.Find(append(out, text...)); found != nil {
			return fail(nil, "no character that a terminal could act on", "there is %q; %s", found, spoken(c))
		}
		return nil
	}).bars()
	define(subject+` has printed (\d+) lines?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.hasPrinted(ctx, a[0], a[1])
	})
	define(`its (\d+)(?:st|nd|rd|th) line names "([^"]+)"`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.printedLine(a[0], a[1])
	})
	define(`its lines are the events that client ([A-Z]) was shown`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.sameEvents(ctx, a[0])
	})
	define(`its agent_id derives from its public_key, and its token holds that key and "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.ownIdentity(ctx, a[0])
	})
}

// printed has the JSON that the latest command printed be the line of which other
// steps speak.
func (s *Scenario) printed(ctx context.Context) error {
	c, out, _, err := s.lastOutput(ctx)
	if err != nil {
		return err
	}
	line := bytes.TrimSpace(out)
	v, err := wire.Parse(line)
	if err != nil || v.Kind != wire.Object || bytes.ContainsRune(line, '\n') {
		return fail(nil, "standard output is one JSON object on one line", "%s", spoken(c))
	}
	s.line = control.Line{Raw: line, Value: v}
	return nil
}

func (s *Scenario) printedMembers(ctx context.Context, names []string) error {
	if err := s.printed(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if _, n := s.line.Value.Get(name); n != 1 {
			return fail(nil, "an object with "+strings.Join(names, ", "), "%s stands there %d times: %s", name, n, shorten(string(s.line.Raw)))
		}
	}
	return nil
}

func (s *Scenario) contains(ctx context.Context, which string, should bool, text string) error {
	want, err := s.expand(text, "")
	if err != nil {
		return err
	}
	c, out, text2, err := s.lastOutput(ctx)
	if err != nil {
		return err
	}
	if which == "standard error" {
		out = text2
	}
	if bytes.Contains(out, want) != should {
		return fail(nil, which+map[bool]string{true: " with ", false: " without "}[should]+strQuote(string(want)), "%s", spoken(c))
	}
	return nil
}

// hasPrinted waits for so many whole lines; more are wrong.
func (s *Scenario) hasPrinted(ctx context.Context, word, count string) error {
	want, err := number(count)
	if err != nil {
		return err
	}
	c, err := s.commandOf(word)
	if err != nil {
		return err
	}
	lines := func(out []byte) int { return bytes.Count(out, []byte("\n")) }
	c.Await(ctx, func(out, _ []byte) bool { return lines(out) >= want })
	if out, _ := c.Output(); lines(out) != want {
		return fail(nil, count+" lines on standard output", "%s", spoken(c))
	}
	return nil
}

func (s *Scenario) printedLine(which, text string) error {
	n, err := number(which)
	if err != nil {
		return err
	}
	want, err := s.expand(text, "")
	if err != nil {
		return err
	}
	c, err := s.commandOf("it")
	if err != nil {
		return err
	}
	out, _ := c.Output()
	lines := bytes.Split(out, []byte("\n"))
	if n > len(lines) || !bytes.Contains(lines[n-1], want) {
		return fail(nil, fmt.Sprintf("line %d names %s", n, strQuote(string(want))), "%s", spoken(c))
	}
	return nil
}

// sameEvents holds what was printed against what a client of the local API was shown.
func (s *Scenario) sameEvents(ctx context.Context, name string) error {
	l, err := s.barrier(ctx, name)
	if err != nil {
		return err
	}
	c, err := s.commandOf("it")
	if err != nil {
		return err
	}
	var events []control.Line
	for _, line := range l.session.Lines() {
		if line.Member("event") == "inbound" {
			events = append(events, line)
		}
	}
	out, _ := c.Output()
	lines := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	for i, e := range events {
		if i < len(lines) {
			if v, err := wire.Parse(lines[i]); err == nil && wire.Equal(v, e.Value) {
				continue
			}
		}
		return fail(nil, fmt.Sprintf("line %d is the event %s", i+1, shorten(string(e.Raw))), "%s", spoken(c))
	}
	if len(lines) != len(events) {
		return fail(nil, fmt.Sprintf("%d lines, one for each event", len(events)), "%s", spoken(c))
	}
	return nil
}

// ownIdentity holds what `axon identity` prints together.
func (s *Scenario) ownIdentity(ctx context.Context, address string) error {
	if err := s.printed(ctx); err != nil {
		return err
	}
	key, err := credential.ParsePublicKey(s.line.Member("public_key"))
	if err != nil {
		return fail(nil, "public_key is an Ed25519 key in base64", "%v: %s", err, s.line.Raw)
	}
	if id := credential.AgentID(key); s.line.Member("agent_id") != id {
		return fail(nil, "the Agent ID "+id+", which derives from public_key", "%s", s.line.Raw)
	}
	token := "axon://" + base64.RawURLEncoding.EncodeToString(key) + "@" + address
	if s.line.Member("token") != token {
		return fail(nil, "the token "+token, "%s", s.line.Raw)
	}
	return nil
}
