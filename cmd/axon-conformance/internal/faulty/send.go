package faulty

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
)

// text is the TEXT of request and notify, and where it stands; -1 where there is none.
func (c *call) text() (string, int) {
	w := c.words()
	if len(w) != 2 {
		return "", -1
	}
	for i := len(c.args) - 1; i >= 0; i-- {
		if c.args[i] == w[1] {
			return w[1], i
		}
	}
	return "", -1
}

func (c *call) setText(text string) {
	if _, i := c.text(); i >= 0 {
		c.args[i] = text
	}
}

// peer is the PEER of a command.
func (c *call) peer() string {
	if w := c.words(); len(w) > 0 {
		return w[0]
	}
	return ""
}

// rewritten reads JSON into numbers and writes it again.
func rewritten(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return strings.ReplaceAll(text, "12345678901234567890", "12345678901234567000")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(b) + "\n"
}

// known are the Agent IDs that the daemon lists.
func (c *call) known() []string {
	out, _ := c.ask("peers", "--state-root", c.root(), "--json")
	var list struct {
		Peers []struct {
			ID string `json:"agent_id"`
		} `json:"peers"`
	}
	_ = json.Unmarshal([]byte(out), &list)
	var ids []string
	for _, p := range list.Peers {
		ids = append(ids, p.ID)
	}
	return ids
}

