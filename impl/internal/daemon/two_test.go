package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/ipc"
	"github.com/axonproto/axon/impl/internal/peers"
)

// pair returns two daemons, of which the second has enrolled the first and the
// first the second, over their sockets, and a client of each.
func pair(t *testing.T) (one, two *started, a, b *local) {
	t.Helper()
	rootOne, rootTwo := t.TempDir(), t.TempDir()
	one, two = start(t, rootOne), start(t, rootTwo)
	a, b = attach(t, rootOne), attach(t, rootTwo)
	enrol(t, a, rootTwo, two.addr)
	enrol(t, b, rootOne, one.addr)
	return one, two, a, b
}

func own(t *testing.T, root string) *identity.Identity {
	t.Helper()
	id, err := identity.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func enrol(t *testing.T, l *local, root, addr string) {
	t.Helper()
	token := identity.Token{PublicKey: own(t, root).Public, Addr: addr}
	l.wantOK(`{"cmd":"add_peer","token":"` + token.String() + `"}`)
}

func (l *local) wantOK(line string) string {
	l.t.Helper()
	got := l.ask(line)
	if !strings.HasPrefix(got, `{"ok":true`) {
		l.t.Fatalf("%.300s: %s", line, got)
	}
	return got
}

func TestTwoDaemons(t *testing.T) {
	one, two, a, b := pair(t)
	idOne, idTwo := own(t, one.root), own(t, two.root)
	b.wantOK(`{"cmd":"serve"}`)
	ask := `{"cmd":"send","to":"` + string(idTwo.ID) + `","kind":"request","payload":{"n": 1e400},"timeout_secs":20}`
	a.send(ask)
	var request struct {
		Event, From string
		RequestID   string `json:"request_id"`
		Envelope    json.RawMessage
	}
	line := b.line()
	if err := json.Unmarshal([]byte(line), &request); err != nil || request.Event != "request" || request.From != string(idOne.ID) || !strings.Contains(line, `"payload":{"n": 1e400}`) {
		t.Fatalf("%s", line)
	}
	// A request that waits holds up nobody.
	if got := attach(t, one.root).ask(`{"cmd":"peers"}`); !strings.Contains(got, `"status":"connected"`) || !strings.Contains(got, `"rtt_ms":`) {
		t.Errorf("%s", got)
	}
	b.wantOK(`{"cmd":"reply","request_id":"` + request.RequestID + `","kind":"error","payload":{"code":"no_such_thing"}}`)
	if got := a.line(); !strings.HasPrefix(got, `{"ok":true,"msg_id":"`+request.RequestID+`","response":{`) || !strings.Contains(got, `"kind":"error","from":"`+string(idTwo.ID)+`","to":"`+string(idOne.ID)+`","payload":{"code":"no_such_thing"},"ref":"`+request.RequestID+`"}`) {
		t.Errorf("%s", got)
	}

	// The largest envelope there is arrives whole.
	e := envelope.New(envelope.Message, []byte(`{"a":""}`))
	text := strings.Repeat("z", envelope.MaxSize-len(e.Append(nil)))
	sent := a.wantOK(`{"cmd":"send","to":"` + string(idTwo.ID) + `","kind":"message","payload":{"a":"` + text + `"}}`)
	if got := b.line(); !strings.HasPrefix(got, `{"event":"inbound","from":"`+string(idOne.ID)+`"`) || !strings.Contains(got, `"payload":{"a":"`+text+`"}}`) {
		t.Errorf("%.200s, %d bytes", got, len(got))
	}
	if strings.Contains(sent, "response") {
		t.Error(sent)
	}

	// A requester that gives up is told of.
	c := attach(t, one.root)
	c.send(ask)
	line = b.line()
	_ = c.conn.Close()
	if err := json.Unmarshal([]byte(line), &request); err != nil {
		t.Fatal(err)
	}
	if got, want := b.line(), `{"event":"request_cancelled","request_id":"`+request.RequestID+`","from":"`+string(idOne.ID)+`"}`; got != want {
		t.Errorf("got %s", got)
	}

	// A removed peer is gone at once, on both sides.
	a.wantOK(`{"cmd":"remove_peer","agent_id":"` + string(idTwo.ID) + `"}`)
	if got := a.ask(ask); !strings.Contains(got, `"error":"peer_not_found"`) {
		t.Error(got)
	}
	back := `{"cmd":"send","to":"` + string(idOne.ID) + `","kind":"request","payload":{},"timeout_secs":20}`
	// The first ones may still meet the closing connection.
	refused := b.ask(back)
	for end := time.Now().Add(20 * time.Second); !strings.Contains(refused, "axon identity") && time.Now().Before(end); {
		refused = b.ask(back)
	}
	if !strings.Contains(refused, `"error":"peer_unreachable"`) || !strings.Contains(refused, "axon identity") {
		t.Error(refused)
	}
	enrol(t, a, two.root, two.addr)
	if got := b.ask(back); !strings.Contains(got, `"code":"unhandled"`) {
		t.Error(got)
	}
}

// TestRequestTimesOut tells the end of the time from a peer that is away, and
// dialling counts.
func TestRequestTimesOut(t *testing.T) {
	one, two, a, b := pair(t)
	b.wantOK(`{"cmd":"serve"}`)
	begin := time.Now()
	if got := a.ask(`{"cmd":"send","to":"` + string(own(t, two.root).ID) + `","kind":"request","payload":{},"timeout_secs":1}`); !strings.Contains(got, `"error":"timeout"`) || time.Since(begin) < time.Second {
		t.Errorf("%s", got)
	}
	if got := b.line(); !strings.Contains(got, `"event":"request"`) {
		t.Error(got)
	}
	if got := b.line(); !strings.Contains(got, `"event":"request_cancelled"`) {
		t.Error(got)
	}
	hole, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer hole.Close()
	silent, err := identity.Generate()
	if err != nil {
		t.Fatal(err)
	}
	a.wantOK(`{"cmd":"add_peer","pubkey":"` + identity.EncodePublicKey(silent.Public) + `","addr":"` + hole.LocalAddr().String() + `"}`)
	begin = time.Now()
	if got := a.ask(`{"cmd":"send","to":"` + string(silent.ID) + `","kind":"request","payload":{},"timeout_secs":1}`); !strings.Contains(got, `"error":"timeout"`) || time.Since(begin) < time.Second {
		t.Errorf("%s", got)
	}
	// Another key at an address that is pinned replaces nothing.
	other, err := identity.Generate()
	if err != nil {
		t.Fatal(err)
	}
	if got := a.ask(`{"cmd":"add_peer","pubkey":"` + identity.EncodePublicKey(other.Public) + `","addr":"` + hole.LocalAddr().String() + `"}`); !strings.Contains(got, `"error":"peer_conflict"`) {
		t.Error(got)
	}
	_ = one
}

// TestDrain lets the handler answer after the daemon was told to stop.
func TestDrain(t *testing.T) {
	root := t.TempDir()
	notices := listenForNotices(t)
	s := start(t, root)
	ctx, qc := s.dial(t)
	l := attach(t, root)
	l.wantOK(`{"cmd":"serve"}`)
	answered := make(chan string, 1)
	go func() {
		got, err := ask(ctx, qc, request)
		if err != nil {
			t.Error(err)
		}
		answered <- got
	}()
	l.line()
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	for {
		if _, err := os.Stat(filepath.Join(root, ipc.SocketFile)); err != nil {
			break
		}
	}
	if _, err := net.Dial("unix", filepath.Join(root, ipc.SocketFile)); err == nil {
		t.Error("the socket still takes clients in")
	}
	l.wantOK(`{"cmd":"reply","request_id":"` + id + `","kind":"response","payload":{"late":true}}`)
	if got := <-answered; !strings.Contains(got, `"payload":{"late":true}`) {
		t.Errorf("%s", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(l.r); err != nil || len(rest) > 0 {
		t.Errorf("the client got %q, %v", rest, err)
	}
	for _, want := range []string{"READY=1", "STOPPING=1"} {
		if got := notices(); got != want {
			t.Errorf("the service manager was told %q", got)
		}
	}
}

func listenForNotices(t *testing.T) func() string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no service manager of this kind here")
	}
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(ceiling))
	t.Setenv("NOTIFY_SOCKET", path)
	return func() string {
		b := make([]byte, 256)
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
}

// TestSecondDaemon leaves the first one as it is.
func TestSecondDaemon(t *testing.T) {
	root := t.TempDir()
	start(t, root)
	port := 0
	err := Run(t.Context(), Options{StateRoot: root, Port: &port, Listen: "127.0.0.1", Logger: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("a daemon with pid %d already uses this state root; ", os.Getpid())) {
		t.Errorf("%v", err)
	}
	attach(t, root).wantOK(`{"cmd":"status"}`)
}

// TestKnownPeersDamaged starts whatever is in the place of known_peers.json.
func TestKnownPeersDamaged(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"corrupt":   func(path string) error { return os.WriteFile(path, []byte(`{"version":1,"peers":[{`), 0o600) },
		"empty":     func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"directory": func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if err := make(filepath.Join(root, peers.File)); err != nil {
				t.Fatal(err)
			}
			s := start(t, root)
			l := attach(t, root)
			enrol(t, l, t.TempDir(), "127.0.0.1:9")
			if !strings.Contains(s.log.String(), "known peers could not be read") {
				t.Errorf("no warning in %s", s.log)
			}
		})
	}
}

