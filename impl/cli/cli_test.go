package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/cli/internal/program"
	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestDaemonStopsWithItsContext(t *testing.T) {
	t.Setenv("AXON_ROOT", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := writerFunc(func(line []byte) (int, error) {
		if bytes.Contains(line, []byte(`"msg":"ready"`)) {
			cancel()
		}
		return len(line), nil
	})
	code := Main(ctx, []string{"daemon", "--port", "0", "--listen", "127.0.0.1", "--disable-mdns", "--log-format", "json"}, strings.NewReader(""), seen, seen)
	if code != ExitOK {
		t.Errorf("exit %d", code)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, ExitOK},
		{errors.New("any other"), ExitFailed},
		{client.ErrNoDaemon, ExitFailed},
		{client.ErrClosed, ExitFailed},
		{client.ErrInternal, ExitFailed},
		{errInterrupted, ExitFailed},
		{errUnwell, ExitFailed},
		{usagef("wrong"), ExitUsage},
		{client.ErrPeerUnreachable, ExitUsage},
		{client.ErrPeerNotFound, ExitUsage},
		{client.ErrHandlerBusy, ExitUsage},
		{fmt.Errorf("%w: %w", client.ErrClosed, client.ErrOverloaded), ExitUsage},
		{&client.RemoteError{Code: "timeout"}, ExitUsage},
		{config.ErrInvalid, ExitUsage},
		{program.ErrBadCommand, ExitUsage},
		{identity.ErrBadToken, ExitUsage},
		{client.ErrTimeout, ExitTimeout},
		{errTimeout, ExitTimeout},
		{context.DeadlineExceeded, ExitTimeout},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("wrapped: %w", err)
		}
		if got := exitCode(err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

func TestErrorTextIsHarmless(t *testing.T) {
	remote := &client.RemoteError{Code: "bad", Message: "a\nb\x1b[2J"}
	if got := errorText(fmt.Errorf("request: %w", remote)); got != `request: the peer answered with the error bad: a\nb\x1b[2J` {
		t.Errorf("got %q", got)
	}
	if got := errorText(errors.New("of\nours\x07\n")); got != "of\nours\\x07" {
		t.Errorf("got %q", got)
	}
}

func TestNearest(t *testing.T) {
	list := []string{"daemon", "request", "port", "peers"}
	for text, want := range map[string]string{
		"dameon": "daemon", "Daemon": "daemon", "reqest": "request", "rquest": "request", "prot": "port", "poort": "port",
		"pears": "peers", "xyz": "", "": "", "something else altogether": "", strings.Repeat("x", 1000): "",
	} {
		if got := nearest(text, list); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1": time.Second, "3600": time.Hour, "1.5": 1500 * time.Millisecond, "90s": 90 * time.Second, "2m": 2 * time.Minute,
		"0": -1, "3601": -1, "-1": -1, "": -1, "soon": -1, "1e300": -1, "NaN": -1, "2h": -1, "1ms": -1,
	} {
		var d time.Duration
		err := secondsFlag{&d, time.Second, time.Hour}.Set(text)
		if (err != nil) != (want < 0) || err == nil && d != want {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
}

func TestLineWriter(t *testing.T) {
	var b strings.Builder
	l := &lineWriter{w: &b, prefix: "p: "}
	for _, part := range []string{"a", "b\nc\r\n", "\n", strings.Repeat("x", maxLine+1), "\x1b"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	l.flush()
	l.flush()
	if want := "p: ab\np: c\np: \np: " + strings.Repeat("x", maxLine) + "\np: x\\x1b\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

func TestSelf(t *testing.T) {
	p := &app{args: []string{"no", "such", "arguments", "at", "all"}}
	if command, err := p.self(); err != nil || len(command) != 1 {
		t.Errorf("%q, %v", command, err)
	}
}

func TestQuoteWord(t *testing.T) {
	for text, want := range map[string]string{"/a/b-c.d": "/a/b-c.d", "a b": "'a b'", "it's": `'it'\''s'`, "$X": "'$X'"} {
		if got := quoteWord(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
