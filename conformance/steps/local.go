package steps

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

// local is a program on the target's own machine that talks to its local API.
type local struct {
	session *control.Session
	// from is the index of the first line that belongs to what was done last.
	from int
}

// localTarget is the target's local API, where it has one.
func (s *Scenario) localAPI() (*control.IPC, error) {
	if api, ok := s.Target.Control.(*control.IPC); ok {
		return api, nil
	}
	return nil, &verdict.Inapplicable{Reason: "the suite was not given a local API of AXON's kind (--ipc)"}
}

// client opens the local client of a name at its first use.
func (s *Scenario) client(ctx context.Context, name string) (*local, error) {
	if l := s.locals[name]; l != nil {
		return l, nil
	}
	api, err := s.localAPI()
	if err != nil {
		return nil, err
	}
	session, err := api.Session(ctx)
	if err != nil {
		return nil, s.lose(nil, "the local API takes another client", "%v", err)
	}
	return s.keepClient(name, session), nil
}

func (s *Scenario) keepClient(name string, session *control.Session) *local {
	if s.locals == nil {
		s.locals = map[string]*local{}
	}
	l := &local{session: session}
	s.locals[name] = l
	return l
}

// isAnswer: every line with ok is one, whatever else is wrong with it.
func isAnswer(l control.Line) bool {
	_, n := l.Value.Get("ok")
	return n > 0 || l.Value.Kind != wire.Object
}

func isEvent(name string) func(control.Line) bool {
	return func(l control.Line) bool { return l.Member("event") == name }
}

// say writes a line and marks where its answer will stand.
func (s *Scenario) say(ctx context.Context, name string, line []byte) error {
	c, err := s.client(ctx, name)
	if err != nil {
		return err
	}
	c.from = len(c.session.Lines())
	return s.write(ctx, name, append(line, '\n'))
}

func (s *Scenario) write(ctx context.Context, name string, b []byte) error {
	c, err := s.client(ctx, name)
	if err != nil {
		return err
	}
	if err := c.session.Write(ctx, b); err != nil {
		if timedOut(err) {
			return s.lose(nil, "the target reads what client "+name+" writes", "it took no more within %s", s.Target.Ceiling)
		}
		// The target may close the connection while it is written to; what it said
		// before that is what counts.
		return nil
	}
	return nil
}

// hear waits for the next line that a client is after.
func (s *Scenario) hear(ctx context.Context, name, what string, match func(control.Line) bool) (control.Line, error) {
	c, err := s.client(ctx, name)
	if err != nil {
		return control.Line{}, err
	}
	l, i, err := c.session.Find(ctx, c.from, match)
	switch {
	case errors.Is(err, control.ErrEnded):
		return l, s.lose(nil, what, "the target closed the connection of client %s; its last lines were %s", name, lastLines(c.session))
	case err != nil:
		return l, s.lose(nil, what, "it did not come within %s; the last lines were %s", s.Target.Ceiling, lastLines(c.session))
	}
	c.from = i + 1
	s.line = l
	return l, nil
}

// lastLines are the last few lines that a client got, for a report.
func lastLines(session *control.Session) string {
	lines := session.Lines()
	var shown []string
	for _, l := range lines[max(0, len(lines)-3):] {
		shown = append(shown, shorten(string(l.Raw)))
	}
	if len(shown) == 0 {
		return "none"
	}
	return strings.Join(shown, " and ")
}

// answer waits for a client's answer; with a req_id it is the one that repeats it.
func (s *Scenario) heardAnswer(ctx context.Context, name, reqID string) (control.Line, error) {
	what := "an answer to client " + name
	match := isAnswer
	if reqID != "" {
		what += " that repeats req_id " + strQuote(reqID)
		match = func(l control.Line) bool { return isAnswer(l) && l.Member("req_id") == reqID }
	}
	return s.hear(ctx, name, what, match)
}

// localPlaceholder knows the names that only make sense with a local API.
func (s *Scenario) localPlaceholder(name string) (string, bool) {
	if name == "target" {
		return s.Target.AgentID, true
	}
	if name == "request id" {
		if s.last == nil {
			return "", false
		}
		return s.last.id, true
	}
	if !strings.HasPrefix(name, "peer") || len(s.peers) == 0 {
		return "", false
	}
	p := s.peer()
	switch name {
	case "peer":
		return p.identity.AgentID(), true
	case "peer in upper case":
		return strings.ToUpper(p.identity.AgentID()), true
	case "peer key":
		return p.identity.PublicBase64(), true
	case "peer address":
		return p.endpoint.Addr().String(), true
	case "peer token":
		return "axon://" + base64.RawURLEncoding.EncodeToString(p.identity.Public()) + "@" + p.endpoint.Addr().String(), true
	}
	return "", false
}

