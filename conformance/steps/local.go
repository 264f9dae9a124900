package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
)

// local is a program on the target's own machine that talks to its local API.
type local struct {
	session *control.Session
	// mark is the index of the first line that can answer what it said last, said
	// the time at which it did.
	mark int
	said time.Time
	// taken are the lines that a step has looked at.
	taken map[int]bool
}

// pollPause is how long to wait before looking again at something that the target
// settles in its own time.
const pollPause = 2 * time.Millisecond

// pause waits a moment; false when the time of the check is over.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pollPause):
		return true
	}
}

// localAPI is the target's local API, where it has one.
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
	session, err := s.dialLocal(ctx)
	if err != nil {
		return nil, err
	}
	if s.locals == nil {
		s.locals = map[string]*local{}
	}
	l := &local{session: session, taken: map[int]bool{}}
	s.locals[name] = l
	return l, nil
}

func (s *Scenario) dialLocal(ctx context.Context) (*control.Session, error) {
	api, err := s.localAPI()
	if err != nil {
		return nil, err
	}
	session, err := control.Dial(ctx, api.Socket())
	if err != nil {
		return nil, s.lose(nil, "the local API takes another client", "%v", err)
	}
	return session, nil
}

// closeLocals ends all local clients.
func (s *Scenario) closeLocals() {
	for name, c := range s.locals {
		_ = c.session.Close()
		delete(s.locals, name)
	}
	s.disperse()
	if s.deaf != nil {
		_ = s.deaf.Close()
		s.deaf = nil
	}
	if s.silent != nil {
		_ = s.silent.Close()
		s.silent = nil
	}
}

// partingCeiling is how long the target may take to let a crowd go.
const partingCeiling = time.Second

// disperse ends the clients of a crowd, and waits until the target has let each of
// them go: what comes next needs their places.
func (s *Scenario) disperse() {
	ctx, cancel := context.WithTimeout(context.Background(), partingCeiling)
	defer cancel()
	for _, session := range s.crowd {
		_ = session.CloseWrite()
	}
	for _, session := range s.crowd {
		_ = session.AwaitEnd(ctx)
		_ = session.Close()
	}
	s.crowd = nil
}

// watchSpeaker ends a wait when the local client that spoke last is told of a
// failure; the channel then holds what it was told. The watch ends with ctx.
func (s *Scenario) watchSpeaker(ctx context.Context, cancel context.CancelFunc) <-chan control.Line {
	told := make(chan control.Line, 1)
	c := s.speaker
	if c == nil || len(s.calls) > 0 {
		return told
	}
	from := c.mark
	s.asking.Go(func() {
		if l, _, err := c.session.Find(ctx, from, isRefusal); err == nil {
			told <- l
			cancel()
		}
	})
	return told
}

// isAnswer: every line is one that is not an event.
func isAnswer(l control.Line) bool {
	_, oks := l.Value.Get("ok")
	_, events := l.Value.Get("event")
	return oks > 0 || events == 0
}

// isRefusal: an answer that is not positive.
func isRefusal(l control.Line) bool {
	ok, _ := l.Value.Get("ok")
	return isAnswer(l) && !ok.Bool
}

// say writes a line and marks where its answer will stand.
func (s *Scenario) say(ctx context.Context, name string, line []byte) error {
	c, err := s.client(ctx, name)
	if err != nil {
		return err
	}
	c.mark, c.said = len(c.session.Lines()), time.Now()
	s.speaker = c
	return s.write(ctx, name, append(line, '\n'))
}

func (s *Scenario) write(ctx context.Context, name string, b []byte) error {
	c, err := s.client(ctx, name)
	if err != nil {
		return err
	}
	if err := c.session.Write(ctx, b); err != nil && timedOut(err) {
		return s.lose(nil, "the target reads what client "+name+" writes", "it took no more within %s", s.Target.Ceiling)
	}
	// The target may close the connection while it is written to; what it said
	// before that is what counts.
	return nil
}

