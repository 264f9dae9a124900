package ipc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/axonproto/axon/impl/internal/dispatch"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/links"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/stateroot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ceiling ends a test that hangs; no passing test waits for it.
const ceiling = 20 * time.Second

// world stands for the peers and the way to them.
type world struct {
	mu      sync.Mutex
	known   map[identity.AgentID]peers.Peer
	connect func(context.Context, identity.AgentID) error
	ask     func(context.Context, []byte) ([]byte, error)
	sent    [][]byte
	add     error

	delivered chan struct{} // when set, told of each Send
}

func (w *world) Lookup(id identity.AgentID) (peers.Peer, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.known[id]
	return p, ok
}

func (w *world) Connect(ctx context.Context, id identity.AgentID) error {
	w.mu.Lock()
	connect := w.connect
	w.mu.Unlock()
	if connect == nil {
		return nil
	}
	return connect(ctx, id)
}

func (w *world) List() []links.Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []links.Entry
	for _, p := range w.known {
		list = append(list, links.Entry{Peer: p, Status: links.Connected, RTT: 1234567 * time.Nanosecond})
	}
	return list
}

func (w *world) Add(p peers.Peer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.add != nil {
		return w.add
	}
	w.known[p.ID] = p
	return nil
}

func (w *world) Remove(id identity.AgentID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.known[id]; !ok {
		return links.ErrUnknown
	}
	delete(w.known, id)
	return nil
}

func (w *world) Exchange(ctx context.Context, _ identity.AgentID, body []byte) ([]byte, error) {
	w.mu.Lock()
	ask := w.ask
	w.mu.Unlock()
	return ask(ctx, body)
}

func (w *world) Send(_ context.Context, _ identity.AgentID, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, body)
	if w.delivered != nil {
		w.delivered <- struct{}{}
	}
	return nil
}

// The setters: what the next command finds.

func (w *world) onConnect(f func(context.Context, identity.AgentID) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.connect = f
}