func init() {
	define(`client ([A-Z]) sends (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		line, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		return s.say(ctx, a[0], line)
	})
	define(`client ([A-Z]) writes (.+) without a newline`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		b, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		return s.write(ctx, a[0], b)
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
		l, err := s.heardAnswer(ctx, a[0], a[1])
		if err != nil {
			return err
		}
		if ok, _ := l.Value.Get("ok"); ok.Kind != wire.Bool || !ok.Bool {
			return fail(nil, "a positive answer", "client %s got %s", a[0], shorten(string(l.Raw)))
		}
		return nil
	})
	define(`client ([A-Z]) gets the error "([^"]*)"(?: to "([^"]*)")?`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		l, err := s.heardAnswer(ctx, a[0], a[2])
		if err != nil {
			return err
		}
		ok, _ := l.Value.Get("ok")
		if ok.Kind != wire.Bool || ok.Bool || l.Member("error") != a[1] {
			return fail(nil, "the error "+strQuote(a[1]), "client %s got %s", a[0], shorten(string(l.Raw)))
		}
		return errorAnswerProblem(l)
	})
	define(`the line's "([^"]+)" is (.+)`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		want, err := s.expand(a[1], wire.NewID())
		if err != nil {
			return err
		}
		return s.lineHas(a[0], want)
	})
	define(`the line has (a|an|a non-empty|no) "([^"]+)"(?:, (string|number|object|array|boolean|whole number))?`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.lineShape(a[0], a[1], a[2])
	})
	define(`the message says what to do`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		if m := s.line.Member("message"); !explains(m, s.line.Member("error")) {
			return fail(nil, "a message that says what is wrong and what to do next", "it is %q", m)
		}
		return nil
	})
	define(`the message names "([^"]+)"`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		if m := s.line.Member("message"); !strings.Contains(m, a[0]) {
			return fail(nil, "a message that names "+strQuote(a[0]), "it is %q", m)
		}
		return nil
	})
	define(`client ([A-Z]) is shown the event "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		l, err := s.hear(ctx, a[0], "client "+a[0]+" is shown the event "+strQuote(a[1]), isEvent(a[1]))
		if err != nil {
			return err
		}
		for _, name := range []string{"ok", "req_id"} {
			if _, n := l.Value.Get(name); n > 0 {
				return fail(nil, "an event without "+name, "it is %s", shorten(string(l.Raw)))
			}
		}
		return nil
	})
	define(`client ([A-Z]) is shown no event "([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.shownNothing(ctx, a[0], a[1])
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
		if err := s.say(ctx, a[0], []byte(`{"cmd":"status","req_id":"still"}`)); err != nil {
			return err
		}
		_, err := s.heardAnswer(ctx, a[0], "still")
		return err
	})
	define(`client ([A-Z]) was answered (\d+) times`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.answeredTimes(ctx, a[0], a[1])
	})
	define(`every line that client ([A-Z]) got is one JSON object`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		for _, l := range s.locals[a[0]].session.Lines() {
			if l.Err != nil || l.Value.Kind != wire.Object {
				return fail(nil, "each line is one JSON object in UTF-8", "a line is %s (%v)", shorten(string(l.Raw)), l.Err)
			}
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
		if got := fmt.Sprintf("%04o", info.Mode().Perm()); info.Name() != a[0] || got != a[1] || info.Mode()&os.ModeSocket == 0 {
			return fail(nil, fmt.Sprintf("a socket %s of mode %s", a[0], a[1]), "%s is %s", info.Name(), info.Mode())
		}
		return nil
	})
}

// errorAnswerProblem holds an error answer against its shape.
func errorAnswerProblem(l control.Line) error {
	code, n := l.Value.Get("error")
	message, m := l.Value.Get("message")
	if n != 1 || m != 1 || code.Kind != wire.String || message.Kind != wire.String {
		return fail(nil, "an error with the members error and message, both texts", "the answer is %s", shorten(string(l.Raw)))
	}
	return nil
}

// lineHas compares a member, named by a path such as envelope.kind, with a JSON
// value.
func (s *Scenario) lineHas(path string, want []byte) error {
	got, n := s.line.Value, 1
	for name := range strings.SplitSeq(path, ".") {
		got, n = got.Get(name)
	}
	expected, err := wire.Parse(want)
	if err != nil {
		return fmt.Errorf("the value %s of this check is no JSON: %w", want, err)
	}
	if n != 1 || !wire.Equal(got, expected) {
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
	got, n := s.line.Value, 1
	for name := range strings.SplitSeq(path, ".") {
		got, n = got.Get(name)
	}
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

// shownNothing: up to the answer of a further command no event of a name came.
func (s *Scenario) shownNothing(ctx context.Context, name, event string) error {
	c, err := s.client(ctx, name)
	if err != nil {
		return err
	}
	from := c.from
	for range barriers {
		if _, err := c.session.Command(ctx, `"cmd":"status"`); err != nil {
			return s.lose(nil, "client "+name+" is still served", "%v", err)
		}
	}
	for _, l := range c.session.Lines()[from:] {
		if l.Member("event") == event {
			return fail(nil, "client "+name+" is shown no event "+strQuote(event), "it was shown %s", shorten(string(l.Raw)))
		}
	}
	return nil
}

// answeredTimes counts answers since the last thing that was said, with a further
// command as the barrier.
func (s *Scenario) answeredTimes(ctx context.Context, name, times string) error {
	want, err := number(times)
	if err != nil {
		return err
	}
	c, err := s.client(ctx, name)
	if err != nil {
		return err
	}
	from := c.from
	if _, err := c.session.Command(ctx, `"cmd":"status"`); err != nil {
		return s.lose(nil, "client "+name+" is still served", "%v", err)
	}
	got := 0
	for _, l := range c.session.Lines()[from:] {
		if isAnswer(l) && !strings.HasPrefix(l.Member("req_id"), "suite-") {
			got++
		}
	}
	if got != want {
		return fail(nil, fmt.Sprintf("%d answers", want), "client %s got %d; the last lines were %s", name, got, lastLines(c.session))
	}
	return nil
}
