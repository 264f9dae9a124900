package schemas

import (
	"os"
	"strings"
	"testing"
)

// TestTheTranscriptOfTheDriverProtocol holds the conversation in docs/driver.md
// against the schemas, and each answer against its command.
func TestTheTranscriptOfTheDriverProtocol(t *testing.T) {
	text, err := os.ReadFile("../docs/driver.md")
	if err != nil {
		t.Fatal(err)
	}
	command, answer, event := MustCompile(DriverCommand), MustCompile(DriverAnswer), MustCompile(DriverEvent)
	open := map[string]bool{}
	lines := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		schema := command
		body, sent := strings.CutPrefix(line, "→ {")
		if !sent {
			var told bool
			if body, told = strings.CutPrefix(line, "← {"); !told {
				continue
			}
			if schema = answer; strings.HasPrefix(body, `"event"`) {
				schema = event
			}
		}
		lines++
		if err := schema.Validate([]byte("{" + body)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		// The name and the number stand first in each of them.
		parts := strings.SplitN(strings.TrimRight(body, "}"), ",", 3)
		_, name, _ := strings.Cut(parts[0], ":")
		switch key := name + parts[1]; {
		case schema == command:
			open[key] = true
		case schema == answer && !open[key]:
			t.Errorf("%s answers nothing", line)
		case schema == answer:
			delete(open, key)
		}
	}
	if lines < 20 || len(open) > 0 {
		t.Errorf("%d lines, and commands without an answer: %v", lines, open)
	}
}

func TestDriverLines(t *testing.T) {
	for _, c := range []struct {
		schema, line, problem string // an empty problem: the line is good
	}{
		{DriverCommand, `{"command":"unserve","number":3}`, ""},
		{DriverCommand, `{"command":"whatever","number":3}`, ""},
		{DriverCommand, `{"command":"whatever","number":3,"x":1}`, "members that are not allowed"},
		{DriverCommand, `{"command":"unserve"}`, "number"},
		{DriverCommand, `{"command":"unserve","number":0}`, "/number"},
		{DriverCommand, `{"command":"send","number":1,"kind":"response","to":"ed25519.00000000000000000000000000000000","payload":{}}`, "/kind"},
		{DriverCommand, `{"command":"send","number":1,"kind":"message","to":"somebody","payload":{}}`, "/to"},
		{DriverCommand, `{"command":"send","number":1,"kind":"message","to":"ed25519.00000000000000000000000000000000","payload":{"a":1,"a":1e400}}`, ""},
		{DriverCommand, `{"command":"enroll","number":1,"public_key":"short"}`, "/public_key"},
		{DriverCommand, `{"command":"serve","number":1,"mode":"decline"}`, "/mode"},
		{DriverCommand, `{"command":"serve","number":1,"mode":"decline","request_id":"r","payload":{}}`, "/payload"},
		{DriverCommand, `{"command":"serve","number":1,"mode":"respond","request_id":"r"}`, "payload"},
		{DriverAnswer, `{"answer":"enroll","number":1}`, ""},
		{DriverAnswer, `{"answer":"enroll","number":1,"ok":true}`, "ok"},
		{DriverAnswer, `{"answer":"enroll","number":1.0}`, "/number"},
		{DriverAnswer, `{"answer":"send","number":1,"response":{"kind":"error"}}`, "/response"},
		{DriverAnswer, `{"answer":"send","number":1,"id":"x","error":{"code":"timeout","message":"too late"}}`, "id"},
		{DriverAnswer, `{"answer":"send","number":1,"error":{"code":"Time-out","message":"too late"}}`, "/error/code"},
		{DriverAnswer, `{"answer":"send","number":1,"error":"too late"}`, "/error"},
		{DriverAnswer, `{"answer":"hello","number":1,"version":1,"capabilities":["drive","drive"],"implementation":{"name":"x","version":"1"}}`, "/capabilities"},
		{DriverAnswer, `{"answer":"hello","number":1,"version":1,"capabilities":["lan"],"implementation":{"name":"x","version":"1"}}`, "/capabilities/0"},
		{DriverEvent, `{"event":"inbound","from":"","to":"","envelope":{}}`, ""},
		{DriverEvent, `{"event":"inbound","from":"a","envelope":{}}`, "to"},
		{DriverEvent, `{"event":"request","from":"a","envelope":{}}`, "request_id"},
		{DriverEvent, `{"event":"request","request_id":"r","from":"a","envelope":[]}`, "/envelope"},
		{DriverEvent, `{"event":"outbound","from":"a","to":"b","envelope":{}}`, "/event"},
	} {
		err := MustCompile(c.schema).Validate([]byte(c.line))
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: want %q, got %v", c.line, c.problem, err)
		}
	}
}