func (w *world) onAsk(f func(context.Context, []byte) ([]byte, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ask = f
}

func (w *world) onAdd(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add = err
}

func (w *world) all() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

func (w *world) Peers() int { return len(w.List()) }

// reflect answers a request with what change makes of a fitting response.
func reflect(change func(e *envelope.Envelope)) func(context.Context, []byte) ([]byte, error) {
	return func(_ context.Context, body []byte) ([]byte, error) {
		request, err := envelope.Decode(body)
		if err != nil {
			return nil, err
		}
		e := envelope.NewReply(envelope.Response, request.ID, request.Payload)
		if change != nil {
			change(&e)
		}
		return e.Append(nil), nil
	}
}

type fixture struct {
	t      *testing.T
	server *Server
	router *dispatch.Dispatcher
	world  *world
	own    *identity.Identity
	peer   *identity.Identity
}

func somebody(t *testing.T) *identity.Identity {
	t.Helper()
	id, err := identity.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// root returns a folder whose path is short enough for a socket.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "axon-ipc") //nolint:usetesting // t.TempDir names the test, and is too long for a socket on some systems
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newFixture(t *testing.T, change func(*Options, *dispatch.Options)) *fixture {
	t.Helper()
	f := &fixture{t: t, own: somebody(t), peer: somebody(t)}
	f.world = &world{known: map[identity.AgentID]peers.Peer{}, ask: reflect(nil)}
	f.world.known[f.peer.ID] = peers.Peer{ID: f.peer.ID, PublicKey: f.peer.Public, Addr: "192.0.2.1:7100", Source: peers.Static}
	logger := slog.New(slog.DiscardHandler)
	o := Options{
		StateRoot: root(t), Own: f.own.ID, PublicKey: f.own.Public, Name: "tester", Version: "v0",
		Book: f.world, Links: f.world, Network: f.world, Logger: logger,
	}
	d := dispatch.Options{Logger: logger}
	if change != nil {
		change(&o, &d)
	}
	var err error
	if f.router, err = dispatch.New(d); err != nil {
		t.Fatal(err)
	}
	o.Dispatcher = f.router
	if f.server, err = Listen(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.server.Close)
	return f
}

// client is a program at the other end of the socket.
type client struct {
	t    *testing.T
	conn *net.UnixConn
	r    *bufio.Reader
}

func (f *fixture) client() *client {
	f.t.Helper()
	conn, err := net.Dial("unix", f.server.Path())
	if err != nil {
		f.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(ceiling))
	f.t.Cleanup(func() { _ = conn.Close() })
	return &client{f.t, conn.(*net.UnixConn), bufio.NewReaderSize(conn, 2*MaxLine)}
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) line() string {
	c.t.Helper()
	line, err := c.r.ReadString('\n')
	if err != nil {
		c.t.Fatalf("%q, %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (c *client) ask(line string) string {
	c.t.Helper()
	c.send(line)
	return c.line()
}

// ended checks that nothing more comes.
func (c *client) ended() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.r); err != nil && !isReset(err) || len(rest) > 0 {
		c.t.Errorf("after the end: %q, %v", rest, err)
	}
}

func isReset(err error) bool { return strings.Contains(err.Error(), "connection reset") }

// parsed is any line of the server.
type parsed struct {
	OK       *bool
	Error    string
	Message  string
	ReqID    *string `json:"req_id"`
	Event    string
	MsgID    string `json:"msg_id"`
	Response json.RawMessage
	Envelope json.RawMessage
	From     string
	Request  string `json:"request_id"`
	AgentID  string `json:"agent_id"`
	Peers    []json.RawMessage
	Omitted  int
}

func parseLine(t *testing.T, line string) parsed {
	t.Helper()
	var p parsed
	if err := json.Unmarshal([]byte(line), &p); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return p
}

func wantError(t *testing.T, line, code, text string) {
	t.Helper()
	p := parseLine(t, line)
	if p.OK == nil || *p.OK || p.Error != code || !strings.Contains(p.Message, text) {
		t.Errorf("got %.400s, want the error %s with %q", line, code, text)
	}
}

func (f *fixture) fill(line string) string {
	return strings.NewReplacer("PEER", string(f.peer.ID), "SELF", string(f.own.ID), "KEY", identity.EncodePublicKey(f.peer.Public),
		"TOKEN", identity.Token{PublicKey: f.peer.Public, Addr: "192.0.2.7:7100"}.String(),
		"OWNTOKEN", identity.Token{PublicKey: f.own.Public, Addr: "192.0.2.7:7100"}.String(), "UUID", someID).Replace(line)
}

const someID = "0b7e6a52-3c1d-4f7a-9b1e-5a2f8c3d4e6f"

// TestRefusals holds what each command may be answered with when it is wrong.
func TestRefusals(t *testing.T) {
	f := newFixture(t, nil)
	c := f.client()
	for _, x := range []struct{ line, code, text string }{
		{"", codeInvalid, "one object a line"},
		{"junk", codeInvalid, "one object a line"},
		{"[]", codeInvalid, "one object a line"},
		{`"status"`, codeInvalid, "one object a line"},
		{`{"cmd":"status"} {}`, codeInvalid, "one object a line"},
		{`{"cmd":"status"`, codeInvalid, "one object a line"},
		{"{\"cmd\":\"status\",\"req_id\":\"\xff\"}", codeInvalid, "UTF-8"},
		{`{}`, codeInvalid, "whoami"},
		{`{"cmd":7}`, codeInvalid, "name one of"},
		{`{"cmd":null}`, codeInvalid, "name one of"},
		{`{"CMD":"status"}`, codeInvalid, "name one of"},
		{`{"cmd":"stats"}`, codeInvalid, `did you mean "status"`},
		{`{"cmd":"status","cmd":"status"}`, codeInvalid, "twice"},
		{`{"cmd":"status","verbose":true}`, codeInvalid, `takes no "verbose"`},
		{`{"cmd":"send","timeout":3}`, codeInvalid, `did you mean "timeout_secs"`},
		{`{"cmd":"status","req_id":7}`, codeInvalid, "req_id"},
		{`{"cmd":"status","req_id":null}`, codeInvalid, "req_id is not a string"},
		{`{"cmd":"status","req_id":"` + strings.Repeat("x", 1025) + `"}`, codeInvalid, "1024"},

		{`{"cmd":"send","kind":"request","payload":{}}`, codeInvalid, "to is missing"},
		{`{"cmd":"send","to":7,"kind":"request","payload":{}}`, codeInvalid, "to is not a string"},
		{`{"cmd":"send","to":"bob","kind":"request","payload":{}}`, codeInvalid, "axon peers"},
		{`{"cmd":"send","to":"PEER","payload":{}}`, codeInvalid, "kind is missing"},
		{`{"cmd":"send","to":"PEER","kind":"response","payload":{}}`, codeInvalid, "did you mean"},
		{`{"cmd":"send","to":"PEER","kind":"request"}`, codeInvalid, "payload is missing"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":null}`, codeInvalid, "payload is not a JSON object"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":[]}`, codeInvalid, "not a JSON object"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":{},"ref":"x"}`, codeInvalid, "ref"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":{},"ref":7}`, codeInvalid, "ref"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":{},"timeout_secs":0}`, codeInvalid, "1 to 3600"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":{},"timeout_secs":3601}`, codeInvalid, "1 to 3600"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":{},"timeout_secs":1.5}`, codeInvalid, "1 to 3600"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":{},"timeout_secs":"3"}`, codeInvalid, "1 to 3600"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":{},"timeout_secs":null}`, codeInvalid, "1 to 3600"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":{},"timeout_secs":1e400}`, codeInvalid, "1 to 3600"},
		{`{"cmd":"send","to":"PEER","kind":"message","payload":{},"timeout_secs":3}`, codeInvalid, "belongs to a request"},
		{`{"cmd":"send","to":"SELF","kind":"request","payload":{}}`, codeSelfSend, "another agent"},
		{`{"cmd":"send","to":"ed25519.00000000000000000000000000000000","kind":"request","payload":{}}`, codePeerNotFound, "axon peers"},
		{`{"cmd":"send","to":"PEER","kind":"request","payload":{"a":"` + strings.Repeat("x", envelope.MaxSize) + `"}}`, codeMessageTooLarge, "send less"},

		{`{"cmd":"reply","kind":"response","payload":{}}`, codeInvalid, "request_id is missing"},
		{`{"cmd":"reply","request_id":"x","kind":"response","payload":{}}`, codeInvalid, "request_id is not a UUID"},
		{`{"cmd":"reply","request_id":"UUID","payload":{}}`, codeInvalid, "kind is missing"},
		{`{"cmd":"reply","request_id":"UUID","kind":"request","payload":{}}`, codeInvalid, "response or error"},
		{`{"cmd":"reply","request_id":"UUID","kind":"response","payload":7}`, codeInvalid, "not a JSON object"},
		{`{"cmd":"reply","request_id":"UUID","kind":"response","payload":{},"peer":"x"}`, codeInvalid, "agent id"},
		{`{"cmd":"reply","request_id":"UUID","kind":"response","payload":{}}`, codeNotHandler, "serve"},
		{`{"cmd":"decline"}`, codeInvalid, "request_id is missing"},
		{`{"cmd":"decline","request_id":"UUID"}`, codeNotHandler, "serve"},

		{`{"cmd":"add_peer"}`, codeInvalid, "one of the three"},
		{`{"cmd":"add_peer","pubkey":"KEY"}`, codeInvalid, "one of the three"},
		{`{"cmd":"add_peer","token":"TOKEN","addr":"h:1"}`, codeInvalid, "one of the three"},
		{`{"cmd":"add_peer","token":"http://x"}`, codeInvalid, "axon://"},
		{`{"cmd":"add_peer","token":7}`, codeInvalid, "token is not a string"},
		{`{"cmd":"add_peer","token":"` + strings.Repeat("x", 100000) + `"}`, codeInvalid, "axon://"},
		{`{"cmd":"add_peer","pubkey":"x","addr":"h:1"}`, codeInvalid, "pubkey"},
		{`{"cmd":"add_peer","pubkey":"KEY","addr":"h"}`, codeInvalid, "addr"},
		{`{"cmd":"add_peer","pubkey":"KEY","addr":"h:0"}`, codeInvalid, "1 to 65535"},
		{`{"cmd":"add_peer","agent_id":"x"}`, codeInvalid, "agent id"},
		{`{"cmd":"add_peer","agent_id":"ed25519.00000000000000000000000000000000"}`, codePeerNotFound, "token"},
		{`{"cmd":"remove_peer"}`, codeInvalid, "agent_id is missing"},
		{`{"cmd":"remove_peer","agent_id":"ed25519.00000000000000000000000000000000"}`, codePeerNotFound, "axon peers"},
	} {
		wantError(t, c.ask(f.fill(x.line)), x.code, x.text)
		if strings.HasPrefix(x.line, `{"cmd":"`) && strings.HasSuffix(x.line, "}") && !strings.HasSuffix(x.line, " {}") && !strings.Contains(x.line, "req_id") {
			line := c.ask(f.fill(strings.TrimSuffix(x.line, "}") + `,"req_id":"\u00e9 1"}`))
			wantError(t, line, x.code, "")
			if !strings.HasSuffix(line, `,"req_id":"\u00e9 1"}`) {
				t.Errorf("req_id is not repeated: %.300s", line)
			}
		}
	}
	if p := parseLine(t, c.ask(`{"req_id":"early","cmd":"status",`)); p.ReqID == nil || *p.ReqID != "early" {
		t.Errorf("req_id of a broken line: %+v", p)
	}
	if p := parseLine(t, c.ask(`{"cmd":"status"}`)); p.OK == nil || !*p.OK {
		t.Error("the connection does not go on")
	}
	if len(f.world.all()) > 0 {
		t.Errorf("sent %s", f.world.all())
	}
}

