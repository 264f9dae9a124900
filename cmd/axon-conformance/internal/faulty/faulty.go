// Package faulty is the reference command line with one fault at a time. The self test
// runs the suite against it: each fault must be found by the sentence that it breaks.
//
// A fault wraps the real command line: it changes the arguments, the environment, what
// goes in and what comes out, the exit code, or the files of the state root. Faults are
// named as the mutants in conformance/mutants are; a test holds the two together.
//
// It imports impl/cli only.
package faulty

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	axon "github.com/axonproto/axon/impl/cli"
)

// call is one run of the command line.
type call struct {
	ctx      context.Context
	name     string // of the fault
	args     []string
	in       io.Reader
	out, err io.Writer
}

// fault carries out a call in its own way.
type fault func(c *call) int

// Main runs one command with the fault of a name, and returns its exit code.
func Main(ctx context.Context, name string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &call{ctx: ctx, name: name, args: args, in: stdin, out: stdout, err: stderr}
	if len(args) > 0 && args[0] == adapter {
		return c.adapt(args[1:])
	}
	f, known := faults()[name]
	if !known {
		fmt.Fprintf(stderr, "there is no fault called %q; they are %s\n", name, strings.Join(Names(), ", "))
		return axon.ExitUsage
	}
	return f(c)
}

// Names lists the faults.
func Names() []string { return slices.Sorted(maps.Keys(faults())) }

// faults are all of them, by their names.
func faults() map[string]fault {
	all := map[string]fault{}
	for _, group := range []map[string]fault{daemonFaults, relayFaults, outputFaults, sendFaults, serveFaults, peerFaults, careFaults, learnFaults} {
		maps.Copy(all, group)
	}
	return all
}

// run is the command line without a fault.
func (c *call) run() int { return axon.Main(c.ctx, c.args, c.in, c.out, c.err) }

// caught runs it and holds back what it writes.
func (c *call) caught() (out, err string, code int) {
	var o, e bytes.Buffer
	code = axon.Main(c.ctx, c.args, c.in, &o, &e)
	return o.String(), e.String(), code
}

// say writes what was held back, changed or not.
func (c *call) say(out, err string) {
	_, _ = io.WriteString(c.out, out)
	_, _ = io.WriteString(c.err, err)
}

// is tells whether the command is one of the names.
func (c *call) is(names ...string) bool { return slices.Contains(names, c.command()) }

// command is the first word that is no flag and no value of one.
func (c *call) command() string {
	for i := 0; i < len(c.args); i++ {
		switch {
		case c.args[i] == "--state-root":
			i++
		case !strings.HasPrefix(c.args[i], "-"):
			return c.args[i]
		}
	}
	return ""
}

func (c *call) has(word string) bool { return slices.Contains(c.args, word) }

// words are the arguments behind the command that are no flags; of flags that take a
// value only those in that list are known.
func (c *call) words() []string {
	var list []string
	for i := 0; i < len(c.args); i++ {
		switch a := c.args[i]; {
		case slices.Contains([]string{"--state-root", "--timeout", "--port", "--listen", "--command", "--concurrency", "--kind", "--count", "--addr"}, a):
			i++
		case a == "-" || !strings.HasPrefix(a, "-"):
			list = append(list, a)
		}
	}
	return list[min(1, len(list)):]
}

// replace changes an argument that is exactly the given one.
func (c *call) replace(old, by string) {
	c.args = slices.Clone(c.args)
	for i, a := range c.args {
		if a == old {
			c.args[i] = by
		}
	}
}

// value is that of a flag, and where it stands.
func (c *call) value(flag string) (string, int) {
	i := slices.Index(c.args, flag)
	if i < 0 || i+1 >= len(c.args) {
		return "", -1
	}
	return c.args[i+1], i + 1
}

// set gives a flag another value.
func (c *call) set(flag, value string) {
	if _, i := c.value(flag); i > 0 {
		c.args = slices.Clone(c.args)
		c.args[i] = value
	}
}

// drop takes a flag with its value away.
func (c *call) drop(flag string) {
	if _, i := c.value(flag); i > 0 {
		c.args = slices.Delete(slices.Clone(c.args), i-1, i+1)
	}
}

// without takes a flag away that has no value.
func (c *call) without(flag string) {
	c.args = slices.DeleteFunc(slices.Clone(c.args), func(a string) bool { return a == flag })
}

// root is the state root that the command uses.
func (c *call) root() string {
	if v, i := c.value("--state-root"); i > 0 {
		return v
	}
	if v := os.Getenv("AXON_ROOT"); v != "" {
		return v
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, ".axon")
}

func (c *call) inRoot(name string) string { return filepath.Join(c.root(), name) }

func (c *call) read(name string) string {
	b, _ := os.ReadFile(c.inRoot(name))
	return string(b)
}

func (c *call) write(name, text string) { _ = os.WriteFile(c.inRoot(name), []byte(text), 0o600) }

func (c *call) exists(name string) bool {
	_, err := os.Lstat(c.inRoot(name))
	return err == nil
}

// ask runs another command of the program, in the same environment.
func (c *call) ask(args ...string) (out string, code int) {
	o := &bytes.Buffer{}
	code = axon.Main(c.ctx, args, strings.NewReader(""), o, io.Discard)
	return o.String(), code
}

// on makes a fault of some commands alone, and leaves their help as it is.
func on(f fault, names ...string) fault {
	return func(c *call) int {
		if !c.is(names...) || c.has("--help") {
			return c.run()
		}
		return f(c)
	}
}

// edited changes what commands print and return; all commands when none is named.
func edited(edit func(c *call, out, err string, code int) (string, string, int), names ...string) fault {
	return func(c *call) int {
		if len(names) > 0 && (!c.is(names...) || c.has("--help")) || len(names) == 0 && c.is("daemon", "serve", "listen") {
			return c.run()
		}
		out, err, code := c.caught()
		out, err, code = edit(c, out, err, code)
		c.say(out, err)
		return code
	}
}

// ending returns another exit code in place of one.
func ending(was, becomes int, names ...string) fault {
	return edited(func(_ *call, out, err string, code int) (string, string, int) {
		if code == was {
			code = becomes
		}
		return out, err, code
	}, names...)
}

// printing changes standard output.
func printing(edit func(string) string, names ...string) fault {
	return edited(func(_ *call, out, err string, code int) (string, string, int) { return edit(out), err, code }, names...)
}

// complaining changes standard error.
func complaining(edit func(string) string, names ...string) fault {
	return edited(func(_ *call, out, err string, code int) (string, string, int) { return out, edit(err), code }, names...)
}

// instead of one text another.
func instead(old, by string) func(string) string {
	return func(text string) string { return strings.ReplaceAll(text, old, by) }
}

// streaming lets a command that goes on write through another writer.
func streaming(wrap func(io.Writer) io.Writer, names ...string) fault {
	return on(func(c *call) int {
		c.out = wrap(c.out)
		return c.run()
	}, names...)
}

// writer makes a writer of a function.
type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
