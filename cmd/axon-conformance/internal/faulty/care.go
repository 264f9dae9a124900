package faulty

import (
	"os"
	"path/filepath"
	"strings"
)

// setting tells whether `axon config` is to change the file.
func (c *call) setting() bool { return len(c.words()) == 2 || c.has("--unset") }

// configEdited changes the file after it was set.
func configEdited(edit func(text string) string) fault {
	return on(func(c *call) int {
		code := c.run()
		if code == 0 && c.setting() {
			c.write("config.yaml", edit(c.read("config.yaml")))
		}
		return code
	}, "config")
}

// aside removes what a repair set aside.
func (c *call) aside(name string) {
	list, _ := filepath.Glob(c.inRoot(name + ".*"))
	for _, p := range list {
		_ = os.RemoveAll(p)
	}
}

var careFaults = map[string]fault{
	"config-loses-comments": configEdited(func(text string) string {
		return dropLines(text, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "#") })
	}),
	"config-loses-peers": configEdited(func(text string) string {
		before, _, _ := strings.Cut(text, "peers:")
		return before
	}),
	"config-loses-name": configEdited(func(text string) string {
		return dropLines(text, func(l string) bool { return strings.HasPrefix(l, "name:") })
	}),
	"config-sets-nothing": on(func(c *call) int {
		if len(c.words()) == 2 {
			before := c.read("config.yaml")
			defer c.write("config.yaml", before)
		}
		return c.run()
	}, "config"),
	"config-unset-ignored": on(func(c *call) int {
		if c.has("--unset") {
			before := c.read("config.yaml")
			defer c.write("config.yaml", before)
		}
		return c.run()
	}, "config"),
	"config-shows-defaults": on(func(c *call) int {
		if w := c.words(); len(w) == 1 && w[0] == "port" && !c.has("--unset") {
			c.say("7100\n", "")
			return 0
		}
		return c.run()
	}, "config"),
	"config-takes-any-value": on(func(c *call) int {
		if w := c.words(); len(w) == 2 && w[1] == "blindly" {
			c.write("config.yaml", c.read("config.yaml")+"discovery:\n  trust: blindly\n")
			return 0
		}
		return c.run()
	}, "config"),
	"config-takes-port-0": on(func(c *call) int {
		if w := c.words(); len(w) == 2 && w[1] == "0" {
			c.write("config.yaml", c.read("config.yaml")+"port: 0\n")
			return 0
		}
		return c.run()
	}, "config"),
	"config-takes-unknown-keys": on(func(c *call) int {
		if w := c.words(); len(w) == 2 && w[0] == "prot" {
			c.write("config.yaml", c.read("config.yaml")+"prot: 7100\n")
			return 0
		}
		return c.run()
	}, "config"),
	"config-refuses-by-code-1": ending(2, 1, "config"),
	"config-lists-file-only": on(func(c *call) int {
		if c.has("--list") && !c.has("--json") {
			c.say(c.read("config.yaml"), "")
			return 0
		}
		return c.run()
	}, "config"),

	"doctor-repairs-on-the-way": on(func(c *call) int {
		if !c.has("--fix") && !c.has("--rekey") && !c.has("--json") {
			c.ask("doctor", "--state-root", c.root(), "--fix")
		}
		return c.run()
	}, "doctor"),
	"doctor-always-content": ending(1, 0, "doctor"),
	"doctor-never-content":  ending(0, 1, "doctor"),
	"doctor-names-nothing": edited(func(_ *call, out, err string, code int) (string, string, int) {
		if code == 1 {
			out = "there are problems\n"
		}
		return out, err, code
	}, "doctor"),
	"doctor-makes-notes": on(func(c *call) int {
		code := c.run()
		if c.exists(".") {
			c.write("doctor.log", "looked\n")
		}
		return code
	}, "doctor"),
	"doctor-blind-to-modes": on(func(c *call) int {
		if c.has("--fix") || c.has("--rekey") {
			return c.run()
		}
		before := c.modes(0o600, 0o700)
		defer before()
		return c.run()
	}, "doctor"),
	"doctor-blind-to-known-peers": edited(func(c *call, out, err string, code int) (string, string, int) {
		if strings.Contains(out, "known peers      problem") {
			code = 0
		}
		return out, err, code
	}, "doctor"),
	"fix-deletes": on(func(c *call) int {
		code := c.run()
		if c.has("--fix") {
			c.aside("known_peers.json")
		}
		return code
	}, "doctor"),
	"fix-leaves-modes": on(func(c *call) int {
		if !c.has("--fix") {
			return c.run()
		}
		key, _ := os.Stat(c.inRoot("identity.key"))
		code := c.run()
		if key != nil {
			_ = os.Chmod(c.inRoot("identity.key"), key.Mode())
		}
		return code
	}, "doctor"),
	"fix-leaves-folder-open": on(func(c *call) int {
		if !c.has("--fix") {
			return c.run()
		}
		folder, _ := os.Stat(c.root())
		code := c.run()
		if folder != nil {
			_ = os.Chmod(c.root(), folder.Mode())
		}
		return code
	}, "doctor"),
	"fix-makes-a-new-key": on(func(c *call) int {
		if c.has("--fix") && c.exists("known_peers.json") {
			c.ask("doctor", "--state-root", c.root(), "--rekey")
		}
		return c.run()
	}, "doctor"),
	"rekey-keeps-no-old-key": on(func(c *call) int {
		code := c.run()
		if c.has("--rekey") {
			c.aside("identity.key")
		}
		return code
	}, "doctor"),
	"rekey-changes-nothing": on(func(c *call) int {
		if c.has("--rekey") && !c.answered() {
			c.say("New agent id\n", "")
			c.write("identity.key.backup-20260101T000000Z", c.read("identity.key"))
			return 0
		}
		return c.run()
	}, "doctor"),
	"rekey-under-running-daemon": on(func(c *call) int {
		if c.has("--rekey") && c.answered() {
			c.write("identity.key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
			c.say("New agent id\n", "")
			return 0
		}
		return c.run()
	}, "doctor"),
	"completion-for-bash-only": on(func(c *call) int {
		c.replace("zsh", "bash")
		c.replace("fish", "bash")
		return c.run()
	}, "completion"),
	"completion-without-fish": on(func(c *call) int {
		if c.has("fish") {
			c.say("", "axon: fish is not known; give bash or zsh\n")
			return 2
		}
		return c.run()
	}, "completion"),
	"completion-offers-no-peers": on(func(c *call) int {
		c.say(":0\n", "")
		return 0
	}, "__complete"),
	"completion-offers-no-names": printing(func(text string) string {
		return dropLines(text, func(l string) bool { return strings.HasPrefix(l, "alice") })
	}, "__complete"),
	"completion-offers-no-agent-ids": printing(func(text string) string {
		return dropLines(text, func(l string) bool { return strings.HasPrefix(l, "ed25519.") })
	}, "__complete"),

	"version-by-hand": on(func(c *call) int {
		c.say("axon 0.0.1\n", "")
		return 0
	}, "version"),
	"version-code-1": ending(0, 1, "version"),
}

// modes hides what is wrong with the modes, and returns how to show it again.
func (c *call) modes(file, folder os.FileMode) func() {
	key, err1 := os.Stat(c.inRoot("identity.key"))
	root, err2 := os.Stat(c.root())
	if err1 != nil || err2 != nil {
		return func() {}
	}
	_ = os.Chmod(c.inRoot("identity.key"), file)
	_ = os.Chmod(c.root(), folder)
	return func() {
		_ = os.Chmod(c.inRoot("identity.key"), key.Mode())
		_ = os.Chmod(c.root(), root.Mode())
	}
}
