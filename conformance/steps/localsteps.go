package steps

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

// clockSlack is by how much an answer may be early: clocks differ in how finely
// they count.
const clockSlack = 20 * time.Millisecond

func init() {
	define(`client ([A-Z]) sends (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		line, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		return s.say(ctx, a[0], line)
	})
	define(`client ([A-Z]) adds (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		line, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		return s.write(ctx, a[0], append(line, '\n'))
	})
	define(`client ([A-Z]) writes an empty line`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.say(ctx, a[0], nil)
	})
	define(`client ([A-Z]) writes (.+) without a newline`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		b, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		return s.write(ctx, a[0], b)
	})
	define(`client ([A-Z]) ends its line`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.write(ctx, a[0], []byte("\n"))
	})
	define(`client ([A-Z]) is connected`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		if err := s.say(ctx, a[0], []byte(`{"cmd":"whoami"}`)); err != nil {
			return err
		}
		_, err := s.heardAnswer(ctx, a[0], "")
		return err
	})
	define(`client ([A-Z]) leaves`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		if c := s.locals[a[0]]; c != nil {
			delete(s.locals, a[0])
			return c.session.Close()
		}
		return nil
	})
	define(`client ([A-Z]) gets a positive answer(?: to "([^"]*)")?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		reqID, err := s.expand(a[1], "")
		if err != nil {
			return err
		}
		return s.positive(ctx, a[0], string(reqID))
	})
	define(`client ([A-Z]) gets the error "([^"]*)"(?: to "([^"]*)")?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.notConcerning(s.refusal(ctx, a[0], a[1], a[2]), "IPC-013")
	})
	define(`client ([A-Z]) gets the error "([^"]*)" no sooner than after (\d+) seconds?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[2])
		if err != nil {
			return err
		}
		c, err := s.client(ctx, a[0])
		if err != nil {
			return err
		}
		if err := s.refusal(ctx, a[0], a[1], ""); err != nil {
			return s.concerning(err, "IPC-031")
		}
		if took := time.Since(c.said); took < time.Duration(n)*time.Second-clockSlack {
			return s.concerning(fail(nil, fmt.Sprintf("the error %q once %d s have passed", a[1], n), "it came after %s", took.Round(time.Millisecond)), "IPC-031")
		}
		return nil
	})
	define(`it came to client ([A-Z]) before (\d+) seconds had passed`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[1])
		if err != nil {
			return err
		}
		c, err := s.client(ctx, a[0])
		if err != nil {
			return err
		}
		if took := time.Since(c.said); took > time.Duration(n)*time.Second {
			return s.concerning(fail(nil, fmt.Sprintf("an answer within %d s", n), "it came after %s", took.Round(time.Millisecond)), "IPC-031")
		}
		return nil
	})
	define(`client ([A-Z]) gets an error and no response`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		l, err := s.heardAnswer(ctx, a[0], "")
		if err != nil {
			return err
		}
		_, n := l.Value.Get("response")
		if ok, _ := l.Value.Get("ok"); ok.Kind != wire.Bool || ok.Bool || n > 0 {
			return fail(nil, "an error and no response", "client %s got %s", a[0], shorten(string(l.Raw)))
		}
		return errorAnswerProblem(l)
	})
	define(`client ([A-Z])'s connection is closed by the target`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		c, err := s.client(ctx, a[0])
		if err != nil {
			return err
		}
		if err := c.session.AwaitEnd(ctx); err != nil {
			return s.lose(nil, "the target closes the connection of client "+a[0], "it is open after %s", s.Target.Ceiling)
		}
		return nil
	})
	define(`client ([A-Z]) is still served`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		_, err := s.barrier(ctx, a[0])
		return err
	})
	define(`client ([A-Z]) was answered (?:(once)|(\d+) times)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		want := 1
		if a[1] == "" {
			n, err := number(a[2])
			if err != nil {
				return err
			}
			want = n
		}
		return s.answeredTimes(ctx, a[0], want)
	})
	define(`every line that client ([A-Z]) got is one JSON object of at most ([\d,]+) bytes`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		most, err := number(a[1])
		if err != nil {
			return err
		}
		for _, l := range s.locals[a[0]].session.Lines() {
			if l.Err != nil || l.Value.Kind != wire.Object || len(l.Raw) > most {
				return fail(nil, fmt.Sprintf("each line is one JSON object in UTF-8, of at most %d bytes", most), "a line of %d bytes is %s (%v)", len(l.Raw), shorten(string(l.Raw)), l.Err)
			}
		}
		return nil
	})

	// The line that a client got last.

	define(`the line's "([^"]+)" is (.+)`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		want, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		return s.aboutLine(a[0], s.lineHas(a[0], want))
	})
	define(`the line has (a|an|a non-empty|no) "([^"]+)"(?:, (string|number|object|array|boolean|whole number))?`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.aboutLine(a[1], s.lineShape(a[0], a[1], a[2]))
	})
	define(`the message says what to do`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		if m := s.line.Member("message"); !explains(m, s.line.Member("error")) {
			return s.concerning(fail(nil, "a message that says what is wrong and what to do next", "it is %q", m), "IPC-013")
		}
		return nil
	})
	define(`the message names "([^"]+)"`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		if m := s.line.Member("message"); !strings.Contains(m, a[0]) {
			return fail(nil, "a message that names "+strQuote(a[0]), "it is %q", m)
		}
		return nil
	})
	define(`the socket is named "([^"]+)" and has the mode (\d+)`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		api, err := s.localAPI()
		if err != nil {
			return err
		}
		info, err := os.Stat(api.Socket())
		if err != nil {
			return err
		}
		if got := fmt.Sprintf("%04o", info.Mode().Perm()); info.Name() != a[0] || info.Mode()&os.ModeSocket == 0 {
			return about(fail(nil, "a socket named "+a[0], "there is %s, %s", info.Name(), info.Mode()), "AXON-IPC-001")
		} else if got != a[1] {
			return about(fail(nil, "a socket of mode "+a[1], "its mode is %s", got), "AXON-IPC-002")
		}
		return nil
	})
}

