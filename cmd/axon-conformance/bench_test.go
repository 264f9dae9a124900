package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axonproto/axon/schemas"
)

// TestBench measures the bundled daemon for an instant: the report is whole, and no
// figure is judged.
func TestBench(t *testing.T) {
	t.Parallel()
	file, page := filepath.Join(t.TempDir(), "b.json"), filepath.Join(t.TempDir(), "b.html")
	p := newProgram(t, "bench", "--in-flight", "2", "--size", "200", "--duration", "30ms", "--rounds", "1", "--connections", "1,2",
		"--report", "json="+file, "--report", "html="+page)
	if code := p.code(t); code != 0 || !strings.Contains(p.out.String(), "handshake") || !strings.Contains(p.out.String(), "handler") || !strings.Contains(p.out.String(), "delivery") {
		t.Fatalf("exit %d\n%s", code, p.saw())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.MustCompile("bench/report").Validate(text); err != nil {
		t.Error(err)
	}
	if !strings.Contains(string(text), `"complete": true`) || strings.Contains(string(text), "failed") {
		t.Errorf("%s", text)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "<svg") {
		t.Errorf("%v", err)
	}
	if left := p.leftBehind(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	diff := newProgram(t, "bench", "diff", file, file)
	if code := diff.code(t); code != 0 || !strings.Contains(diff.out.String(), "+0 %") {
		t.Errorf("exit %d\n%s", code, diff.saw())
	}
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"--load reqest", "there is no load", 2},
		{"--report json", "FORMAT=PATH", 2},
		{"--pid 1", "belong to a --target", 2},
		{"--target 127.0.0.1", "the port is missing", 2},
		{"diff " + file, "two reports", 2},
		{"diff " + file + " nowhere.json", "name a report", 2},
		{"--quick extra", "takes no arguments", 2},
	} {
		p := newProgram(t, append([]string{"bench"}, strings.Fields(c.args)...)...)
		if code := p.code(t); code != c.code || !strings.Contains(p.errOut.String(), c.want) {
			t.Errorf("bench %s: exit %d, want %d and %q\n%s", c.args, code, c.code, c.want, p.saw())
		}
	}
}
