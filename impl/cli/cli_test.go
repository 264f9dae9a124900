package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The runtime's signal loop starts with the first Notify and never ends.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreAnyFunction("os/signal.loop"))
}

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestUsageErrors(t *testing.T) {
	root := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"dameon"}, `unknown command "dameon"`},
		{[]string{"daemon", "--prot", "1"}, "axon daemon --help"},
		{[]string{"daemon", "extra"}, "axon daemon --help"},
		{[]string{"daemon", "--state-root", root, "--port", "65536"}, "1 to 65535"},
		{[]string{"daemon", "--state-root", root, "--log-format", "xml"}, "text or json"},
		{[]string{"daemon", "--state-root", root, "-q", "-v"}, "exclude each other"},
		{[]string{"version", "x"}, "axon version --help"},
	} {
		code, out, errs := run(t, c.args...)
		if code != ExitUsage || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%v: exit %d, out %q, err %q", c.args, code, out, errs)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	code, out, _ := run(t)
	if code != ExitOK || !strings.Contains(out, "daemon") {
		t.Errorf("exit %d, %q", code, out)
	}
	code, out, _ = run(t, "daemon", "--help")
	if code != ExitOK || !strings.Contains(out, "Examples:") || !strings.Contains(out, "--state-root") {
		t.Errorf("exit %d, %q", code, out)
	}
	code, out, _ = run(t, "version")
	if code != ExitOK || !strings.HasPrefix(out, "axon ") {
		t.Errorf("exit %d, %q", code, out)
	}
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