func TestRefusalsOfThePeers(t *testing.T) {
	f := newFixture(t, nil)
	c := f.client()
	request := f.fill(`{"cmd":"send","to":"PEER","kind":"request","payload":{}}`)
	for _, x := range []struct {
		err  error
		code string
	}{
		{links.ErrNoAddr, codeUnreachable},
		{errors.New("anything"), codeUnreachable},
		{links.ErrUnknown, codePeerNotFound},
	} {
		f.world.onConnect(func(context.Context, identity.AgentID) error { return fmt.Errorf("dial: %w", x.err) })
		wantError(t, c.ask(request), x.code, "dial: ")
		wantError(t, c.ask(strings.Replace(request, `"request"`, `"message"`, 1)), x.code, "dial: ")
	}
	f.world.onConnect(nil)
	other := somebody(t)
	_ = f.world.Add(peers.Peer{ID: other.ID, PublicKey: other.Public, Candidate: true})
	wantError(t, c.ask(strings.Replace(request, string(f.peer.ID), string(other.ID), 1)), codePeerNotFound, "axon connect")
	f.world.onAdd(fmt.Errorf("address: %w", peers.ErrConflict))
	wantError(t, c.ask(f.fill(`{"cmd":"add_peer","token":"TOKEN"}`)), codePeerConflict, "remove")
	f.world.onAdd(errors.New("the disk is full; make room"))
	wantError(t, c.ask(f.fill(`{"cmd":"add_peer","token":"TOKEN"}`)), codeInternal, "make room")
}

