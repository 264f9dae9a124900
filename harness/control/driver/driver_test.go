//go:build unix

package driver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
)

// begin starts a fake driver.
func begin(t *testing.T, how string, args ...string) (*Driver, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	patience := 30 * time.Second
	if how == "hangs at hello" {
		patience = 50 * time.Millisecond
	}
	d, err := Start(t.Context(), append([]string{self, playArgument, how}, args...), Options{Patience: patience, Pulse: 200 * time.Millisecond})
	if err == nil {
		t.Cleanup(func() { _ = d.Close() })
	}
	return d, err
}

func met(t *testing.T, how string, args ...string) *Driver {
	t.Helper()
	d, err := begin(t, how, args...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// blames demands a *control.Fault whose text has the parts.
func blames(t *testing.T, err error, parts ...string) {
	t.Helper()
	fault, ok := errors.AsType[*control.Fault](err)
	if !ok {
		t.Errorf("the driver is not blamed: %v", err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(fault.Error(), part) {
			t.Errorf("%q is not in %q", part, fault.Error())
		}
	}
}

// soon is a context for what is expected not to be answered.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func enroll(ctx context.Context, d *Driver) error {
	id, err := credential.New()
	if err != nil {
		return err
	}
	return d.Enroll(ctx, id.Public(), "127.0.0.1:7")
}

func message() control.Send {
	return control.Send{To: anyone, Kind: "message", Payload: []byte(`{"n":1e400,"n":-0,"t":"\ud800"}`)}
}

func TestAGoodDriver(t *testing.T) {
	d := met(t, "well")
	if h := d.Hello(); h.Name != "fake" || h.Version != "0.1" || h.Address != "127.0.0.1:7100" {
		t.Errorf("hello: %+v", h)
	}
	if c := d.Capabilities(); !slices.Equal(c, []string{"drive", "handle", "observe"}) {
		t.Errorf("capabilities %v", c)
	}
	o, err := d.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := enroll(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if e, err := o.Next(t.Context()); err != nil || e.From != anyone || !strings.Contains(string(e.Envelope), "1e400") {
		t.Errorf("event %+v, %v", e, err)
	}
	if s, err := d.Send(t.Context(), message()); err != nil || !s.OK || s.Response != nil {
		t.Errorf("sent %+v, %v", s, err)
	}
	ask := control.Send{To: anyone, Kind: "request", Payload: []byte(`{}`), Timeout: time.Second, Ref: "7d1f0e3a-9c55-4a4e-8b1e-5a3f0e6b2c11"}
	if s, err := d.Send(t.Context(), ask); err != nil || !s.OK || s.ID != "x" || !strings.Contains(string(s.Response), `{"n":1e400,"n":-0}`) {
		t.Errorf("sent %+v, %v", s, err)
	}
	h, err := d.Handle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Handle(t.Context()); !errors.Is(err, control.ErrHandlerBusy) {
		t.Errorf("a second handler: %v", err)
	}
	r, err := h.Next(t.Context())
	if err != nil || r.ID != "r1" {
		t.Fatalf("request %+v, %v", r, err)
	}
	if out, err := h.Reply(t.Context(), r, "response", []byte(`{}`)); err != nil || !out.OK {
		t.Errorf("reply: %+v, %v", out, err)
	}
	if out, err := h.Decline(t.Context(), control.Request{ID: "r2"}); err != nil || out.OK || out.Code != "request_not_found" {
		t.Errorf("decline of a request that is not open: %+v, %v", out, err)
	}
	if _, err := h.Cancelled(t.Context()); !errors.Is(err, control.ErrUnsupported) {
		t.Errorf("cancelled: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Restart(t.Context()); err != nil {
		t.Error(err)
	}
	if err := d.Forget(t.Context(), anyone); !errors.Is(err, control.ErrUnsupported) {
		t.Errorf("forget: %v", err)
	}
	if r := d.Remarks(); len(r) > 0 {
		t.Errorf("remarks on a good driver: %q", r)
	}
}

// TestRefused: drivers that are not even begun with, and why.
func TestRefused(t *testing.T) {
	for how, parts := range map[string][]string{
		"dies at once":       {"exit status 7", "cannot find my configuration"},
		"hangs at hello":     {"hangs", "hello"},
		"another version":    {"version 2", "version 1"},
		"no name":            {"hello", "implementation"},
		"unknown capability": {"hello", "/capabilities/0"},
		"refuses hello":      {"driver_failed", "no daemon"},
		"yes to all":         {"said yes to \"invented_", "does not exist", "unsupported"},
		"no, but wrongly":    {"\"what\"", "\"unsupported\""},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			_, err := begin(t, how)
			blames(t, err, parts...)
		})
	}
}

// TestBlamed: what goes wrong later is the driver's fault, and told as such.
func TestBlamed(t *testing.T) {
	send := func(ctx context.Context, d *Driver) error {
		_, err := d.Send(ctx, message())
		return err
	}
	ask := func(ctx context.Context, d *Driver) error {
		_, err := d.Send(ctx, control.Send{To: anyone, Kind: "request", Payload: []byte(`{}`)})
		return err
	}
	handle := func(ctx context.Context, d *Driver) error {
		_, err := d.Handle(ctx)
		return err
	}
	for _, c := range []struct {
		how   string
		act   func(context.Context, *Driver) error
		parts []string
	}{
		{"dies on send", send, []string{"has ended (exit status 3)", "send", "a pointer was null"}},
		{"hangs on send", send, []string{"did not answer send"}},
		{"hangs on serve", handle, []string{"did not answer serve"}},
		{"stops for good on send", send, []string{"hangs", "send"}},
		{"stops for good on send", ask, []string{"hangs", "send"}},
		{"claims too much", send, []string{"claims what it does not have", "send"}},
		{"claims too much", ask, []string{"claims what it does not have", "send"}},
		{"claims too much", handle, []string{"claims what it does not have", "serve"}},
		{"fails", send, []string{"could not do send"}},
		{"fails", ask, []string{"could not do send"}},
		{"another name", send, []string{"as \"restart\"", "that was send"}},
		{"another number", send, []string{"did not answer send"}},
		{"a member too many", send, []string{"cannot be used", "reply"}},
		{"forgets the response", ask, []string{"neither a response nor an error"}},
		{"invents a response", send, []string{"a message with a response"}},
	} {
		t.Run(c.how+", "+c.parts[0], func(t *testing.T) {
			t.Parallel()
			d := met(t, c.how)
			ctx := t.Context()
			if strings.HasPrefix(c.how, "hangs") || strings.HasPrefix(c.how, "stops") || c.how == "another number" {
				ctx = soon(t)
			}
			blames(t, c.act(ctx, d), c.parts...)
		})
	}
}

// TestATargetThatLetsItsCallerWait: the driver lives, so it is not to blame.
func TestATargetThatLetsItsCallerWait(t *testing.T) {
	d := met(t, "hangs on send")
	_, err := d.Send(soon(t), control.Send{To: anyone, Kind: "request", Payload: []byte(`{}`)})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if r := d.Remarks(); len(r) > 0 {
		t.Errorf("remarks %q", r)
	}
}

// TestTheTargetRefuses: its own word is an outcome.
func TestTheTargetRefuses(t *testing.T) {
	d := met(t, "refuses")
	if s, err := d.Send(t.Context(), message()); err != nil || s.OK || s.Code != "peer_not_found" {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestADriverThatHangsIsNotWaitedForAgain: two time-outs are enough.
func TestADriverThatHangsIsNotWaitedForAgain(t *testing.T) {
	d := met(t, "stops for good on send")
	for range maxHanging {
		_, err := d.Send(soon(t), message())
		blames(t, err, "hangs")
	}
	// No deadline: it must come at once.
	_, err := d.Send(t.Context(), message())
	blames(t, err, "hangs", "not asked")
	if r := strings.Join(d.Remarks(), "\n"); !strings.Contains(r, "left send unanswered") {
		t.Errorf("remarks %q", r)
	}
}

func TestAnswersInAnotherOrder(t *testing.T) {
	d := met(t, "other order")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if s, err := d.Send(t.Context(), message()); err != nil || !s.OK {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
	all.Wait()
	if r := d.Remarks(); len(r) > 0 {
		t.Errorf("remarks %q", r)
	}
}

// TestLines: what else a driver writes. Noise is told and changes nothing; what may
// have been an event is a reason not to conclude anything from silence.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		how             string
		comes, troubles bool
		remark          string
	}{
		{"greets first", true, false, "Welcome to the driver!"},
		{"noise", true, false, "debug: enrolling"},
		{"noise with braces", true, false, `{"level":"debug"}`},
		{"broken event", false, true, "too"},
		{"torn event", false, true, "not JSON"},
		{"long line", true, true, "longer than"},
		{"answers twice", false, false, "a second time"},
		{"flood", true, true, ""},
		{"talks to itself", true, false, ""},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			d := met(t, c.how)
			o, err := d.Observe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := enroll(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if !c.comes {
				ctx = soon(t)
			}
			_, err = o.Next(ctx)
			switch {
			case c.comes && err != nil:
				t.Errorf("the event does not come: %v", err)
			case !c.comes && c.troubles:
				blames(t, err, "which may have been an event")
			case !c.comes && !errors.Is(err, context.DeadlineExceeded):
				t.Errorf("got %v", err)
			}
			if trouble := o.Trouble(); (trouble != nil) != c.troubles {
				t.Errorf("trouble: %v", trouble)
			}
			if r := strings.Join(d.Remarks(), "\n"); c.remark == "" && r != "" || !strings.Contains(r, c.remark) {
				t.Errorf("remarks %q", r)
			}
		})
	}
}

// TestReadingWhileEventsCome takes each event as it comes, while others do.
func TestReadingWhileEventsCome(t *testing.T) {
	d := met(t, "many")
	o, err := d.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var enrolling sync.WaitGroup
	enrolling.Go(func() {
		if err := enroll(t.Context(), d); err != nil {
			t.Error(err)
		}
	})
	for i := range manyEvents {
		if _, err := o.Next(t.Context()); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	enrolling.Wait()
	if n := len(o.Seen()); n != manyEvents || o.Trouble() != nil {
		t.Errorf("%d events seen, %v", n, o.Trouble())
	}
}

// TestSilence: a driver that answers and shows nothing is not to blame here; whether
// it can show anything at all is tried by the suite.
func TestSilence(t *testing.T) {
	d := met(t, "shows nothing")
	o, err := d.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Next(soon(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestNotClaimed(t *testing.T) {
	d := met(t, "claims nothing")
	_, err1 := d.Send(t.Context(), message())
	_, err2 := d.Handle(t.Context())
	_, err3 := d.Observe(t.Context())
	for i, err := range []error{err1, err2, err3, enroll(t.Context(), d), d.Restart(t.Context())} {
		if !errors.Is(err, control.ErrUnsupported) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if len(d.Capabilities()) > 0 || d.CanRestart() {
		t.Error("it offers something")
	}
}

// TestNothingIsLeft: whatever the driver started in its group ends with it.
func TestNothingIsLeft(t *testing.T) {
	for _, how := range []string{"leaves a child", "child outlives it"} {
		t.Run(how, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			d := met(t, how, file)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if how == "child outlives it" {
				// The driver is gone long before Close.
				if err := syscall.Kill(d.link.(*process).command.Process.Pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				<-d.over
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			if !ended(pid) {
				t.Errorf("process %d is still there", pid)
			}
		})
	}
}

// ended waits until a process is no more, or only waits to be reaped by whoever
// took it over.
func ended(pid int) bool {
	for range 2000 {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
		}
		if _, rest, _ := strings.Cut(string(text), ") "); strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X") {
			return true
		}
		<-time.After(time.Millisecond) // the kernel tells nobody
	}
	return false
}

// TestAStubbornDriver neither ends when its input does nor when it is asked to.
func TestAStubbornDriver(t *testing.T) {
	d := met(t, "stubborn")
	pid := d.link.(*process).command.Process.Pid
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if !ended(pid) {
		t.Errorf("process %d is still there", pid)
	}
	_, err := d.Send(t.Context(), message())
	blames(t, err, "has ended")
}