// TestReadOnlyStateRoot fails with a clear error and leaves nothing half made.
func TestReadOnlyStateRoot(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("this user may write everywhere; run the tests as another one")
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o500); err != nil {
		t.Fatal(err)
	}
	port := 0
	err := Run(t.Context(), Options{StateRoot: root, Port: &port, Listen: "127.0.0.1", Logger: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "--state-root") {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(root); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

const childRoot = "AXON_TEST_CHILD_ROOT"

// TestChild is no test: it is the daemon that TestKilled kills.
func TestChild(t *testing.T) {
	root := os.Getenv(childRoot)
	if root == "" {
		t.Skip("runs as the child of TestKilled alone")
	}
	o := Options{StateRoot: root, Listen: "127.0.0.1", Logger: slog.New(slog.NewJSONHandler(os.Stdout, nil))}
	if port := 0; os.Getenv(childKeepsPort) == "" {
		o.Port = &port
	}
	_ = Run(context.Background(), o)
}

func child(t *testing.T, root string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childRoot+"="+root)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var seen bytes.Buffer
	for b := make([]byte, 4096); !bytes.Contains(seen.Bytes(), []byte(`"msg":"ready"`)); {
		n, err := out.Read(b)
		if err != nil {
			t.Fatalf("the daemon did not start: %s", &seen)
		}
		seen.Write(b[:n])
	}
	return cmd
}

// TestKilled starts again after kill -9, with all it had been told and with no
// step by hand.
func TestKilled(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	first := child(t, root)
	port := 0
	err := Run(t.Context(), Options{StateRoot: root, Port: &port, Listen: "127.0.0.1", Logger: slog.New(slog.DiscardHandler)})
	if want := fmt.Sprintf("a daemon with pid %d already uses this state root; ", first.Process.Pid); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v", err)
	}
	enrol(t, attach(t, root), other, "127.0.0.1:9")
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	if _, err := os.Lstat(filepath.Join(root, ipc.SocketFile)); err != nil {
		t.Fatalf("nothing is left behind, so that this shows nothing: %v", err)
	}
	child(t, root)
	got := attach(t, root).wantOK(`{"cmd":"peers"}`)
	if !strings.Contains(got, string(own(t, other).ID)) || !strings.Contains(got, `"source":"enrolled"`) {
		t.Error(got)
	}
}

