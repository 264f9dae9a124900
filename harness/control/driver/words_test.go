//go:build unix

package driver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"driver":                  {"driver"},
		"  python3 driver.py\t-v": {"python3", "driver.py", "-v"},
		`'my driver' "a b" c\ d`:  {"my driver", "a b", "c d"},
		`a "" ''`:                 {"a", "", ""},
		`"a\"b\\c\d" 'e\f' g\\h`:  {`a"b\c\d`, `e\f`, `g\h`},
		`x='1 2'"3"`:              {"x=1 23"},
	} {
		if got, err := Split(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v", line, got, err)
		}
	}
	for _, line := range []string{"", "  ", "''", `a "b`, `a 'b`, `a \`} {
		if got, err := Split(line); !errors.Is(err, ErrNoCommand) {
			t.Errorf("%q: got %q, %v", line, got, err)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for _, where := range []string{"", "unix", "unix:", "tcp:", "tcp:localhost", "tcp::7", "http://localhost:7", "localhost:7", "tcp:host:"} {
		if _, _, err := ParseAddress(where); err == nil || !strings.Contains(err.Error(), "unix:PATH or tcp:HOST:PORT") && !strings.Contains(err.Error(), connectForms) {
			t.Errorf("%q: %v", where, err)
		}
	}
	for where, want := range map[string][2]string{"unix:/a b": {"unix", "/a b"}, "tcp:[::1]:7": {"tcp", "[::1]:7"}, "tcp:localhost:7": {"tcp", "localhost:7"}} {
		if network, address, err := ParseAddress(where); err != nil || network != want[0] || address != want[1] {
			t.Errorf("%q: %s %s %v", where, network, address, err)
		}
	}
}

func TestStartWhatIsNotThere(t *testing.T) {
	if _, err := Start(t.Context(), []string{filepath.Join(t.TempDir(), "nothing")}, Options{}); err == nil || !strings.Contains(err.Error(), "start the driver") {
		t.Errorf("got %v", err)
	}
	if _, err := Start(t.Context(), nil, Options{}); !errors.Is(err, ErrNoCommand) {
		t.Errorf("got %v", err)
	}
	if _, err := Connect(t.Context(), "unix:"+filepath.Join(t.TempDir(), "nothing"), Options{}); err == nil || !strings.Contains(err.Error(), "start it") {
		t.Errorf("got %v", err)
	}
}

// TestConnect attaches to a driver that is running, and leaves it running.
func TestConnect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lines := make(chan string, 10)
	go func() {
		defer close(lines)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		from := bufio.NewReader(c)
		first, _ := from.ReadString('\n')
		lines <- first
		_, _ = io.WriteString(c, `{"answer":"hello","number":1`+welcome+"}\n")
		// The name of the invented command comes with it.
		second, _ := from.ReadString('\n')
		_, invented, found := strings.Cut(second, "invented_")
		if !found || len(invented) < 8 {
			return
		}
		_, _ = io.WriteString(c, `{"answer":"invented_`+invented[:8]+`","number":2,"error":{"code":"unsupported","message":"no"}}`+"\n")
		rest, _ := io.ReadAll(from)
		lines <- string(rest)
	}()
	d, err := Connect(t.Context(), "unix:"+path, Options{Suite: "test 1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if first := <-lines; first != `{"command":"hello","number":1,"version":1,"suite":"test 1"}`+"\n" {
		t.Errorf("the first line is %s", first)
	}
	if rest := <-lines; rest != "" {
		t.Errorf("it was told %s at the end", rest)
	}
	<-lines
}

func TestCancelled(t *testing.T) {
	d := met(t, "hangs on send")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Send(ctx, message()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
