package ipc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/axonproto/axon/schemas"
)

// FuzzParse: a line is either a command, with every member in the form that its
// schema wants where the schema takes it, or it is answered by one line that keeps to
// its schema, stays short and carries the req_id that came.
func FuzzParse(f *testing.F) {
	fill := strings.NewReplacer("PEER", "ed25519.66687aadf862bd776c8fc18b8e9f8e20", "SELF", "ed25519.00000000000000000000000000000000", "UUID", someID,
		"TOKEN", "axon://AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA@192.0.2.7:7100", "KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	for _, s := range seeds {
		f.Add([]byte(fill.Replace(s)))
	}
	for _, s := range []string{
		`{"cmd":"status","req_id":"a\u0000\ud800"}`, `{"req_id":"x","cmd":"serv"}`, `{"cmd":"peers","req_id":7}`, `{"cmd":"peers","req_id":"` + strings.Repeat("é", maxReqID) + `"}`,
		`{"cmd":"status","` + strings.Repeat("é", 9000) + `":1}`, `{"cmd":"` + strings.Repeat("\\u0007", 900) + `"}`, `{"cmd":"peers","req_id":"x"`, "{\"cmd\":\"peers\",\"req_id\":\"\xff\"}",
		`{"cmd":"send","ref":null,"ref":null}`, `{"\u0063md":"\u0073tatus"}`, `{"cmd":"peers"} `, `{"cmd":"peers"}{}`,
	} {
		f.Add([]byte(s))
	}
	command, refusal := schemas.MustCompile(schemas.Command), schemas.MustCompile(schemas.AnswerError)
	f.Fuzz(func(t *testing.T, line []byte) {
		cmd, reqID, failure := parse(line)
		if (cmd == nil) == (failure == nil) {
			t.Fatalf("%q: %v, %v", line, cmd, failure)
		}
		invalid := command.Validate(line)
		if failure == nil {
			if !json.Valid(line) || !bytes.Equal(reqID, cmd.reqID) {
				t.Fatalf("%q: taken, req_id %q, %q", line, reqID, cmd.reqID)
			}
			if invalid == nil {
				checkMembers(t, line, cmd)
			}
			return
		}
		// A schema counts characters.
		if invalid == nil && !strings.Contains(failure.text, "req_id is longer") {
			t.Fatalf("%q: refused (%s), and its schema takes it", line, failure.text)
		}
		answer := failure.line(reqID)
		if failure.code != codeInvalid || len(answer)-len(reqID) > 8000 || bytes.IndexByte(answer, '\n') != len(answer)-1 || refusal.Validate(answer) != nil {
			t.Fatalf("%q: answered by %d bytes: %.2000q, %v", line, len(answer), answer, refusal.Validate(answer))
		}
		var came, went struct {
			ReqID string `json:"req_id"`
		}
		if json.Unmarshal(line, &came) == nil && reqID != nil {
			if err := json.Unmarshal(answer, &went); err != nil || !bytes.Contains(line, reqID) || went.ReqID == "" && came.ReqID != "" {
				t.Fatalf("%q: answered by %q", line, answer)
			}
		}
	})
}

// checkMembers reads each member as the command does.
func checkMembers(t *testing.T, line []byte, c *command) {
	t.Helper()
	for name := range c.members {
		var err error
		switch name {
		case "to", "peer", "agent_id":
			_, err = c.agent(name)
		case "ref", "request_id":
			_, err = c.uuid(name)
		case "kind", "token", "pubkey", "addr":
			_, err = c.text(name)
		case "payload":
			if _, f := c.payload(); f != nil {
				err = errors.New(f.text)
			}
		}
		if err != nil && !errors.Is(err, errAbsent) {
			t.Fatalf("%q: its schema takes %s: %v", line, name, err)
		}
	}
}

// FuzzReadLine: a stream falls into the lines that it is made of, in whatever pieces
// it comes, and no line is longer than it may be.
func FuzzReadLine(f *testing.F) {
	for _, s := range []string{"", "\n", "a", "a\n\nb\r\n", "a\nb", "\x00\n"} {
		f.Add([]byte(s), 0)
	}
	f.Add([]byte("\na\n"), MaxLine)
	f.Add([]byte("b\na\n"), MaxLine)
	f.Add([]byte("b"), MaxLine)
	f.Fuzz(func(t *testing.T, text []byte, ahead int) {
		stream := append(bytes.Repeat([]byte("x"), max(0, min(ahead, MaxLine+1))), text...)
		r := bufio.NewReaderSize(iotest.HalfReader(bytes.NewReader(stream)), 16)
		for rest := stream; ; {
			want, after, ended := bytes.Cut(rest, []byte("\n"))
			line, err := readLine(r)
			switch {
			case len(want) > MaxLine:
				if !errors.Is(err, errLongLine) || !bytes.Equal(line, want[:MaxLine]) {
					t.Fatalf("%d and %q: %d bytes read, %v", ahead, text, len(line), err)
				}
				return
			case !ended && len(want) == 0:
				if !errors.Is(err, io.EOF) || line != nil {
					t.Fatalf("%d and %q: at the end: %q, %v", ahead, text, line, err)
				}
				return
			case err != nil || !bytes.Equal(line, want):
				t.Fatalf("%d and %q: %d bytes read, want %d, %v", ahead, text, len(line), len(want), err)
			}
			rest = after
		}
	})
}
