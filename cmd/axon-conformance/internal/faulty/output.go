package faulty

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

const noDaemon = "no daemon is running"

// aboutUsage tells by the words of an error that it is about wrong usage.
var aboutUsage = regexp.MustCompile(`unknown|missing|too many|see .axon|not a peer token|not an agent id|HOST:PORT|payload is not|invalid character|from 1 to|1 to 65535|out of range|such as|invalid argument|give --command`)

// unescaped undoes the escapes of some characters.
func unescaped(pattern string) func(string) string {
	expr := regexp.MustCompile(pattern)
	return func(text string) string {
		return expr.ReplaceAllStringFunc(text, func(m string) string {
			n, err := strconv.ParseInt(strings.TrimLeft(m[1:], "xu"), 16, 32)
			if err != nil {
				return map[string]string{`\r`: "\r", `\b`: "\b", `\a`: "\a"}[m]
			}
			return string(rune(n))
		})
	}
}

// raw prints what a peer said without its escapes, in commands that end and in one that
// goes on.
func raw(pattern string) fault {
	edit := unescaped(pattern)
	return func(c *call) int {
		if c.is("daemon", "serve") {
			return c.run()
		}
		out, err := c.out, c.err
		c.out = writer(func(p []byte) (int, error) { return len(p), write(out, edit(string(p))) })
		c.err = writer(func(p []byte) (int, error) { return len(p), write(err, edit(string(p))) })
		return c.run()
	}
}

func write(w interface{ Write([]byte) (int, error) }, text string) error {
	_, err := w.Write([]byte(text))
	return err
}

// refused tells whether a request was refused by the daemon, by the text.
func refused(text string) bool {
	return strings.Contains(text, "itself") || strings.Contains(text, "handler") && strings.Contains(text, "another")
}

func isJSONCommand(c *call) bool { return c.has("--json") }

// bold is text in bold letters.
func bold(text string) string {
	if text == "" {
		return ""
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(strings.TrimSpace(text)), "", "  ") != nil {
		return text
	}
	return b.String() + "\n"
}

