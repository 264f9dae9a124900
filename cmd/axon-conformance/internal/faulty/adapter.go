package faulty

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// adapter is the argument by which the program stands between `axon serve` and the
// program that it runs: PROGRAM FAULT adapter PROGRAM ARGUMENTS.
const adapter = "adapter"

// adapted puts the adapter before the command of `axon serve`.
func adapted(c *call) int {
	if command, i := c.value("--command"); i > 0 {
		self, _ := os.Executable()
		c.set("--command", fmt.Sprintf("'%s' '%s' '%s' %s %s", self, Argument, c.name, adapter, command))
	}
	return c.run()
}

// Argument is the hidden first argument of the program by which it comes here; the
// next one names the fault.
const Argument = "faulty-axon"

// adapt runs a program in a faulty way.
func (c *call) adapt(command []string) int {
	input, _ := io.ReadAll(c.in)
	var envelope map[string]json.RawMessage
	_ = json.Unmarshal(input, &envelope)
	switch c.name {
	case "serve-hands-payload":
		input = envelope["payload"]
	case "serve-hands-no-from":
		delete(envelope, "from")
		input, _ = json.Marshal(envelope)
	case "serve-hands-wire-ids":
		envelope["id"] = json.RawMessage(`"00000000-0000-4000-8000-000000000000"`)
		input, _ = json.Marshal(envelope)
	case "serve-drops-arguments":
		command = command[:min(2, len(command))]
	case "serve-splits-quotes":
		command = strings.Fields(strings.Join(command, " "))
	case "serve-echoes-envelope":
		_, _ = c.out.Write(input)
		return 0
	case "serve-leaves-children":
		return c.detached(command, input)
	}
	out, code := c.program(command, input)
	if c.name == "serve-ignores-exit-code" {
		code = 0
	}
	_, _ = c.out.Write(out)
	return code
}

func (c *call) program(command []string, input []byte) ([]byte, int) {
	run := exec.CommandContext(c.ctx, command[0], command[1:]...)
	run.Stdin = bytes.NewReader(input)
	run.Stderr = c.err
	out, err := run.Output()
	if err != nil && run.ProcessState == nil {
		return nil, 1
	}
	return out, run.ProcessState.ExitCode()
}
