package faulty

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// buffered keeps what is written until it is much.
func buffered(w io.Writer) io.Writer {
	var kept bytes.Buffer
	return writer(func(p []byte) (int, error) {
		kept.Write(p)
		if kept.Len() < 64<<10 {
			return len(p), nil
		}
		_, err := kept.WriteTo(w)
		return len(p), err
	})
}

// eachLine changes what a command that goes on prints, line by line; a line that
// becomes empty is left out. It is asked from one goroutine at a time.
func eachLine(edit func(line string) string) func(io.Writer) io.Writer {
	return func(w io.Writer) io.Writer {
		return writer(func(p []byte) (int, error) {
			for line := range strings.Lines(string(p)) {
				if _, err := io.WriteString(w, edit(line)); err != nil {
					return 0, err
				}
			}
			return len(p), nil
		})
	}
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

var serveFaults = map[string]fault{
	"serve-hands-payload":     on(adapted, "serve"),
	"serve-hands-no-from":     on(adapted, "serve"),
	"serve-hands-wire-ids":    on(adapted, "serve"),
	"serve-drops-arguments":   on(adapted, "serve"),
	"serve-splits-quotes":     on(adapted, "serve"),
	"serve-ignores-exit-code": on(adapted, "serve"),
	"serve-leaves-children":   on(adapted, "serve"),
	"serve-one-at-a-time":     on(func(c *call) int { c.set("--concurrency", "1"); return c.run() }, "serve"),
	"serve-all-at-once":       on(func(c *call) int { c.set("--concurrency", "64"); return c.run() }, "serve"),
	"serve-ignores-timeout":   on(func(c *call) int { c.drop("--timeout"); return c.run() }, "serve"),
	"serve-declines-nothing": on(func(c *call) int {
		if command, i := c.value("--command"); i > 0 {
			c.set("--command", "/bin/sh -c '"+strings.ReplaceAll(command, "'", `'"'"'`)+" || echo {}'")
		}
		return c.run()
	}, "serve"),
	"serve-once": on(func(c *call) int {
		done := make(chan struct{}, 1)
		real := c.out
		c.out = writer(func(p []byte) (int, error) {
			select {
			case done <- struct{}{}:
			default:
			}
			return real.Write(p)
		})
		go func() {
			<-done
			os.Exit(0)
		}()
		return c.run()
	}, "serve"),
	"serve-echoes-envelope": on(func(c *call) int {
		if !c.has("--echo") {
			return c.run()
		}
		c.without("--echo")
		c.args = append(c.args, "--command", "/bin/true")
		return adapted(c)
	}, "serve"),
	"serve-echoes-nothing": on(func(c *call) int {
		if c.has("--echo") {
			c.without("--echo")
			c.args = append(c.args, "--command", "/bin/echo {}")
		}
		return c.run()
	}, "serve"),

	"listen-buffers": streaming(buffered, "listen"),
	"listen-doubles": streaming(eachLine(func(line string) string { return line + line }), "listen"),
	"listen-drops-unknown-kinds": streaming(eachLine(func(line string) string {
		if strings.Contains(line, "later") {
			return ""
		}
		return line
	}), "listen"),
	"listen-drops-errors": streaming(eachLine(func(line string) string {
		if strings.Contains(line, `"gone"`) {
			return ""
		}
		return line
	}), "listen"),
	"listen-prints-envelope-alone": streaming(eachLine(func(line string) string {
		var e struct {
			Envelope json.RawMessage `json:"envelope"`
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.Envelope == nil {
			return line
		}
		return string(e.Envelope) + "\n"
	}), "listen"),
	"listen-rewrites-numbers": streaming(eachLine(func(line string) string {
		return strings.ReplaceAll(line, "12345678901234567890", "12345678901234567000")
	}), "listen"),
	"listen-breaks-lines": streaming(eachLine(func(line string) string {
		return strings.ReplaceAll(line, `one\ntwo`, "one\ntwo")
	}), "listen"),
	"listen-ignores-kind": on(func(c *call) int { c.drop("--kind"); return c.run() }, "listen"),
	"listen-counts-before-filter": on(func(c *call) int {
		kind, _ := c.value("--kind")
		if kind == "" {
			return c.run()
		}
		c.drop("--kind")
		c.out = eachLine(func(line string) string {
			if !strings.Contains(line, kind) {
				return ""
			}
			return line
		})(c.out)
		return c.run()
	}, "listen"),
	"listen-ignores-count": on(func(c *call) int {
		if v, _ := c.value("--count"); isNumber(v) {
			c.drop("--count")
		}
		return c.run()
	}, "listen"),
	"listen-count-one-more": on(func(c *call) int {
		if v, _ := c.value("--count"); isNumber(v) {
			n, _ := strconv.Atoi(v)
			c.set("--count", strconv.Itoa(n+1))
		}
		return c.run()
	}, "listen"),
	"listen-count-code-3": on(func(c *call) int {
		code := c.run()
		if code == 0 && c.has("--count") {
			code = 3
		}
		return code
	}, "listen"),
	"listen-timeout-code-0": on(func(c *call) int {
		code := c.run()
		if code == 3 {
			code = 0
		}
		return code
	}, "listen"),
	"listen-timeout-always-code-3": on(func(c *call) int {
		code := c.run()
		if code == 0 && c.has("--timeout") {
			code = 3
		}
		return code
	}, "listen"),
	"listen-ignores-timeout": on(func(c *call) int { c.drop("--timeout"); return c.run() }, "listen"),
	"listen-loses-third": func(c *call) int {
		if c.is("listen") {
			var n atomic.Int32
			c.out = eachLine(func(line string) string {
				if n.Add(1) == 3 {
					return ""
				}
				return line
			})(c.out)
		}
		return c.run()
	},
}
