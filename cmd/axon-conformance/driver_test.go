package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/verdict"
)

// Faulty drivers in front of a correct target: whatever the driver does, the target
// is never failed, nothing passes that was not seen, and the report says what the
// driver did.

// playArgument makes the test binary play a driver that passes lines on to and from
// the driver of a correct peer, listening at a socket, and does one thing badly.
const playArgument = "play-the-driver"

// healthyLines are passed on before a driver that dies or hangs does so.
const healthyLines = 14

// relay is such a driver.
type relay struct {
	fault string
	peer  net.Conn

	mu    sync.Mutex // guards what follows
	lines int        // that went to the suite
	held  []string
	cable *cable // where the target can be made to vanish
}

func playDriver(fault, socket string) int {
	peer, err := net.Dial("unix", socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r := &relay{fault: fault, peer: peer}
	if fault == "target vanishes" {
		r.cable = &cable{}
	}
	fmt.Fprintln(os.Stderr, "relaying to", socket)
	go func() {
		lines := bufio.NewScanner(peer)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			r.toSuite(lines.Text())
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for count := 1; lines.Scan(); count++ {
		switch {
		case fault == "dies" && count > healthyLines:
			fmt.Fprintln(os.Stderr, "segmentation fault, as it were")
			return 3
		case fault == "hangs" && count > healthyLines:
			time.Sleep(time.Hour) // ended by the one who started it
		}
		r.toPeer(lines.Text())
	}
	return 0
}

// toPeer passes a command on, or answers it itself.
func (r *relay) toPeer(line string) {
	var c struct {
		Command string `json:"command"`
		Number  int    `json:"number"`
		Kind    string `json:"kind"`
	}
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		panic(err)
	}
	answer := func(members string) {
		fmt.Printf(`{"answer":"%s","number":%d%s}`+"\n", c.Command, c.Number, members)
	}
	const unsupported = `,"error":{"code":"unsupported","message":"there is no such command"}`
	switch {
	case c.Command == "stop":
		answer("")
		return
	case r.cable != nil && c.Command == "restart":
		r.cable.cut.Store(false)
		answer("")
		return
	case r.cable != nil && c.Command == "send":
		r.cable.cut.Store(true)
	case c.Command == "hello" && r.fault == "claims nothing":
		answer(`,"version":1,"capabilities":["enroll"],"implementation":{"name":"humble","version":"1"}`)
		return
	case c.Command == "hello", c.Command == "enroll" && r.fault != "does nothing":
	case r.fault == "claims only" && c.Command != "restart":
		answer(unsupported)
		return
	case r.fault == "yes to all":
		answer("")
		return
	case r.fault == "does nothing" && c.Kind == "request":
		answer(`,"id":"` + "7d1f0e3a-9c55-4a4e-8b1e-5a3f0e6b2c11" + `","response":{"kind":"response","payload":{}}`)
		return
	case r.fault == "does nothing" && slices.Contains([]string{"send", "serve", "unserve"}, c.Command):
		answer("")
		return
	}
	_, _ = io.WriteString(r.peer, line+"\n")
}

// toSuite passes an answer or an event on.
func (r *relay) toSuite(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines++
	event := strings.Contains(line, `"event":`)
	switch {
	case r.cable != nil && strings.Contains(line, `"answer":"hello"`):
		var hello struct {
			Target struct {
				Address string `json:"address"`
			} `json:"target"`
		}
		if err := json.Unmarshal([]byte(line), &hello); err != nil {
			panic(err)
		}
		line = strings.Replace(line, hello.Target.Address, r.cable.to(hello.Target.Address), 1)
	case event && (r.fault == "claims only" || r.fault == "does nothing" || r.fault == "shows nothing"):
		return
	case r.fault == "noise":
		fmt.Println("DEBUG got a line")
		fmt.Println(`{"level":"debug","msg":"got a line"}`)
		fmt.Fprintln(os.Stderr, "passing a line on")
	case r.fault == "torn" && r.lines > healthyLines && r.lines%5 == 0:
		fmt.Println(line[:len(line)/2])
		return
	case r.fault == "answers twice" && !event:
		fmt.Println(line)
	case r.fault == "another order":
		// Two and two change places; one that is alone goes on after a while.
		if r.held = append(r.held, line); len(r.held) == 1 {
			time.AfterFunc(5*time.Millisecond, func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.flush()
			})
			return
		}
		r.flush()
		return
	}
	fmt.Println(line)
}