// TestRepliesThatAreNone holds AXON-REF-006 and AXON-IPC-037.
func TestRepliesThatAreNone(t *testing.T) {
	f := newFixture(t, nil)
	c := f.client()
	for name, ask := range map[string]func(context.Context, []byte) ([]byte, error){
		"no ref":    reflect(func(e *envelope.Envelope) { e.HasRef = false }),
		"other ref": reflect(func(e *envelope.Envelope) { e.Ref[0]++ }),
		"message":   reflect(func(e *envelope.Envelope) { e.Kind = envelope.Message }),
		"unknown":   reflect(func(e *envelope.Envelope) { e.Kind = "future" }),
		"junk":      func(context.Context, []byte) ([]byte, error) { return []byte("junk"), nil },
		"nothing":   func(context.Context, []byte) ([]byte, error) { return nil, nil },
	} {
		f.world.onAsk(ask)
		line := c.ask(f.fill(`{"cmd":"send","to":"PEER","kind":"request","payload":{}}`))
		wantError(t, line, codeUnreachable, "no reply to this request")
		if strings.Contains(line, `"response":`) {
			t.Errorf("%s was handed over: %s", name, line)
		}
	}
}

func TestSend(t *testing.T) {
	f := newFixture(t, nil)
	c := f.client()
	payload := `{ "n":12345678901234567890, "e":1e400,"a":1,"a":"\ud800" ,"é":"\u00e9"}`
	p := parseLine(t, c.ask(f.fill(`{"cmd":"send","to":"PEER","kind":"request","payload":`+payload+`,"timeout_secs":30.0}`)))
	want := `{"id":"`
	if !*p.OK || !strings.HasPrefix(string(p.Response), want) || !strings.HasSuffix(string(p.Response),
		f.fill(`","kind":"response","from":"PEER","to":"SELF","payload":`+payload+`,"ref":"`+p.MsgID+`"}`)) {
		t.Errorf("%+v", p)
	}
	f.world.onAsk(reflect(func(e *envelope.Envelope) { e.Kind = envelope.Error }))
	if p := parseLine(t, c.ask(f.fill(`{"cmd":"send","to":"PEER","kind":"request","payload":{}}`))); !*p.OK || !strings.Contains(string(p.Response), `"kind":"error"`) {
		t.Errorf("%+v", p)
	}
	p = parseLine(t, c.ask(f.fill(`{"cmd":"send","to":"`+strings.ToUpper(string(f.peer.ID))+`","kind":"message","payload":`+payload+`,"ref":"`+strings.ToUpper(someID)+`"}`)))
	if !*p.OK || p.Response != nil || len(f.world.all()) != 1 ||
		string(f.world.all()[0]) != `{"id":"`+p.MsgID+`","kind":"message","payload":`+payload+`,"ref":"`+someID+`"}` {
		t.Errorf("%+v, sent %s", p, f.world.all())
	}
	frame := len(`{"id":"","kind":"message","payload":{"a":""}}`) + 36
	for extra, ok := range []bool{true, false} {
		text := strings.Repeat("x", envelope.MaxSize-frame+extra)
		p := parseLine(t, c.ask(f.fill(`{"cmd":"send","to":"PEER","kind":"message","payload":{"a":"`+text+`"}}`)))
		if *p.OK != ok {
			t.Errorf("%d bytes more than allowed: %+v", extra, p)
		}
	}
	if got := len(f.world.all()[1]); got != envelope.MaxSize {
		t.Errorf("sent %d bytes", got)
	}
}

