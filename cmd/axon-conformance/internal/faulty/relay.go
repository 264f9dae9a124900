package faulty

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// relayPause is how long to wait before looking again for the daemon's socket.
const relayPause = 5 * time.Millisecond

// relayed puts a relay before the daemon's socket, which may answer requests in the
// place of the local programs to which they are shown.
func relayed(answer func(event request) (line string)) fault {
	return on(func(c *call) int {
		// The daemon keeps its state in a folder of its own, so that nobody can get
		// past the relay.
		outside, inside := c.root(), c.inRoot("relay")
		_ = os.MkdirAll(inside, 0o700)
		for _, name := range []string{"config.yaml", "identity.key", "identity.pub"} {
			if text := c.read(name); text != "" {
				_ = os.WriteFile(filepath.Join(inside, name), []byte(text), 0o600)
			}
		}
		c.set("--state-root", inside)
		done := make(chan struct{})
		go relay(filepath.Join(outside, "axon.sock"), filepath.Join(inside, "axon.sock"), done, answer)
		code := c.run()
		close(done)
		_ = os.Remove(filepath.Join(outside, "axon.sock"))
		return code
	}, "daemon")
}

// request is the event of that name.
type request struct {
	Event string `json:"event"`
	ID    string `json:"request_id"`
	From  string `json:"from"`
}

// relay listens once the daemon does. The process ends with the daemon, and what is
// left of the relay with it.
func relay(own, daemons string, done chan struct{}, answer func(request) string) {
	for {
		if daemon, err := net.Dial("unix", daemons); err == nil {
			_ = daemon.Close()
			break
		}
		select {
		case <-done:
			return
		case <-time.After(relayPause):
		}
	}
	l, err := net.Listen("unix", own)
	if err != nil {
		return
	}
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		daemon, err := net.Dial("unix", daemons)
		if err != nil {
			_ = client.Close()
			continue
		}
		go pass(client, daemon, answer)
	}
}

// pass carries lines both ways.
func pass(client, daemon net.Conn, answer func(request) string) {
	defer func() {
		_ = client.Close()
		_ = daemon.Close()
	}()
	var mu sync.Mutex // one line at a time goes to the daemon
	send := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(daemon, line)
	}
	go func() {
		in := bufio.NewReader(client)
		for {
			line, err := in.ReadString('\n')
			send(line)
			if err != nil {
				_ = daemon.Close()
				return
			}
		}
	}()
	out := bufio.NewReader(daemon)
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			return
		}
		var e struct {
			request
			ReqID string `json:"req_id"`
		}
		_ = json.Unmarshal([]byte(line), &e)
		if e.ReqID == "relay" {
			continue
		}
		_, _ = io.WriteString(client, line)
		if e.Event == "request" {
			send(answer(e.request))
		}
	}
}

// errorReply answers a request by an error.
func errorReply(code string, retryable bool) func(request) string {
	return func(r request) string {
		b, _ := json.Marshal(map[string]any{
			"cmd": "reply", "req_id": "relay", "request_id": r.ID, "peer": r.From, "kind": "error",
			"payload": map[string]any{"code": code, "message": "the handler did not answer in time", "retryable": retryable},
		})
		return string(b) + "\n"
	}
}

var relayFaults = map[string]fault{
	"handler-silent-other-code":     relayed(errorReply("no_answer", true)),
	"handler-silent-not-retryable":  relayed(errorReply("timeout", false)),
	"handler-silent-not-waited-for": relayed(errorReply("timeout", true)),
}
