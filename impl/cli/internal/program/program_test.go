package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is also the program that is run: the environment says what it
// does then.
const role = "PROGRAM_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		// Under the race detector each program would rest for a second at its end.
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
		goleak.VerifyTestMain(m)
	case "copy":
		_, _ = io.Copy(os.Stdout, os.Stdin)
		fmt.Fprint(os.Stderr, os.Getenv("EXTRA"))
	case "fail":
		fmt.Println(`{"half":`)
		os.Exit(7)
	case "ignore":
		fmt.Print("{}")
	case "flood":
		for {
			if _, err := os.Stdout.Write(make([]byte, 1000)); err != nil {
				os.Exit(1)
			}
		}
	case "hang", "leave":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=sit")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if os.Getenv(role) == "leave" {
			fmt.Print("{}")
			os.Exit(0)
		}
		_ = child.Wait()
	case "sit":
		fmt.Fprintln(os.Stderr, "sitting")
		<-time.After(5 * time.Minute) // bounded, should the test itself be killed
	}
}

func options(what string) Options {
	return Options{Args: []string{os.Args[0]}, Env: []string{role + "=" + what}}
}

func TestRun(t *testing.T) {
	ctx := t.Context()
	var errs strings.Builder
	o := options("copy")
	o.Env, o.Stderr = append(o.Env, "EXTRA=hello"), &errs
	big := []byte(strings.Repeat("x", 200_000))
	if out, err := Run(ctx, o, big); err != nil || string(out) != string(big) || errs.String() != "hello" {
		t.Errorf("%d bytes, %v, %q", len(out), err, errs.String())
	}
	if out, err := Run(ctx, options("ignore"), big); err != nil || string(out) != "{}" {
		t.Errorf("input ignored: %q, %v", out, err)
	}
	if _, err := Run(ctx, options("fail"), nil); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "7") {
		t.Errorf("failure: %v", err)
	}
	o = options("flood")
	o.MaxOutput = 65536
	if _, err := Run(ctx, o, nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("flood: %v", err)
	}
	if _, err := Run(ctx, Options{Args: []string{"/no/such/program"}}, nil); !errors.Is(err, ErrNotStarted) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Run(ctx, Options{}, nil); !errors.Is(err, ErrNotStarted) {
		t.Errorf("nothing: %v", err)
	}
}

// The pipe on standard error ends when the last process that holds it has: a
// child that survived would make the test hang.
func TestTheWholeFamilyEnds(t *testing.T) {
	for _, what := range []string{"cancelled", "timed out", "left behind"} {
		t.Run(what, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			o := options("hang")
			o.Stderr = w
			gone := errors.New("gone")
			want := gone
			switch what {
			case "timed out":
				o.Timeout, want = 300*time.Millisecond, ErrTimeout
			case "left behind":
				o.Env, o.grace, want = []string{role + "=leave"}, 50*time.Millisecond, nil
			}
			ended := make(chan error, 1)
			go func() {
				_, err := Run(ctx, o, nil)
				_ = w.Close()
				ended <- err
			}()
			in := bufio.NewReader(r)
			if line, err := in.ReadString('\n'); err != nil || line != "sitting\n" {
				if what != "timed out" || !errors.Is(err, io.EOF) { // a slow machine may not come that far
					t.Fatalf("%q, %v", line, err)
				}
			}
			if what == "cancelled" {
				cancel(gone)
			}
			if err := <-ended; !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
			if rest, err := io.ReadAll(in); err != nil || len(rest) != 0 {
				t.Errorf("%q, %v", rest, err)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"a b  c\t\nd":             {"a", "b", "c", "d"},
		`sh -c 'echo "$X" | cat'`: {"sh", "-c", `echo "$X" | cat`},
		`"a b"c 'd'"e"`:           {"a bc", "de"},
		`a\ b "\"q\" \n" ''`:      {"a b", `"q" \n`, ""},
		`./täst ''x`:              {"./täst", "x"},
	} {
		if got, err := split(line, true); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	if got, _ := split(`C:\bin\x.exe a`, false); !slices.Equal(got, []string{`C:\bin\x.exe`, "a"}) {
		t.Errorf("got %q", got)
	}
	for _, line := range []string{"", "  ", `a 'b`, `a "b`, `a\`} {
		if got, err := split(line, true); !errors.Is(err, ErrBadCommand) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
}