// aboutLine narrows a failure at a member of a line: what events hold has sentences
// of its own, and so has the lease.
func (s *Scenario) aboutLine(path string, err error) error {
	if _, n := s.line.Value.Get("event"); n > 0 {
		return s.concerning(err, "IPC-040", "IPC-053", "IPC-070", "IPC-071")
	}
	if path == "serving" {
		return s.notConcerning(err, "IPC-040", "IPC-041")
	}
	return err
}

// memberOf follows a path such as envelope.kind into a line; n is 0 where it leads
// nowhere.
func memberOf(l control.Line, path string) (v wire.Value, n int) {
	v, n = l.Value, 1
	for name := range strings.SplitSeq(path, ".") {
		if v, n = v.Get(name); n == 0 {
			return wire.Value{}, 0
		}
	}
	return v, n
}

// lineHas compares a member, named by a path, with a JSON value. Two UUIDs are the
// same in any case of their letters.
func (s *Scenario) lineHas(path string, want []byte) error {
	got, n := memberOf(s.line, path)
	expected, err := wire.Parse(want)
	if err != nil {
		return fmt.Errorf("the value %s of this check is no JSON: %w", want, err)
	}
	same := wire.Equal(got, expected) || got.Kind == wire.String && expected.Kind == wire.String && wire.SameUUID(got.String, expected.String)
	if n != 1 || !same {
		return fail(nil, fmt.Sprintf("a line whose %s is %s", path, shorten(string(want))), "the line is %s", shorten(string(s.line.Raw)))
	}
	return nil
}

var jsonKinds = map[string]wire.Kind{
	"string": wire.String, "number": wire.Number, "whole number": wire.Number,
	"object": wire.Object, "array": wire.Array, "boolean": wire.Bool,
}

// lineShape: a member is there, or not, and of a kind.
func (s *Scenario) lineShape(how, path, kind string) error {
	got, n := memberOf(s.line, path)
	if how == "no" {
		if n > 0 {
			return fail(nil, "a line without "+path, "the line is %s", shorten(string(s.line.Raw)))
		}
		return nil
	}
	wrong := n != 1 || kind != "" && got.Kind != jsonKinds[kind] || how == "a non-empty" && got.String == "" ||
		kind == "whole number" && strings.ContainsAny(got.Number, "-.eE")
	if wrong {
		return fail(nil, strings.TrimSpace("a line with "+how+" "+path+" "+kind), "the line is %s", shorten(string(s.line.Raw)))
	}
	return nil
}
