package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// aPeer starts `peer` and returns its address and, at the end of the test, what it
// printed.
func aPeer(t *testing.T, args ...string) (address string) {
	t.Helper()
	p := newProgram(t)
	// Not ended by the test's context: it shall end by itself when it is asked to.
	p.Cmd = &exec.Cmd{Path: p.Path, Args: append([]string{p.Path, "peer", "--json"}, args...), Env: p.Env, Stderr: &p.errOut}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	lines, drained := bufio.NewReader(out), make(chan struct{})
	t.Cleanup(func() {
		_ = p.Process.Signal(os.Interrupt)
		<-drained
		if err := p.Wait(); err != nil {
			t.Errorf("the peer ended with %v: %s", err, p.errOut.String())
		}
	})
	var ready struct{ Event, Address string }
	line, err := lines.ReadBytes('\n')
	// A peer that cannot print any more waits.
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	if err != nil || json.Unmarshal(line, &ready) != nil || ready.Event != "ready" {
		t.Fatalf("%q, %v: %s", line, err, p.errOut.String())
	}
	return ready.Address
}

// TestPeerAndSend has the two tools for people meet each other.
func TestPeerAndSend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	custom := filepath.Join(dir, "reply.json")
	if err := os.WriteFile(custom, []byte(`{"id":"«id»","kind":"response","payload":{"made":"up"},"ref":"«request id»"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, echo, own := aPeer(t), aPeer(t, "--reply", "echo"), aPeer(t, "--reply", custom)
	twice := aPeer(t, "--fault", "reply-twice")
	const id = "6f1c2f3a-8f1e-4c7b-9d55-0123456789ab"
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{plain}, 0, []string{"unhandled", "received  fin"}},
		{[]string{plain, "--kind", "later", "--id", id}, 0, []string{`"ref":"` + id + `"`}},
		{[]string{plain, "--uni", "--kind", "message"}, 0, []string{"unidirectional", "unhandled"}},
		{[]string{plain, "--bytes", `{"id":`}, 1, []string{"received  reset code 1"}},
		{[]string{plain, "--bytes", `{"id":`, "--no-fin", "--timeout", "300ms"}, 1, nil},
		{[]string{plain, "--hex", "ff fe", "--pieces", "1", "--reset", "7"}, 1, []string{"hex ff", "sent      reset code 7"}},
		{[]string{echo, "--payload", `{"n":1e400}`, "--id", id}, 0, []string{`"payload":{"n":1e400}`, `"ref":"` + id + `"`}},
		{[]string{own, "--id", id}, 0, []string{`"made":"up"`, `"ref":"` + id + `"`}},
		{[]string{twice}, 0, []string{"received  data"}},
		{[]string{plain, "--payload", "{"}, 2, []string{"not JSON"}},
		{[]string{plain, "--hex", "f"}, 2, []string{"two hexadecimal digits"}},
		{[]string{plain, "--file", filepath.Join(dir, "none")}, 2, []string{"none"}},
		{[]string{plain, "--bytes", "a", "--hex", "00"}, 2, []string{"bytes hex"}},
		{[]string{"127.0.0.1"}, 2, []string{"the port is missing"}},
		{[]string{"127.0.0.1:9", "--timeout", "300ms"}, 3, []string{"no connection to 127.0.0.1:9"}},
	} {
		p := newProgram(t, append([]string{"send"}, c.args...)...)
		if code := p.code(t); code != c.code {
			t.Errorf("send %q: exit %d, want %d\n%s", c.args, code, c.code, p.saw())
		}
		for _, part := range c.want {
			if all := p.out.String() + p.errOut.String(); !strings.Contains(all, part) {
				t.Errorf("send %q does not show %q:\n%s", c.args, part, all)
			}
		}
	}
}

// TestPeerThatDials is met by a run that waits for nobody: it only listens, and the
// other one comes.
func TestPeerThatDials(t *testing.T) {
	t.Parallel()
	there := aPeer(t)
	p := newProgram(t, "peer", "--dial", there, "--for", "300ms")
	if code := p.code(t); code != 0 || !strings.Contains(p.out.String(), "completed: TLS 1.3, ALPN axon/1") {
		t.Errorf("exit %d\n%s", code, p.saw())
	}
	for _, c := range []struct{ args, want string }{
		{"--fault reply-twic", "the nearest is reply-twice"},
		{"--fault lan-never-dials", "selftest"},
		{"--reply nowhere.json", "default-error, echo or the name of a file"},
		{"--listen 7100", "HOST:PORT"},
		{"--admit x", "base64"},
	} {
		p := newProgram(t, append([]string{"peer", "--for", "1s"}, strings.Fields(c.args)...)...)
		if code := p.code(t); code != 2 || !strings.Contains(p.errOut.String(), c.want) {
			t.Errorf("peer %s: exit %d, want 2 and %q\n%s", c.args, code, c.want, p.saw())
		}
	}
}
