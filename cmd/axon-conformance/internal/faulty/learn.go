package faulty

import (
	"regexp"
	"strings"
)

// help changes what --help and help print.
func help(edit func(string) string) fault {
	return func(c *call) int {
		if !c.has("--help") && !c.is("help") {
			return c.run()
		}
		out, err, code := c.caught()
		c.say(edit(out), err)
		return code
	}
}

var learnFaults = map[string]fault{
	"help-lacks-a-command": help(func(text string) string {
		return dropLines(text, func(l string) bool { return strings.HasPrefix(l, "  forget ") })
	}),
	"help-without-descriptions": help(func(text string) string {
		return regexp.MustCompile(`(?m)^  (peers|notify|doctor) .*$`).ReplaceAllString(text, "  $1")
	}),
	"help-without-examples": help(func(text string) string {
		return regexp.MustCompile(`(?s)Examples:\n.*?\n\n`).ReplaceAllString(text, "")
	}),
	"help-without-arguments": help(func(text string) string {
		return regexp.MustCompile(`(?s)Arguments:\n.*?\n\n`).ReplaceAllString(text, "")
	}),
	"flag-abbreviated":       help(instead("--envelope ", "--env ")),
	"letter-without-word":    help(instead("-q, --quiet", "-q         ")),
	"members-abbreviated":    printing(instead(`"agent_id"`, `"agt_id"`), "whoami"),
	"member-names-shortened": printing(instead(`"messages_sent"`, `"msgs_sent"`), "status"),
	"error-bare": complaining(func(text string) string {
		if strings.Contains(text, "agent id") {
			return "axon: error 22\n"
		}
		return text
	}, "request", "forget"),
	"examples-invalid": printing(func(text string) string {
		return regexp.MustCompile(`"id":"[0-9a-f-]+","kind":"response"`).ReplaceAllString(text, `"id":"1","kind":"response"`)
	}, "examples"),
	"examples-without-message": printing(func(text string) string {
		return dropLines(text, func(l string) bool {
			return strings.Contains(l, `"kind":"message"`) && !strings.Contains(l, `"examples"`)
		})
	}, "examples"),
	"examples-no-json": printing(instead(`"kind":"request"`, `'kind':'request'`), "examples"),
	"examples-not-played": on(func(c *call) int {
		if c.has("--run") {
			c.say("Imagine two daemons.\n", "")
			return 0
		}
		return c.run()
	}, "examples"),
	"envelope-names-shortened": printing(func(text string) string {
		return strings.NewReplacer(`"payload":`, `"data":`, `"kind":`, `"type":`).Replace(text)
	}, "request"),
}
