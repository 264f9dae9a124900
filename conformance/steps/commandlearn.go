package steps

import (
	"bytes"
	"context"
	"regexp"
	"strings"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/wire"
	"github.com/axonproto/axon/schemas"
)

// commandNames are those that AXON's protocol page lists.
var commandNames = []string{
	"daemon", "request", "notify", "serve", "listen", "peers", "status", "whoami", "identity", "connect", "forget",
	"doctor", "config", "examples", "completion", "version",
}

// takesArguments are the commands whose help has arguments to explain, each with the
// words of which its usage has one.
var takesArguments = map[string]string{
	"request": "PEER", "notify": "PEER", "connect": "TOKEN", "forget": "", "config": "KEY",
}

// shortened are abbreviations that have no place in names.
var shortened = map[string]bool{
	"msg": true, "msgs": true, "req": true, "reqs": true, "resp": true, "rsp": true, "cfg": true, "conf": true, "cnt": true, "num": true,
	"knd": true, "agt": true, "pl": true, "pld": true, "src": true, "dst": true, "usr": true, "ts": true, "tmo": true, "cmd": true, "params": true,
	"args": true, "env": true, "impl": true, "info": true, "proto": true, "ver": true, "fmt": true, "cert": true, "disc": true, "lvl": true,
}

// givenNames stand in AXON's protocol page as they are.
var givenNames = map[string]bool{"addr": true, "rtt_ms": true, "msg_id": true, "req_id": true, "disable-mdns": true, "pubkey": true}

// theFourKinds are those of the protocol.
var theFourKinds = map[string]bool{"request": true, "response": true, "message": true, "error": true}

func init() {
	define(`it names every command with what it does`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, out, _, err := s.lastOutput(ctx)
		if err != nil {
			return err
		}
		for _, name := range commandNames {
			described := regexp.MustCompile(`(?m)^\W*(?:axon )?` + name + `\b[^\n]*?\s(?:\S+\s+){2,}\S+`)
			if !described.Match(out) {
				return fail(nil, "help that names the command "+name+" with what it does", "%s", spoken(c))
			}
		}
		return nil
	})
	define(`the help of every command is asked for`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for _, name := range commandNames {
			if _, err := s.runCommand(name+" --help", nil); err != nil {
				return err
			}
		}
		return nil
	})
	define(`each has a description, its arguments and an example`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.eachHelp(ctx, helpProblem)
	})
	define(`each names flags in whole words, and a long form for each letter`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.eachHelp(ctx, flagProblem)
	})
	define(`the members that it printed are whole words`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		if err := s.printed(ctx); err != nil {
			return err
		}
		if name := shortMember(s.line.Value); name != "" {
			return fail(nil, "members whose names are whole words", "%q is an abbreviation: %s", name, shorten(string(s.line.Raw)))
		}
		return nil
	})
	define(`it shows a request with its response, and a message, each valid for the schemas`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, out, _, err := s.lastOutput(ctx)
		if err != nil {
			return err
		}
		return examplesProblem(c, out)
	})
}

// eachHelp looks at the help of every command.
func (s *Scenario) eachHelp(ctx context.Context, problem func(name, text string) string) error {
	for _, c := range s.terminal.started {
		if err := ended(ctx, s, c); err != nil {
			return err
		}
		out, _ := c.Output()
		if c.Code() != 0 {
			return fail(nil, "help, with exit code 0", "%s", spoken(c))
		}
		if p := problem(c.Args[0], string(out)); p != "" {
			return fail(nil, "help from which the command can be learned", "%s; %s", p, spoken(c))
		}
	}
	return nil
}

func helpProblem(name, text string) string {
	first, _, _ := strings.Cut(text, "\n\n")
	switch {
	case len(strings.Fields(first)) < 4:
		return "there is no description"
	case !regexp.MustCompile(`(?i)example`).MatchString(text) || strings.Count(text, "axon "+name) < 2:
		return "there is no example"
	case takesArguments[name] != "" && strings.Count(text, takesArguments[name]) < 2:
		return "its argument " + takesArguments[name] + " is not explained"
	}
	return ""
}

var (
	letterFlag = regexp.MustCompile(`(?m)^\s+-(\w)(?:, (--[\w-]+))?`)
	longFlag   = regexp.MustCompile(`(?m)^\s+(?:-\w, )?--([\w-]+)`)
)

func flagProblem(_, text string) string {
	for _, m := range letterFlag.FindAllStringSubmatch(text, -1) {
		if m[2] == "" {
			return "the flag -" + m[1] + " has no long form"
		}
	}
	for _, m := range longFlag.FindAllStringSubmatch(text, -1) {
		if shortName(m[1]) {
			return "the flag --" + m[1] + " is an abbreviation"
		}
	}
	return ""
}

// shortName: one of the words of a name is an abbreviation.
func shortName(name string) bool {
	if givenNames[name] {
		return false
	}
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if shortened[strings.ToLower(word)] || len(word) == 1 {
			return true
		}
	}
	return false
}

// shortMember is the first name in a value that is an abbreviation; payloads are the
// agents' own.
func shortMember(v wire.Value) string {
	for _, m := range v.Object {
		if shortName(m.Name) {
			return m.Name
		}
		if m.Name == "payload" {
			continue
		}
		if name := shortMember(m.Value); name != "" {
			return name
		}
	}
	for _, e := range v.Array {
		if name := shortMember(e); name != "" {
			return name
		}
	}
	return ""
}

// examplesProblem looks at each JSON text in a page of examples: those that are
// envelopes have to be valid.
func examplesProblem(c *control.Command, page []byte) error {
	strict, err := schemas.Compile(schemas.Envelope)
	if err != nil {
		return err
	}
	requests := map[string]bool{}
	answered, told := false, false
	for line := 0; line < len(page); {
		end := line + bytes.IndexByte(append(page[line:], '\n'), '\n')
		text := bytes.TrimLeft(page[line:], " \t")
		if text[0] != '{' {
			line = end + 1
			continue
		}
		v, rest, err := wire.ParsePrefix(text)
		if err != nil {
			return fail(nil, "each JSON text of the examples can be read", "%q cannot: %v", shorten(string(page[line:end])), err)
		}
		line = max(end+1, len(page)-len(rest))
		l := control.Line{Value: v}
		_, isEvent := v.Get("event")
		_, isCommand := v.Get("cmd")
		_, isAnswer := v.Get("ok")
		if isEvent+isCommand+isAnswer > 0 || !theFourKinds[l.Member("kind")] {
			// A line of the local API, or an envelope of a later protocol.
			continue
		}
		if err := strict.Validate(v.Raw); err != nil {
			return fail(nil, "each envelope of the examples is valid", "%s is not: %v", shorten(string(v.Raw)), err)
		}
		switch l.Member("kind") {
		case "request":
			requests[l.Member("id")] = true
		case "response":
			answered = answered || requests[l.Member("ref")]
		case "message":
			told = true
		}
	}
	if !answered || !told {
		return fail(nil, "a request with its response, and a message", "request with response: %t, message: %t; %s", answered, told, spoken(c))
	}
	return nil
}
