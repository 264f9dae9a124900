package faulty

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"strings"
)

// members changes the JSON object that a command prints.
func members(edit func(m map[string]json.RawMessage), names ...string) fault {
	return printing(func(text string) string {
		var m map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &m) != nil {
			return text
		}
		edit(m)
		b, _ := json.Marshal(m)
		return string(b) + "\n"
	}, names...)
}

// renamed gives a member another name.
func renamed(old, by string, names ...string) fault {
	return members(func(m map[string]json.RawMessage) {
		if v, there := m[old]; there {
			m[by] = v
			delete(m, old)
		}
	}, names...)
}

// eachPeer changes the entries of peers.
func eachPeer(edit func(i int, m map[string]json.RawMessage) bool) fault {
	return members(func(m map[string]json.RawMessage) {
		var list, kept []map[string]json.RawMessage
		if json.Unmarshal(m["peers"], &list) != nil {
			return
		}
		for i, p := range list {
			if edit(i, p) {
				kept = append(kept, p)
			}
		}
		m["peers"], _ = json.Marshal(kept)
	}, "peers")
}

func without(name string) fault {
	return eachPeer(func(_ int, m map[string]json.RawMessage) bool { delete(m, name); return true })
}

var tokenKey = regexp.MustCompile(`axon://([A-Za-z0-9_-]+)@`)

var peerFaults = map[string]fault{
	"peers-lack-key":                without("public_key"),
	"peers-lack-status":             without("status"),
	"peers-lack-source":             without("source"),
	"peers-lack-trust":              without("trust"),
	"peers-lack-address":            without("addr"),
	"peers-first-missing":           eachPeer(func(i int, _ map[string]json.RawMessage) bool { return i > 0 }),
	"peers-without-the-unconnected": eachPeer(func(_ int, m map[string]json.RawMessage) bool { return string(m["status"]) == `"connected"` }),
	"peers-all-connected": eachPeer(func(_ int, m map[string]json.RawMessage) bool {
		m["status"] = json.RawMessage(`"connected"`)
		return true
	}),
	"peers-bare-list": printing(func(text string) string {
		var m map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &m) != nil {
			return text
		}
		return string(m["peers"]) + "\n"
	}, "peers"),

	"status-lacks-uptime":  renamed("uptime_secs", "started", "status"),
	"status-counts-wrong":  members(func(m map[string]json.RawMessage) { m["messages_sent"] = json.RawMessage("0") }, "status"),
	"status-no-peers":      members(func(m map[string]json.RawMessage) { m["peers_connected"] = json.RawMessage("0") }, "status"),
	"whoami-lacks-version": renamed("version", "release", "whoami"),
	"whoami-lacks-uptime":  renamed("uptime_secs", "started", "whoami"),
	"whoami-key-in-url-base64": members(func(m map[string]json.RawMessage) {
		m["public_key"] = json.RawMessage(strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(string(m["public_key"])))
	}, "whoami"),

	"token-in-standard-base64": printing(func(text string) string {
		return tokenKey.ReplaceAllStringFunc(text, func(m string) string {
			b, _ := base64.RawURLEncoding.DecodeString(tokenKey.FindStringSubmatch(m)[1])
			return "axon://" + base64.StdEncoding.EncodeToString(b) + "@"
		})
	}, "identity"),
	"token-ignores-address": on(func(c *call) int {
		if addr, _ := c.value("--addr"); strings.Contains(addr, ":") {
			c.set("--addr", "192.0.2.99:7100")
		}
		return c.run()
	}, "identity"),
	"identity-lacks-token": renamed("token", "address", "identity"),
	"identity-agent-id-short": printing(func(text string) string {
		return regexp.MustCompile(`(ed25519\.[0-9a-f]{31})[0-9a-f]`).ReplaceAllString(text, "$1")
	}, "identity"),
	"identity-new-each-time": on(func(c *call) int {
		if !c.has("--json") || c.answered() {
			return c.run()
		}
		code := c.run()
		_ = os.Remove(c.inRoot("identity.key"))
		_ = os.Remove(c.inRoot("identity.pub"))
		return code
	}, "identity"),
	"identity-needs-daemon": on(func(c *call) int {
		if !c.answered() {
			c.say("", "axon: no daemon is running; start one with `axon daemon`\n")
			return 1
		}
		return c.run()
	}, "identity"),

	"connect-not-kept": on(func(c *call) int {
		before := c.read("known_peers.json")
		code := c.run()
		if before == "" {
			_ = os.Remove(c.inRoot("known_peers.json"))
		} else {
			c.write("known_peers.json", before)
		}
		return code
	}, "connect"),
	"connect-does-nothing": on(func(c *call) int {
		if strings.HasPrefix(c.peer(), "axon://") && len(c.peer()) > 50 {
			c.say("admitted\n", "")
			return 0
		}
		return c.run()
	}, "connect"),
	"connect-code-1": ending(0, 1, "connect"),
	"connect-drops-candidates": on(func(c *call) int {
		if strings.HasPrefix(c.peer(), "ed25519.") {
			c.say("admitted\n", "")
			return 0
		}
		return c.run()
	}, "connect"),
	"forget-comes-back": on(func(c *call) int {
		out, _ := c.ask("peers", "--state-root", c.root(), "--json")
		code := c.run()
		var list struct {
			Peers []struct {
				ID   string `json:"agent_id"`
				Key  []byte `json:"public_key"`
				Addr string `json:"addr"`
			} `json:"peers"`
		}
		_ = json.Unmarshal([]byte(out), &list)
		for _, p := range list.Peers {
			if strings.HasPrefix(p.ID, c.peer()) {
				c.ask("connect", "--state-root", c.root(), "axon://"+base64.RawURLEncoding.EncodeToString(p.Key)+"@"+p.Addr)
			}
		}
		return code
	}, "forget"),
	"forget-does-nothing": on(func(c *call) int {
		if strings.HasPrefix(c.peer(), "ed25519.") {
			c.say("forgot "+c.peer()+"\n", "")
			return 0
		}
		return c.run()
	}, "forget"),
}