var sendFaults = map[string]fault{
	// What request prints.
	"response-numbers-rewritten": printing(rewritten, "request"),
	"response-in-envelope": on(func(c *call) int {
		c.args = append([]string{"request", "--envelope"}, c.args[1:]...)
		return c.run()
	}, "request"),
	"response-text-alone": printing(func(text string) string {
		var p struct{ Text string }
		if json.Unmarshal([]byte(text), &p) == nil && p.Text != "" {
			return p.Text + "\n"
		}
		return text
	}, "request"),
	"response-like-error-refused": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if code == 0 && strings.Contains(out, `"code":"unhandled"`) {
			return "", "axon: the peer answered with an error\n", 2
		}
		return out, err, code
	}, "request"),
	"response-ascii-only": printing(func(text string) string {
		return strings.Map(func(r rune) rune {
			if r > 127 {
				return '?'
			}
			return r
		}, text)
	}, "request"),
	"empty-response-not-printed": printing(func(text string) string {
		if strings.TrimSpace(text) == "{}" {
			return ""
		}
		return text
	}, "request"),
	"response-code-1":    ending(0, 1, "request"),
	"request-sent-twice": on(func(c *call) int { c.ask("notify", "--state-root", c.root(), c.peer(), "Hello"); return c.run() }, "request"),
	"request-text-member": on(func(c *call) int {
		if text, _ := c.text(); !c.has("--json") && text != "" && text != "-" {
			b, _ := json.Marshal(map[string]string{"text": text})
			c.setText(string(b))
			c.args = append(c.args, "--json")
		}
		return c.run()
	}, "request"),

	// Notify.
	"notify-sent-as-request": on(func(c *call) int {
		c.replace("notify", "request")
		_, _, _ = c.caught()
		return 0
	}, "notify"),
	"notify-code-1": ending(0, 1, "notify"),
	"notify-sent-twice": on(func(c *call) int {
		if text, _ := c.text(); text != "-" {
			c.ask(c.args...)
		}
		return c.run()
	}, "notify"),
	"notify-message-named-text": on(func(c *call) int {
		if text, _ := c.text(); !c.has("--json") && text != "" && text != "-" {
			b, _ := json.Marshal(map[string]string{"text": text})
			c.setText(string(b))
			c.args = append(c.args, "--json")
		}
		return c.run()
	}, "notify"),

	// Payloads.
	"json-wrapped": on(func(c *call) int {
		if c.has("--json") {
			c.without("--json")
		}
		return c.run()
	}, "request", "notify"),
	"json-numbers-rewritten": on(func(c *call) int {
		if text, i := c.text(); i >= 0 && c.has("--json") {
			c.setText(strings.TrimSpace(rewritten(text)))
		}
		return c.run()
	}, "request", "notify"),
	"json-null-dropped": on(func(c *call) int {
		text, _ := c.text()
		c.setText(strings.ReplaceAll(text, `{"x":null}`, `{}`))
		return c.run()
	}, "request", "notify"),
	"json-message-taken-alone": on(func(c *call) int {
		var p map[string]json.RawMessage
		if text, i := c.text(); i >= 0 && json.Unmarshal([]byte(text), &p) == nil && p["message"] != nil {
			c.setText(`{"message":` + string(p["message"]) + `}`)
		}
		return c.run()
	}, "request", "notify"),

	// Standard input.
	"input-first-line": on(func(c *call) int {
		if text, _ := c.text(); text == "-" {
			line, _ := bufio.NewReader(c.in).ReadString('\n')
			c.in = strings.NewReader(strings.TrimSuffix(line, "\n"))
		}
		return c.run()
	}, "request", "notify"),
	"input-dash-is-text": on(func(c *call) int {
		if text, _ := c.text(); text == "-" && !c.has("--json") {
			c.setText(`{"message":"-"}`)
			c.args = append(c.args, "--json")
		}
		return c.run()
	}, "request", "notify"),
	"input-not-for-json": on(func(c *call) int {
		if text, _ := c.text(); text == "-" && c.has("--json") {
			c.say("", "axon: invalid character '-' in numeric literal\n")
			return 2
		}
		return c.run()
	}, "request", "notify"),
	"input-loses-newlines": on(func(c *call) int {
		if text, _ := c.text(); text == "-" && !c.has("--json") {
			b, _ := io.ReadAll(c.in)
			c.in = strings.NewReader(strings.ReplaceAll(string(b), "\n", " "))
		}
		return c.run()
	}, "request", "notify"),

	// Peers.
	"prefix-first-match": on(func(c *call) int {
		if p := c.peer(); strings.HasPrefix(p, "ed25519.") && len(p) < 40 {
			for _, id := range c.known() {
				if strings.HasPrefix(id, p) {
					c.replace(p, id)
					break
				}
			}
		}
		return c.run()
	}, "request", "notify"),
	"prefix-unknown": on(func(c *call) int {
		if p := c.peer(); strings.HasPrefix(p, "ed25519.") && len(p) < 40 {
			c.say("", "axon: not an agent id; write all 40 characters\n")
			return 2
		}
		return c.run()
	}, "request", "notify"),
	"names-unknown": on(func(c *call) int {
		if p := c.peer(); p != "" && !strings.HasPrefix(strings.ToLower(p), "ed25519.") {
			c.say("", "axon: not an agent id; see `axon peers`\n")
			return 2
		}
		return c.run()
	}, "request", "notify"),
	"agent-id-in-lower-case-only": on(func(c *call) int {
		if p := c.peer(); p != strings.ToLower(p) {
			c.say("", "axon: not an agent id; see `axon peers`\n")
			return 2
		}
		return c.run()
	}, "request", "notify"),
	"ambiguous-code-1": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if code == 2 && strings.Contains(err, "is the beginning of") {
			code = 1
		}
		return out, err, code
	}, "request", "notify"),

	// Time.
	"timeout-ignored": on(func(c *call) int { c.drop("--timeout"); return c.run() }, "request"),
	"timeout-in-minutes": on(func(c *call) int {
		if v, _ := c.value("--timeout"); v == "1" {
			c.set("--timeout", "60")
		}
		return c.run()
	}, "request"),
	"timeout-at-once": on(func(c *call) int {
		if _, i := c.value("--timeout"); i > 0 {
			c.say("", "axon: no reply within the time; ask again with a longer --timeout\n")
			return 3
		}
		return c.run()
	}, "request"),

	// Envelopes.
	"envelope-of-request": edited(func(c *call, out, err string, code int) (string, string, int) {
		var e map[string]json.RawMessage
		if c.has("--envelope") && json.Unmarshal([]byte(out), &e) == nil {
			e["id"], e["kind"] = e["ref"], json.RawMessage(`"request"`)
			b, _ := json.Marshal(e)
			out = string(b) + "\n"
		}
		return out, err, code
	}, "request"),
	"envelope-without-ref": edited(func(c *call, out, err string, code int) (string, string, int) {
		var e map[string]json.RawMessage
		if c.has("--envelope") && json.Unmarshal([]byte(out), &e) == nil {
			delete(e, "ref")
			b, _ := json.Marshal(e)
			out = string(b) + "\n"
		}
		return out, err, code
	}, "request"),
	"envelope-not-of-errors": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if code == 2 {
			out = ""
		}
		return out, err, code
	}, "request"),
	"envelope-ignored": on(func(c *call) int { c.without("--envelope"); return c.run() }, "request"),
}