func TestPeersAndStatus(t *testing.T) {
	f := newFixture(t, nil)
	c := f.client()
	for _, x := range []struct{ line, want string }{
		{`{"cmd":"whoami","req_id":"w"}`, `{"ok":true,"agent_id":"SELF","public_key":"` + identity.EncodePublicKey(f.own.Public) + `","name":"tester","version":"v0","uptime_secs":0,"req_id":"w"}`},
		{`{"cmd":"status"}`, `{"ok":true,"uptime_secs":0,"peers_connected":1,"messages_sent":0,"messages_received":0}`},
		{`{"cmd":"peers"}`, `{"ok":true,"peers":[{"agent_id":"PEER","public_key":"KEY","addr":"192.0.2.1:7100","status":"connected","source":"static","trust":"trusted","rtt_ms":1.235}]}`},
		{`{"cmd":"remove_peer","agent_id":"PEER"}`, `{"ok":true,"agent_id":"PEER"}`},
		{`{"cmd":"add_peer","token":"TOKEN"}`, `{"ok":true,"agent_id":"PEER"}`},
		{`{"cmd":"peers"}`, `{"ok":true,"peers":[{"agent_id":"PEER","public_key":"KEY","addr":"192.0.2.7:7100","status":"connected","source":"enrolled","trust":"trusted","rtt_ms":1.235}]}`},
		{`{"cmd":"add_peer","pubkey":"KEY","addr":"host.example:7"}`, `{"ok":true,"agent_id":"PEER"}`},
		{`{"cmd":"add_peer","agent_id":"PEER"}`, `{"ok":true,"agent_id":"PEER"}`},
	} {
		if got := c.ask(f.fill(x.line)); got != f.fill(x.want) {
			t.Errorf("%s\n got %s\nwant %s", x.line, got, f.fill(x.want))
		}
	}
	for range 800 {
		id := somebody(t)
		_ = f.world.Add(peers.Peer{ID: id.ID, PublicKey: id.Public, Addr: "a-rather-long-host-name.example.org:7100"})
	}
	line := c.ask(`{"cmd":"peers"}`)
	if p := parseLine(t, line); len(line) > MaxLine || p.Omitted == 0 || p.Omitted+len(p.Peers) != 801 {
		t.Errorf("a long list: %d bytes, %d left out of %d", len(line), p.Omitted, len(p.Peers))
	}
}