// hear waits for the first line from an index on that a client is after and that
// no step has looked at.
func (s *Scenario) hear(ctx context.Context, name, what string, from int, match func(control.Line) bool) (control.Line, error) {
	c, err := s.client(ctx, name)
	if err != nil {
		return control.Line{}, err
	}
	for {
		l, i, err := c.session.Find(ctx, from, match)
		switch {
		case err == nil && c.taken[i]:
			from = i + 1
			continue
		case err == nil:
			c.taken[i] = true
			s.line = l
			return l, nil
		case errors.Is(err, control.ErrEnded), ctx.Err() == nil:
			return l, s.lose(nil, what, "the target closed the connection of client %s; its last lines were %s", name, lastLines(c.session))
		}
		return l, s.lose(nil, what, "it did not come within %s; the last lines were %s", s.Target.Ceiling, lastLines(c.session))
	}
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

// heardAnswer waits for a client's answer; with a req_id it is the one that repeats
// it.
func (s *Scenario) heardAnswer(ctx context.Context, name, reqID string) (control.Line, error) {
	c, err := s.client(ctx, name)
	if err != nil {
		return control.Line{}, err
	}
	what := "an answer to client " + name
	match := isAnswer
	if reqID != "" {
		what += " that repeats req_id " + strQuote(shorten(reqID))
		match = func(l control.Line) bool { return isAnswer(l) && l.Member("req_id") == reqID }
	}
	return s.hear(ctx, name, what, c.mark, match)
}

// positive waits for a positive answer.
func (s *Scenario) positive(ctx context.Context, name, reqID string) error {
	l, err := s.heardAnswer(ctx, name, reqID)
	if err != nil {
		return err
	}
	if ok, n := l.Value.Get("ok"); n != 1 || ok.Kind != wire.Bool || !ok.Bool {
		return fail(nil, "a positive answer, with ok true", "client %s got %s", name, shorten(string(l.Raw)))
	}
	return nil
}

// refusal waits for an error with a code.
func (s *Scenario) refusal(ctx context.Context, name, code, reqID string) error {
	l, err := s.heardAnswer(ctx, name, reqID)
	if err != nil {
		return err
	}
	ok, n := l.Value.Get("ok")
	if n != 1 || ok.Kind != wire.Bool || ok.Bool || l.Member("error") != code {
		return fail(nil, "the error "+strQuote(code), "client %s got %s", name, shorten(string(l.Raw)))
	}
	return errorAnswerProblem(l)
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

// command has a client of the suite's own run a command. The members are raw JSON
// without braces.
func (s *Scenario) command(ctx context.Context, members string) (control.Line, error) {
	c, err := s.client(ctx, "of the suite")
	if err != nil {
		return control.Line{}, err
	}
	l, err := c.session.Command(ctx, members)
	if err != nil {
		return l, s.lose(nil, "the local API answers {"+members+"}", "it did not: %v", err)
	}
	if isRefusal(l) {
		return l, fail(nil, "a positive answer to {"+members+"}", "it is %s", shorten(string(l.Raw)))
	}
	return l, nil
}

// barrier has a client run further commands: whatever the target would have sent
// it because of what came before, it has had the time to.
func (s *Scenario) barrier(ctx context.Context, name string) (*local, error) {
	c, err := s.client(ctx, name)
	if err != nil {
		return nil, err
	}
	for range barriers {
		if _, err := c.session.Command(ctx, `"cmd":"status"`); err != nil {
			return c, s.lose(nil, "client "+name+" is still served", "it is not: %v", err)
		}
	}
	return c, nil
}

// answeredTimes waits for a number of answers to what was said last; when further
// commands have been answered there are no more.
func (s *Scenario) answeredTimes(ctx context.Context, name string, want int) error {
	answers := func(l control.Line) bool { return isAnswer(l) && !strings.HasPrefix(l.Member("req_id"), "suite-") }
	for i := range want {
		c, err := s.client(ctx, name)
		if err != nil {
			return err
		}
		if _, err := s.hear(ctx, name, fmt.Sprintf("answer %d of %d to client %s", i+1, want, name), c.mark, answers); err != nil {
			return err
		}
	}
	c, err := s.barrier(ctx, name)
	if err != nil {
		return err
	}
	got := 0
	for _, l := range c.session.Lines()[c.mark:] {
		if answers(l) {
			got++
		}
	}
	if got != want {
		return fail(nil, fmt.Sprintf("%d answers", want), "client %s got %d; the last lines were %s", name, got, lastLines(c.session))
	}
	return nil
}
