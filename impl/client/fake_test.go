package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// ceiling ends a test that hangs; no passing test waits for it.
const ceiling = 20 * time.Second

// fake plays the daemon's side of the socket.
type fake struct {
	path string
	l    net.Listener
	// answer gives the lines that follow a command; whoami is answered before
	// it is asked.
	answer func(s *fakeSession, cmd map[string]any) []string
	wg     sync.WaitGroup

	mu       sync.Mutex // guards sessions
	sessions []*fakeSession
}

type fakeSession struct {
	conn net.Conn
	mu   sync.Mutex // held while lines are written
}

func (s *fakeSession) say(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range lines {
		_, _ = s.conn.Write([]byte(l + "\n"))
	}
}

func startFake(t *testing.T, answer func(*fakeSession, map[string]any) []string) *fake {
	t.Helper()
	f := &fake{path: filepath.Join(t.TempDir(), SocketFile), answer: answer}
	var err error
	if f.l, err = net.Listen("unix", f.path); err != nil {
		t.Fatal(err)
	}
	f.wg.Go(func() {
		for {
			conn, err := f.l.Accept()
			if err != nil {
				return
			}
			s := &fakeSession{conn: conn}
			f.mu.Lock()
			f.sessions = append(f.sessions, s)
			f.mu.Unlock()
			f.wg.Go(func() { f.serve(s) })
		}
	})
	t.Cleanup(f.stop)
	return f
}

func (f *fake) stop() {
	_ = f.l.Close()
	f.mu.Lock()
	for _, s := range f.sessions {
		_ = s.conn.Close()
	}
	f.mu.Unlock()
	f.wg.Wait()
}

func (f *fake) serve(s *fakeSession) {
	defer s.conn.Close()
	in := bufio.NewScanner(s.conn)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var cmd map[string]any
		dec := json.NewDecoder(bytes.NewReader(in.Bytes()))
		dec.UseNumber()
		if dec.Decode(&cmd) != nil {
			s.say(`{"ok":false,"error":"invalid_command","message":"not JSON"}`)
			continue
		}
		if cmd["cmd"] == "whoami" {
			s.say(ok(cmd, `"agent_id":"ed25519.00000000000000000000000000000001","public_key":"AAAA","version":"1","uptime_secs":3`))
			continue
		}
		s.say(f.answer(s, cmd)...)
	}
}

func (f *fake) dial(t *testing.T) (context.Context, *Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), ceiling)
	t.Cleanup(cancel)
	c, err := Dial(ctx, Options{Socket: f.path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return ctx, c
}

func ok(cmd map[string]any, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"ok":true,"req_id":%q%s}`, cmd["req_id"], members)
}

func refuse(cmd map[string]any, code, text string) string {
	return fmt.Sprintf(`{"ok":false,"error":%q,"message":%q,"req_id":%q}`, code, text, cmd["req_id"])
}

const (
	peerA = "ed25519.000000000000000000000000000000aa"
	peerB = "ed25519.000000000000000000000000000000bb"
	uuidA = "0b7e6a52-3c1d-4f7a-9b1e-5a2f8c3d4e6f"
	uuidB = "1b7e6a52-3c1d-4f7a-9b1e-5a2f8c3d4e6f"
)