func (r *relay) flush() {
	slices.Reverse(r.held)
	for _, line := range r.held {
		fmt.Println(line)
	}
	r.held = nil
}

// cable passes UDP packets on to a target and back, and can be cut: the target then
// seems to have died.
type cable struct {
	cut     atomic.Bool
	address string
}

// to is an address that leads to the target's.
func (c *cable) to(target string) string {
	if c.address != "" {
		return c.address
	}
	front, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	c.address = front.LocalAddr().String()
	go func() {
		back := map[string]net.Conn{}
		for buffer := make([]byte, 64<<10); ; {
			n, from, err := front.ReadFrom(buffer)
			if err != nil {
				return
			}
			way := back[from.String()]
			if way == nil {
				if way, err = net.Dial("udp", target); err != nil {
					panic(err)
				}
				back[from.String()] = way
				go func() {
					for buffer := make([]byte, 64<<10); ; {
						n, err := way.Read(buffer)
						if err != nil {
							return
						}
						if !c.cut.Load() {
							_, _ = front.WriteTo(buffer[:n], from)
						}
					}
				}()
			}
			if !c.cut.Load() {
				_, _ = way.Write(buffer[:n])
			}
		}
	}()
	return c.address
}

// TestATargetThatVanishesIsStartedAgain: what comes after can still be judged.
func TestATargetThatVanishesIsStartedAgain(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "driver")
	background(t, `listens at`, buildMinimalPeer(t), "--driver-listen", socket)
	p := newProgram(t, "run", "--driver", fmt.Sprintf("'%s' %s 'target vanishes' '%s'", self, playArgument, socket),
		"--requirement", "AXON-KIND-001,AXON-FWD-002,AXON-LIMIT-006", "--timeout", "1s", "--report", "json=-")
	if code := p.code(t); code == 0 || code == 4 {
		t.Fatalf("exit %d\n%s", code, p.saw())
	}
	r := parse(t, p.out.Bytes())
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "started again") {
		t.Errorf("notes %s", notes)
	}
	for _, q := range r.Requirements {
		if q.ID == "AXON-LIMIT-006" && q.Verdict != verdict.Pass {
			t.Errorf("%s: %s", q.ID, q.Verdict)
		}
	}
}

// Requirements of each need, and some of none.
const driven = "AXON-KIND-001,AXON-KIND-004,AXON-KIND-007,AXON-FWD-003,AXON-ENV-006,AXON-TLS-008," +
	"AXON-DEFERR-007,AXON-DEFERR-008,AXON-LIMIT-006"