var outputFaults = map[string]fault{
	// No daemon.
	"no-daemon-code-2": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if strings.Contains(err, noDaemon) {
			code = 2
		}
		return out, err, code
	}),
	"no-daemon-on-standard-output": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if strings.Contains(err, noDaemon) {
			out = err
		}
		return out, err, code
	}),
	"no-daemon-bare": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if strings.Contains(err, noDaemon) {
			err = "axon: dial unix axon.sock: connect: no such file or directory\n"
		}
		return out, err, code
	}),
	"no-daemon-bare-in-listen": on(func(c *call) int {
		if !c.answered() {
			c.say("", "axon: dial unix axon.sock: connect: no such file or directory\n")
			return 1
		}
		return c.run()
	}, "listen", "serve"),

	// Usage.
	"usage-code-1": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if code == 2 && aboutUsage.MatchString(err) {
			code = 1
		}
		return out, err, code
	}, "request", "notify", "peers", "connect", "forget", "identity", "completion", "reqest"),
	"usage-on-standard-output": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if code == 2 && aboutUsage.MatchString(err) {
			out += "Usage:\n  axon COMMAND [flags]\n"
		}
		return out, err, code
	}, "request", "notify", "peers", "connect", "forget", "identity", "completion", "reqest"),
	"usage-joins-arguments": on(func(c *call) int {
		if w := c.words(); len(w) == 3 {
			c.args = []string{c.command(), w[0], w[1] + " " + w[2]}
		}
		return c.run()
	}, "request", "notify"),
	"usage-takes-timeout-0": on(func(c *call) int {
		if v, _ := c.value("--timeout"); v == "0" {
			c.set("--timeout", "1")
		}
		return c.run()
	}, "request"),
	"usage-takes-timeout-3601": on(func(c *call) int {
		if v, _ := c.value("--timeout"); v == "3601" {
			c.set("--timeout", "1")
		}
		return c.run()
	}, "request"),
	"usage-wraps-payloads": on(func(c *call) int {
		if w := c.words(); c.has("--json") && len(w) == 2 && !strings.HasPrefix(w[1], "{") && w[1] != "-" {
			c.replace(w[1], `{"payload":`+strconv.Quote(w[1])+`}`)
		}
		return c.run()
	}, "request", "notify"),
	"usage-missing-text-is-empty": on(func(c *call) int {
		if w := c.words(); len(w) == 1 {
			c.args = append(c.args, "")
		}
		return c.run()
	}, "request", "notify"),
	"usage-unknown-flag-ignored": func(c *call) int {
		c.drop("--tmeout")
		return c.run()
	},
	"usage-unknown-command-helps": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if strings.Contains(err, "unknown command") {
			return "axon lets agents ask each other things.\n", "", 0
		}
		return out, err, code
	}),

	// Refusals and errors.
	"refusal-code-1": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if code == 2 && refused(err) {
			code = 1
		}
		return out, err, code
	}, "request", "notify"),
	"refusal-in-own-words": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if code == 2 && refused(err) {
			err = "axon: the daemon refused; check the arguments and try again\n"
		}
		return out, err, code
	}, "request", "notify"),
	"refused-handler-in-own-words": on(func(c *call) int {
		var b bytes.Buffer
		real := c.err
		c.err = &b
		code := c.run()
		c.err = real
		if code == 2 {
			b.Reset()
			b.WriteString("axon: cannot serve; try again later\n")
		}
		c.say("", b.String())
		return code
	}, "serve"),
	"remote-error-code-0": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if strings.Contains(err, "answered with the error") {
			return out, err, 0
		}
		return out, err, code
	}, "request"),
	"remote-error-printed-as-answer": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if strings.Contains(err, "answered with the error") {
			return `{"code":"error"}` + "\n", err, code
		}
		return out, err, code
	}, "request"),
	"remote-error-without-code": complaining(instead("timetable_unavailable", "failed"), "request"),
	"remote-error-without-message": complaining(func(text string) string {
		if before, _, found := strings.Cut(text, "timetable_unavailable"); found {
			return before + "timetable_unavailable; try again\n"
		}
		return text
	}, "request"),

	// Time-outs.
	"timeout-code-2": ending(3, 2, "request"),
	"timeout-code-1": ending(3, 1, "request"),
	"unreachable-is-timeout": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if code == 2 && strings.Contains(err, "request to ") && !strings.Contains(err, "itself") && !strings.Contains(err, "no such peer") {
			code = 3
		}
		return out, err, code
	}, "request"),
	"remote-timeout-is-timeout": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if strings.Contains(err, "the error timeout") {
			code = 3
		}
		return out, err, code
	}, "request"),

	// JSON.
	"json-with-progress": edited(func(c *call, out, err string, code int) (string, string, int) {
		if isJSONCommand(c) && code == 0 {
			out = "asking the daemon\n" + out
		}
		return out, err, code
	}, "notify", "connect", "config", "doctor"),
	"json-on-several-lines": edited(func(c *call, out, err string, code int) (string, string, int) {
		if isJSONCommand(c) {
			out = indented(out)
		}
		return out, err, code
	}, "config", "examples", "doctor", "connect"),
	"json-not-for-version": on(func(c *call) int { c.without("--json"); return c.run() }, "version"),
	"json-not-for-forget":  on(func(c *call) int { c.without("--json"); return c.run() }, "forget"),
	"json-unknown-for-doctor": on(func(c *call) int {
		c.replace("--json", "--jsn")
		return c.run()
	}, "doctor"),

	// Terminals.
	"escape-reaches-terminal":      raw(`\\x1b|\\u001b`),
	"c1-reaches-terminal":          raw(`\\x[89][0-9a-f]|\\u00[89][0-9a-f]`),
	"bidi-reaches-terminal":        raw(`\\u20[26][0-9a-e]`),
	"delete-reaches-terminal":      raw(`\\x7f|\\u007f`),
	"bell-reaches-terminal":        raw(`\\a|\\x07|\\u0007|\\x00|\\u0000`),
	"return-reaches-terminal":      raw(`\\r`),
	"backspace-reaches-terminal":   raw(`\\b|\\x08|\\u0008`),
	"coloured-always":              printing(bold, "peers", "status", "whoami"),
	"coloured-help":                printing(instead("Usage:", "\x1b[1mUsage:\x1b[0m")),
	"coloured-errors":              complaining(instead("axon:", "\x1b[31maxon:\x1b[0m"), "request"),
	"coloured-unless-no-color-set": printing(bold, "doctor"),

	// Suggestions.
	"nothing-suggested": complaining(func(text string) string {
		return regexp.MustCompile(`; did you mean[^?]*\?`).ReplaceAllString(text, "")
	}),
	"peers-not-suggested": complaining(func(text string) string {
		return regexp.MustCompile(`; did you mean "alice"\?`).ReplaceAllString(text, "")
	}),
	"anything-suggested":  complaining(instead(`"xyzzyx"`, `"xyzzyx"; did you mean "request"?`)),
	"any-peer-suggested":  complaining(instead(`"somebody"`, `"somebody"; did you mean "alice"?`), "request"),
	"flags-not-suggested": complaining(instead("; did you mean --json?", ""), "peers"),
}