func TestLineLimits(t *testing.T) {
	f := newFixture(t, nil)
	c := f.client()
	pad := func(n int) string { return `{"cmd":"status"` + strings.Repeat(" ", n-len(`{"cmd":"status"}`)) + `}` }
	if p := parseLine(t, c.ask(pad(MaxLine))); !*p.OK {
		t.Errorf("a line of the full length: %+v", p)
	}
	c.send(`{"req_id":"long",` + pad(MaxLine)[1:])
	line := c.line()
	wantError(t, line, codeTooLarge, "131072")
	if !strings.Contains(line, `"req_id":"long"`) {
		t.Errorf("%s", line)
	}
	c.ended()

	c = f.client() // never ends its line
	go func() { _, _ = io.Copy(c.conn, strings.NewReader(strings.Repeat("x", 1<<20))) }()
	wantError(t, c.line(), codeTooLarge, "131072")

	c = f.client() // no newline at the end
	if _, err := io.WriteString(c.conn, `{"cmd":"whoami"}`); err != nil {
		t.Fatal(err)
	}
	_ = c.conn.CloseWrite()
	if p := parseLine(t, c.line()); !*p.OK {
		t.Errorf("%+v", p)
	}
	c.ended()
}

func TestClientLimit(t *testing.T) {
	f := newFixture(t, nil)
	var all []*client
	for range MaxClients {
		c := f.client()
		c.ask(`{"cmd":"status"}`)
		all = append(all, c)
	}
	late := f.client()
	wantError(t, late.line(), codeOverloaded, "64")
	late.ended()
	all[0].ask(`{"cmd":"status"}`)
	_ = all[5].conn.Close()
	for { // until the server has noticed
		c := f.client()
		c.send(`{"cmd":"status"}`)
		if p := parseLine(t, c.line()); *p.OK {
			break
		}
		_ = c.conn.Close() // else it is one of the few that are refused in words
	}
}

func TestSocketAndLeftovers(t *testing.T) {
	dir := root(t)
	path := filepath.Join(dir, SocketFile)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if _, _, err := bind(dir); !errors.Is(err, stateroot.ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("a daemon with pid %d already uses this state root; ", os.Getpid())) {
		t.Errorf("a live socket: %v", err)
	}
	_ = l.Close()
	again, _, err := bind(dir)
	if err != nil {
		t.Fatalf("a socket left behind: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	_ = again.Close()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket stays after the end")
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := bind(dir); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("a file in its place: %v", err)
	}
	long := filepath.Join(dir, strings.Repeat("x", 100))
	if _, _, err := bind(long); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("a long path: %v", err)
	}
	if _, _, err := bind(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "--state-root") {
		t.Errorf("no folder: %v", err)
	}
}
