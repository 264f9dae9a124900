package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/axonproto/axon/schemas"
)

// TestFuzz: nothing is found in the bundled daemon, and the same seed sends the same.
func TestFuzz(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "fuzz", "--seed", "4", "--inputs", "1200")
	if code := p.code(t); code != 0 || !strings.Contains(p.out.String(), "nothing found") || !strings.Contains(p.out.String(), "seed 4: 1200 inputs") {
		t.Fatalf("exit %d\n%s", code, p.saw())
	}
	if left := p.leftBehind(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"--inputs -1", "must not be negative", 2},
		{"--duration 0", "would not end", 2},
		{"--max-memory 0", "from 1 on", 2},
		{"--pid 1", "belong to a --target", 2},
		{"--seed x", "--seed cannot be", 2},
		{"--target 127.0.0.1", "the port is missing", 2},
		{"--target 127.0.0.1:1 --timeout 300ms --identity " + filepath.Join(t.TempDir(), "key"), "start the target", 3},
	} {
		p := newProgram(t, append([]string{"fuzz"}, strings.Fields(c.args)...)...)
		if code := p.code(t); code != c.code || !strings.Contains(p.errOut.String(), c.want) {
			t.Errorf("fuzz %s: exit %d, want %d and %q\n%s", c.args, code, c.code, c.want, p.saw())
		}
	}
}

// TestWhatFuzzPrintsCanBeRun: the scenario of a finding fails the peer that it was found
// in and passes the bundled daemon.
func TestWhatFuzzPrintsCanBeRun(t *testing.T) {
	t.Parallel()
	target := aPeer(t, "--fault", "names-any-case")
	p := newProgram(t, "fuzz", "--target", target, "--seed", "4", "--inputs", "1200", "--json")
	if code := p.code(t); code != 1 {
		t.Fatalf("exit %d\n%s", code, p.saw())
	}
	if err := schemas.MustCompile("fuzz/report").Validate(p.out.Bytes()); err != nil {
		t.Error(err)
	}
	var r struct{ Findings []struct{ Scenario string } }
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil || len(r.Findings) == 0 {
		t.Fatalf("%v\n%s", err, p.saw())
	}
	for _, f := range r.Findings {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "found.feature"), []byte("Feature: Found\n\n"+f.Scenario), 0o600); err != nil {
			t.Fatal(err)
		}
		good := newProgram(t, "run", "--features", dir)
		if code := good.code(t); code != 0 {
			t.Errorf("the bundled daemon: exit %d\n%s\n%s", code, f.Scenario, good.saw())
		}
		bad := newProgram(t, "run", "--features", dir, "--target", target)
		if code := bad.code(t); code != 1 {
			t.Errorf("the peer: exit %d\n%s\n%s", code, f.Scenario, bad.saw())
		}
	}
}
