package lantest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/internal/discovery/lantest"
)

// ceiling ends a test that hangs; no passing test waits for it.
const ceiling = 20 * time.Second

// program is the axon that users run, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "axon-lan-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "axon")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "github.com/axonproto/axon/cmd/axon").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build axon: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built {
		if path, err := program(); err == nil {
			_ = os.RemoveAll(filepath.Dir(path))
		}
	}
	os.Exit(code)
}

var built bool // a test has asked for the program

// daemon is an axon daemon in a host. Its socket is a file, so that it can be
// spoken to from outside of the host.
type daemon struct {
	t    *testing.T
	host *lantest.Host
	root string
	cmd  *exec.Cmd
	done chan struct{} // closed: it has ended

	mu      sync.Mutex // guards log and changed
	log     []map[string]any
	changed chan struct{} // closed at the next line
}

// prepare makes a state root with a configuration.
func prepare(t *testing.T, config string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func start(t *testing.T, h *lantest.Host, root string, args ...string) *daemon {
	t.Helper()
	built = true
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	args = append([]string{"daemon", "--state-root", root, "--log-format", "json"}, args...)
	d := &daemon{t: t, host: h, root: root, cmd: h.Command(ctx, path, args...), done: make(chan struct{}), changed: make(chan struct{})}
	out, err := d.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(d.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			d.note(lines.Bytes())
		}
		_ = d.cmd.Wait()
	}()
	t.Cleanup(func() {
		cancel()
		<-d.done
		if t.Failed() {
			t.Logf("log of the daemon in %s:\n%s", root, d.text())
		}
	})
	d.logged("ready")
	return d
}

func (d *daemon) note(line []byte) {
	record := map[string]any{}
	if json.Unmarshal(line, &record) != nil {
		record = map[string]any{"msg": string(line)}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, record)
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *daemon) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	for _, r := range d.log {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}

// logged waits for a record whose message contains the text.
func (d *daemon) logged(text string) {
	d.t.Helper()
	limit := time.After(ceiling)
	for {
		d.mu.Lock()
		changed := d.changed
		for _, r := range d.log {
			if msg, _ := r["msg"].(string); strings.Contains(msg, text) {
				d.mu.Unlock()
				return
			}
		}
		d.mu.Unlock()
		select {
		case <-changed:
		case <-d.done:
			d.t.Fatalf("the daemon ended before it logged %q:\n%s", text, d.text())
		case <-limit:
			d.t.Fatalf("%q was not logged in time:\n%s", text, d.text())
		}
	}
}

// kill ends it as kill -9 does.
func (d *daemon) kill() {
	_ = d.cmd.Process.Kill()
	<-d.done
}

// client is a connection to the local API.
type client struct {
	t     *testing.T
	conn  net.Conn
	lines *bufio.Scanner
}

func (d *daemon) client() *client {
	d.t.Helper()
	conn, err := net.Dial("unix", filepath.Join(d.root, "axon.sock"))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(3 * ceiling))
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	return &client{d.t, conn, lines}
}

// next returns the next line that has the member, an answer ("ok") or an event
// ("event").
func (c *client) next(member string) map[string]any {
	c.t.Helper()
	for c.lines.Scan() {
		line := map[string]any{}
		dec := json.NewDecoder(bytes.NewReader(c.lines.Bytes()))
		if err := dec.Decode(&line); err != nil {
			c.t.Fatalf("line %q: %v", c.lines.Bytes(), err)
		}
		if _, ok := line[member]; ok {
			return line
		}
	}
	err := c.lines.Err()
	if err == nil {
		err = io.EOF
	}
	c.t.Fatalf("no line with %q: %v", member, err)
	return nil
}

func (c *client) do(command string) map[string]any {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(command + "\n")); err != nil {
		c.t.Fatal(err)
	}
	return c.next("ok")
}

func (c *client) id() string {
	c.t.Helper()
	id, _ := c.do(`{"cmd":"whoami"}`)["agent_id"].(string)
	if id == "" {
		c.t.Fatal("whoami tells no agent_id")
	}
	return id
}

// peer returns what is listed of a peer, nil when it is not listed.
func (c *client) peer(id string) map[string]any {
	c.t.Helper()
	list, _ := c.do(`{"cmd":"peers"}`)["peers"].([]any)
	for _, p := range list {
		if m, _ := p.(map[string]any); m["agent_id"] == id {
			return m
		}
	}
	return nil
}

// wait asks for the peer until what is listed of it fits.
func (c *client) wait(id, what string, within time.Duration, fits func(map[string]any) bool) map[string]any {
	c.t.Helper()
	limit := time.After(within)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		p := c.peer(id)
		if fits(p) {
			return p
		}
		select {
		case <-tick.C:
		case <-limit:
			c.t.Fatalf("%s: not within %s; listed is %v", what, within, p)
		}
	}
}

func connected(p map[string]any) bool { return p["status"] == "connected" }

// request sends a request that no handler takes and wants the default error.
func (c *client) request(to string) {
	c.t.Helper()
	answer := c.do(fmt.Sprintf(`{"cmd":"send","to":%q,"kind":"request","payload":{"n":1},"timeout_secs":10}`, to))
	response, _ := answer["response"].(map[string]any)
	payload, _ := response["payload"].(map[string]any)
	if answer["ok"] != true || response["kind"] != "error" || payload["code"] != "unhandled" {
		c.t.Errorf("request to %s: %v", to, answer)
	}
}
