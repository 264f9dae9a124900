package probe

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/axonproto/axon/harness/credential"
)

func TestQLogAndKeyLog(t *testing.T) {
	target, _ := listen(t, ListenOptions{})
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	logs, secrets := NewQLog(), &bytes.Buffer{}
	e, err := New(Options{Identity: id, QLog: logs, KeyLog: secrets})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := e.Dial(within(t), DialOptions{Address: target.Addr().String()}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, number := range []int{1, 2, 0} {
		text := logs.Connection(within(t), number)
		records := strings.Split(strings.TrimPrefix(string(text), "\x1e"), "\x1e")
		if len(records) < 5 {
			t.Fatalf("connection %d: %d records", number, len(records))
		}
		names := map[string]bool{}
		for i, record := range records {
			var event struct {
				Name string `json:"name"`
			}
			if err := json.Unmarshal([]byte(record), &event); err != nil {
				t.Fatalf("connection %d, record %d: %v\n%s", number, i, err, record)
			}
			names[event.Name] = true
		}
		if !names["transport:packet_sent"] || !names["transport:packet_received"] || !names["transport:connection_closed"] {
			t.Errorf("connection %d: the events are %v", number, names)
		}
	}
	if logs.Connection(within(t), 3) != nil {
		t.Error("a connection that there was not has a log")
	}
	for _, label := range []string{"CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_TRAFFIC_SECRET_0 "} {
		if strings.Count(secrets.String(), label) != 2 {
			t.Errorf("%s stands %d times", label, strings.Count(secrets.String(), label))
		}
	}
}

// TestQLogIsBounded: what is too much is left out, and what is kept is whole.
func TestQLogIsBounded(t *testing.T) {
	target, _ := listen(t, ListenOptions{})
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	logs := NewQLog()
	logs.room = 3000
	e, err := New(Options{Identity: id, QLog: logs})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Dial(within(t), DialOptions{Address: target.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	text := logs.Connection(within(t), 1)
	if len(text) == 0 || len(text) > 3000 {
		t.Fatalf("%d bytes are kept", len(text))
	}
	for _, record := range strings.Split(strings.TrimPrefix(string(text), "\x1e"), "\x1e") {
		if !json.Valid([]byte(record)) {
			t.Errorf("a record was cut: %s", record)
		}
	}
}