// TestPeerThatRestarted is asked again without a step by hand, though we still
// hold the connection to the process that was killed.
func TestPeerThatRestarted(t *testing.T) {
	rootOne, rootTwo := t.TempDir(), t.TempDir()
	one := start(t, rootOne)
	a := attach(t, rootOne)
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	addr := udp.LocalAddr().String()
	_ = udp.Close()
	_, fixed, _ := net.SplitHostPort(addr)
	idOne := own(t, rootOne)
	text := fmt.Sprintf("port: %s\nlisten_addr: 127.0.0.1\npeers:\n  - agent_id: %s\n    pubkey: %s\n", fixed, idOne.ID, identity.EncodePublicKey(idOne.Public))
	if err := os.WriteFile(filepath.Join(rootTwo, config.File), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(childKeepsPort, "1")
	first := child(t, rootTwo)
	enrol(t, a, rootTwo, addr)
	line := `{"cmd":"send","to":"` + string(own(t, rootTwo).ID) + `","kind":"request","payload":{"pad":"0123456789"},"timeout_secs":15}`
	if got := a.ask(line); !strings.Contains(got, `"code":"unhandled"`) {
		t.Fatal(got)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	child(t, rootTwo)
	// A while later: a peer that was there just now may have seen the request before it
	// ended, and it is for who asked to ask again.
	time.Sleep(700 * time.Millisecond)
	if got := a.ask(line); !strings.Contains(got, `"code":"unhandled"`) {
		t.Error(got)
	}
	_ = one
}

// childKeepsPort lets the child listen where its configuration says.
const childKeepsPort = "AXON_TEST_CHILD_KEEPS_PORT"
