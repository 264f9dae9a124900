package faulty

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// dying ends the process at a signal without a word.
func dying(code int, before func(c *call), signals ...os.Signal) fault {
	return on(func(c *call) int {
		hit := make(chan os.Signal, 1)
		signal.Notify(hit, signals...)
		go func() {
			<-hit
			if before != nil {
				before(c)
			}
			os.Exit(code)
		}()
		return c.run()
	}, "daemon")
}

// restarted runs the daemon after something was done to its state.
func restarted(before func(c *call)) fault {
	return on(func(c *call) int {
		before(c)
		return c.run()
	}, "daemon")
}

// answered tells whether somebody answers at the socket.
func (c *call) answered() bool {
	conn, err := net.Dial("unix", c.inRoot("axon.sock"))
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// second: the daemon is started rightly, and another uses the state root.
func (c *call) second() bool {
	port, _ := c.value("--port")
	n, err := strconv.Atoi(port)
	return err == nil && n <= 65535 && c.answered()
}

// keyIsGood: identity.key is not there or can be used.
func (c *call) keyIsGood() bool {
	_, code := c.ask("identity", "--state-root", c.root(), "--addr", "127.0.0.1:1", "--json")
	return !c.exists("identity.key") || code == 0
}

// peersAreGood: known_peers.json is not there or can be read.
func (c *call) peersAreGood() bool {
	info, err := os.Stat(c.inRoot("known_peers.json"))
	text := strings.TrimSpace(c.read("known_peers.json"))
	return err != nil || info.Mode().IsRegular() && strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}")
}

var digits = regexp.MustCompile(`\d+`)

var daemonFaults = map[string]fault{
	// State root.
	"root-flag-read-by-daemon-alone": func(c *call) int {
		if !c.is("daemon") {
			c.drop("--state-root")
		}
		return c.run()
	},
	"root-environment-before-flag": func(c *call) int {
		if os.Getenv("AXON_ROOT") != "" {
			c.drop("--state-root")
		}
		return c.run()
	},
	"root-environment-unread": func(c *call) int {
		_ = os.Unsetenv("AXON_ROOT")
		return c.run()
	},
	"root-not-in-home": func(c *call) int {
		if _, i := c.value("--state-root"); i < 0 && os.Getenv("AXON_ROOT") == "" {
			here, _ := os.Getwd()
			_ = os.Setenv("AXON_ROOT", filepath.Join(here, "state"))
		}
		return c.run()
	},

	// Port.
	"port-flag-behind-configuration": on(func(c *call) int {
		if strings.Contains(c.read("config.yaml"), "port:") {
			c.drop("--port")
		}
		return c.run()
	}, "daemon"),

	// Signals.
	"daemon-ends-with-code-143": on(func(c *call) int {
		code := c.run()
		if code == 0 {
			code = 143
		}
		return code
	}, "daemon"),
	"daemon-ends-with-code-1-when-terminated": on(func(c *call) int {
		hit := make(chan os.Signal, 1)
		signal.Notify(hit, syscall.SIGTERM)
		code := c.run()
		if len(hit) > 0 {
			code = 1
		}
		return code
	}, "daemon"),
	"daemon-leaves-socket": on(func(c *call) int {
		code := c.run()
		c.write("axon.sock", "")
		return code
	}, "daemon"),
	"daemon-drops-connections":             dying(0, func(c *call) { _ = os.Remove(c.inRoot("axon.sock")) }, os.Interrupt, syscall.SIGTERM),
	"daemon-drops-connections-interrupted": dying(0, func(c *call) { _ = os.Remove(c.inRoot("axon.sock")) }, os.Interrupt),
	"daemon-dies-of-signal":                dying(130, nil, os.Interrupt, syscall.SIGTERM),

	// Key file.
	"key-overwritten": restarted(func(c *call) {
		if !c.keyIsGood() {
			_ = os.Remove(c.inRoot("identity.key"))
		}
	}),
	"key-empty-overwritten": restarted(func(c *call) {
		if c.exists("identity.key") && c.read("identity.key") == "" {
			_ = os.Remove(c.inRoot("identity.key"))
		}
	}),
	"key-refused-and-cleared": on(func(c *call) int {
		bad := !c.keyIsGood()
		code := c.run()
		if bad {
			c.write("identity.key", "")
		}
		return code
	}, "daemon"),
	"key-refused-by-code-2": on(func(c *call) int {
		bad := !c.keyIsGood()
		code := c.run()
		if bad {
			code = 2
		}
		return code
	}, "daemon"),
	"key-refused-without-a-way-out": on(func(c *call) int {
		if c.keyIsGood() {
			return c.run()
		}
		_, _, code := c.caught()
		c.say("", "axon: identity.key: illegal base64 data at input byte 4\n")
		return code
	}, "daemon"),

	// Life.
	"peers-forgotten-at-restart": restarted(func(c *call) { _ = os.RemoveAll(c.inRoot("known_peers.json")) }),
	"stale-socket-hinders": on(func(c *call) int {
		if c.exists("axon.sock") && !c.answered() {
			c.say("", "axon: axon.sock exists; remove it\n")
			return 1
		}
		return c.run()
	}, "daemon"),
	"second-daemon-unnamed": on(func(c *call) int {
		if !c.second() {
			return c.run()
		}
		_, text, code := c.caught()
		c.say("", digits.ReplaceAllString(text, "N"))
		return code
	}, "daemon"),
	"second-daemon-takes-socket": on(func(c *call) int {
		if c.second() {
			_ = os.Remove(c.inRoot("axon.sock"))
		}
		return c.run()
	}, "daemon"),
	"second-daemon-ends-with-code-0": on(func(c *call) int {
		taken := c.second()
		code := c.run()
		if taken {
			code = 0
		}
		return code
	}, "daemon"),
	"known-peers-hinder": on(func(c *call) int {
		if !c.peersAreGood() {
			c.say("", "axon: known_peers.json cannot be read; remove it\n")
			return 1
		}
		return c.run()
	}, "daemon"),
	"known-peers-deleted": restarted(func(c *call) {
		if !c.peersAreGood() {
			_ = os.RemoveAll(c.inRoot("known_peers.json"))
			fmt.Fprintln(c.err, "known_peers.json was damaged")
		}
	}),
	"known-peers-folder-hinders": on(func(c *call) int {
		if info, err := os.Stat(c.inRoot("known_peers.json")); err == nil && info.IsDir() {
			c.say("", "axon: known_peers.json is a directory\n")
			return 1
		}
		return c.run()
	}, "daemon"),
	"known-peers-set-aside-silently": on(func(c *call) int {
		real := c.err
		c.err = writer(func(p []byte) (int, error) {
			if strings.Contains(string(p), "known_peers.json") {
				return len(p), nil
			}
			return real.Write(p)
		})
		return c.run()
	}, "daemon"),
}

// lines of a text, without the ends.
func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

func joined(list []string) string { return strings.Join(list, "\n") + "\n" }

// dropLines takes lines out.
func dropLines(text string, drop func(string) bool) string {
	return joined(slices.DeleteFunc(lines(text), drop))
}