func TestFaultyDrivers(t *testing.T) {
	peer := buildMinimalPeer(t)
	for _, c := range []struct {
		fault string
		code  int
		// says is what the report says of the driver, in notes or reasons.
		says []string
		// blocked are requirements that could not be judged to the end.
		blocked []string
	}{
		{fault: "none"},
		{fault: "noise", says: []string{"DEBUG got a line", "none of its protocol"}},
		{fault: "another order"},
		{fault: "answers twice", says: []string{"a second time"}},
		{fault: "torn", code: 3, says: []string{"none of its protocol"}},
		{fault: "dies", code: 3, says: []string{"has ended (exit status 3)", "segmentation fault, as it were"}, blocked: []string{"AXON-DEFERR-007", "AXON-TLS-008"}},
		{fault: "hangs", code: 3, says: []string{"the driver hangs"}, blocked: []string{"AXON-DEFERR-007", "AXON-TLS-008"}},
		{fault: "claims only", code: 3, says: []string{"claims what it does not have", "either the driver or the target does not do it at all"},
			blocked: []string{"AXON-KIND-001", "AXON-DEFERR-007", "AXON-FWD-003", "AXON-ENV-006", "AXON-TLS-008"}},
		{fault: "does nothing", code: 3, says: []string{"either the driver or the target does not do it at all"},
			blocked: []string{"AXON-KIND-001", "AXON-DEFERR-007", "AXON-FWD-003", "AXON-ENV-006", "AXON-TLS-008"}},
		{fault: "shows nothing", code: 3, says: []string{"either the driver or the target does not do it at all"},
			blocked: []string{"AXON-DEFERR-007", "AXON-FWD-003", "AXON-ENV-006"}},
		{fault: "claims nothing", says: []string{"although it does not claim observe"}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			r := runFaulty(t, peer, c.fault, c.code)
			text := strings.Join(r.Notes, "\n")
			for _, q := range r.Requirements {
				for _, s := range q.Scenarios {
					text += "\n" + s.Reason
					if s.Verdict == verdict.Fail || s.Verdict == verdict.Warn || s.Verdict == verdict.HarnessError {
						t.Errorf("%s at %s: %s: %s", q.ID, s.Location, s.Verdict, s.Reason)
					}
				}
				switch want := verdict.CouldNotRun; {
				case slices.Contains(c.blocked, q.ID) && q.Verdict != want:
					t.Errorf("%s: %s, want %s", q.ID, q.Verdict, want)
				case q.ID == "AXON-LIMIT-006" && c.fault != "torn" && c.fault != "hangs" && q.Verdict != verdict.Pass:
					t.Errorf("%s needs no driver: %s", q.ID, q.Verdict)
				}
			}
			for _, part := range c.says {
				if !strings.Contains(text, part) {
					t.Errorf("%q is not said; notes and reasons:\n%s", part, text)
				}
			}
			if len(c.says) == 0 && strings.Contains(strings.Join(r.Notes, "\n"), "driver") {
				t.Errorf("notes %q", r.Notes)
			}
		})
	}
}

// runFaulty judges a fresh peer behind a faulty driver.
func runFaulty(t *testing.T, peer, fault string, code int) report.Report {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "driver")
	address := background(t, `listens at (\S+),`, peer, "--driver-listen", socket)[1]
	p := newProgram(t, "run", "--target", address, "--driver", fmt.Sprintf("'%s' %s '%s' '%s'", self, playArgument, fault, socket),
		"--requirement", driven, "--timeout", "2s", "--report", "json=-")
	if got := p.code(t); got != code {
		t.Fatalf("exit %d, want %d\n%s", got, code, p.saw())
	}
	return parse(t, p.out.Bytes())
}

// TestDriversThatAreRefused: nothing is checked, and no report is written.
func TestDriversThatAreRefused(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "driver")
	background(t, `listens at`, buildMinimalPeer(t), "--driver-listen", socket)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		args []string
		says string
	}{
		{3, []string{"--driver", fmt.Sprintf("'%s' %s 'yes to all' '%s'", self, playArgument, socket)}, "would say yes to anything"},
		{3, []string{"--driver", fmt.Sprintf("'%s' %s none '%s.not'", self, playArgument, socket)}, "has ended (exit status 1)"},
		{3, []string{"--driver", socket + ".program"}, "check the program's name"},
		{3, []string{"--driver-connect", "unix:" + socket + ".not"}, "start it"},
		{2, []string{"--driver", fmt.Sprintf("'%s' %s 'claims nothing' '%s'", self, playArgument, socket)}, "does not say where its target listens"},
		{2, []string{"--driver", "a 'b"}, "is not closed"},
		{2, []string{"--driver-connect", "localhost:7"}, "unix:PATH or tcp:HOST:PORT"},
		{2, []string{"--driver", "a", "--driver-connect", "unix:b"}, "driver-connect"},
	} {
		p := newProgram(t, append([]string{"run", "--report", "json=-"}, c.args...)...)
		if got := p.code(t); got != c.code || !strings.Contains(p.errOut.String(), c.says) {
			t.Errorf("%q: exit %d, want %d and %q\n%s", c.args, got, c.code, c.says, p.saw())
		}
		if p.out.Len() > 0 {
			t.Errorf("%q: something was reported: %s", c.args, p.out.String())
		}
	}
}
