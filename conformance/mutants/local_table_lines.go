package mutants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf16"
)

func utf16Of(r rune) []uint16 { return utf16.Encode([]rune{r}) }

func hex4(unit uint16) string { return fmt.Sprintf("%04x", unit) }

// socketMutants are wrong about who gets in, and how many.
func socketMutants() []Mutant {
	return []Mutant{
		{Name: "local-socket-name", For: ids("IPC-001"), Reason: `agent\.sock`, Fault: "the socket is named agent.sock",
			local: func(m *localManner) { m.socket = "agent.sock" }},
		{Name: "local-socket-mode", For: ids("IPC-002"), Reason: `mode is 0666`, Fault: "everyone may connect to the socket",
			local: func(m *localManner) { m.mode = 0o666 }},
		{Name: "local-socket-group", For: ids("IPC-002"), Reason: `mode is 0660`, Fault: "the group may connect to the socket",
			local: func(m *localManner) { m.mode = 0o660 }},
		{Name: "local-other-users", For: ids("IPC-003"), Reason: `it was sent`, Fault: "programs of other users are served", local: lacking("other users are refused")},
		{Name: "local-other-users-watch", For: ids("IPC-003"), Reason: `it was sent.*inbound`, Fault: "programs of other users get errors, and are shown events all the same",
			local: together2(lacking("other users are refused"), func(m *localManner) {
				m.look = func(c *localClient, _ []byte) bool {
					if sameUser(c.conn) {
						return false
					}
					c.say(nil, no("invalid_command", "this socket belongs to another user; use your own daemon"))
					return true
				}
			})},
		{Name: "local-one-at-a-time", For: ids("IPC-004"), Anywhere: true, Lost: true, Ceiling: quick, Heavy: true, Reason: `client number \d+ was not`, Fault: "clients are served one after another",
			local: lacking("clients are served side by side")},
		{Name: "local-sixteen", For: ids("IPC-004"), Also: ids("IPC-005", "IPC-006"), Ceiling: quick, Heavy: true, Reason: `client number 1[67] was not`, Fault: "16 clients are served",
			local: func(m *localManner) { m.places = 16 }},
		{Name: "local-sixty-three", For: ids("IPC-004"), Also: ids("IPC-005", "IPC-006"), Ceiling: quick, Heavy: true, Reason: `client number 64 was not`, Fault: "63 clients are served",
			local: func(m *localManner) { m.places = 63 }},
		{Name: "local-no-limit", For: ids("IPC-005"), Ceiling: quick, Heavy: true, Reason: `it is open`, Fault: "the 65th client is served, too", local: func(m *localManner) { m.places = 200 }},
		{Name: "local-limit-silent", For: ids("IPC-005"), Heavy: true, Reason: `closed after 0 lines`, Fault: "the 65th client is let go without a word", local: lacking("a client too many is answered")},
		{Name: "local-limit-open", For: ids("IPC-005"), Ceiling: quick, Heavy: true, Reason: `it is open`, Fault: "the 65th client is told, and its connection stays open", local: lacking("a client too many is let go")},
		{Name: "local-limit-code", For: ids("IPC-005"), Heavy: true, Reason: `internal_error`, Fault: "the 65th client is told of an internal error", local: lacking("a client too many is told why")},
		{Name: "local-places-lost", For: ids("IPC-005", "IPC-006"), Also: ids("IPC-004"), Anywhere: true, Lost: true, Ceiling: quick, Heavy: true, Reason: `.`, Fault: "the places of clients that left are never free again",
			local: lacking("places are given back")},
		{Name: "local-read-in-accept", For: ids("IPC-006"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `.`, Fault: "nobody is taken in until the client before has sent something",
			local: lacking("nothing is read while clients are taken in")},
	}
}

// lineMutants are wrong about lines, answers and errors.
func lineMutants() []Mutant {
	return []Mutant{
		{Name: "local-indented", For: ids("IPC-007"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `a line of \d+ bytes|last lines were|got \{`, Fault: "the answer to peers is indented",
			local: func(m *localManner) {
				m.line = func(_ *localClient, r *record) []byte {
					if r.get("peers") == "" {
						return []byte(unbroken(r.text()) + "\n")
					}
					var b bytes.Buffer
					_ = json.Indent(&b, []byte(r.text()), "", "  ")
					return append(b.Bytes(), '\n')
				}
			}},
		{Name: "local-line-breaks", For: ids("IPC-007"), Ceiling: quick, Reason: `last lines were`, Fault: "line breaks between the members of a payload stand in the event",
			local: func(m *localManner) {
				m.line = func(_ *localClient, r *record) []byte { return []byte(r.text() + "\n") }
			}},
		{Name: "local-latin1", For: ids("IPC-007"), Also: ids("IPC-008"), Reason: `a line of \d+ bytes|this is no command`, Fault: "what a client wrote in an error is repeated byte for byte",
			local: func(m *localManner) {
				m.look = func(c *localClient, line []byte) bool {
					if bytes.ContainsRune(line, 0xff) || bytes.IndexByte(line, 0xff) >= 0 {
						c.push(append(append([]byte(`{"ok":false,"error":"invalid_command","message":"this is no command: `), 0xff), "\"}\n"...))
						return true
					}
					return false
				}
			}},
		{Name: "local-garbage-ignored", For: ids("IPC-008"), Also: ids("IPC-007", "IPC-012", "IPC-013", "IPC-014", "IPC-017"), Ceiling: quick, Reason: `it did not come`, Fault: "a line that is no JSON is ignored",
			local: looking(func(line []byte) bool { return !json.Valid(line) })},
		{Name: "local-empty-ignored", For: ids("IPC-008"), Ceiling: quick, Reason: `it did not come`, Fault: "an empty line is ignored",
			local: looking(func(line []byte) bool { return len(line) == 0 })},
		{Name: "local-blank-ignored", For: ids("IPC-008"), Ceiling: quick, Reason: `it did not come`, Fault: "a line of spaces is ignored",
			local: looking(func(line []byte) bool { return len(line) > 0 && len(bytes.TrimSpace(line)) == 0 })},
		{Name: "local-garbage-twice", For: ids("IPC-008"), Also: ids("IPC-014"), Reason: `got \d`, Fault: "an error is answered twice", local: func(m *localManner) {
			m.answer = func(_ *localClient, cmd *localCommand, a *record) []*record {
				if a.failed() && cmd != nil && cmd.v.Kind == 0 {
					return []*record{a, a.copied()}
				}
				return []*record{a}
			}
		}},
		{Name: "local-serve-late", For: ids("IPC-008"), Also: ids("IPC-039"), Reason: `a request came first`, Fault: "requests are shown before serve is answered",
			local: lacking("serve is answered before the first request")},
		{Name: "local-line-64k", For: ids("IPC-009"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `command_too_large|closed the connection`, Fault: "a line may have 65,536 bytes",
			local: func(m *localManner) { m.maxLine = 65536 }},
		{Name: "local-line-131071", For: ids("IPC-009"), Reason: `command_too_large`, Fault: "a line may have one byte less", local: func(m *localManner) { m.maxLine-- }},
		{Name: "local-line-131073", For: ids("IPC-010"), Ceiling: quick, Reason: `got \{"ok":true`, Fault: "a line may have one byte more", local: func(m *localManner) { m.maxLine++ }},
		{Name: "local-line-endless", For: ids("IPC-010"), Ceiling: quick, Reason: `it did not come`, Fault: "a line is read to its end before it is found too long", local: lacking("half a line too long is refused")},
		{Name: "local-line-silent", For: ids("IPC-010"), Reason: `closed the connection`, Fault: "a line too long ends the connection without a word", local: lacking("a line too long is answered")},
		{Name: "local-line-open", For: ids("IPC-010"), Ceiling: quick, Reason: `it is open`, Fault: "the connection stays after a line too long", local: lacking("a line too long ends the connection")},
		{Name: "local-line-takes-all", For: ids("IPC-010"), Reason: `it is not`, Fault: "a line too long ends every client", local: lacking("others outlive a line too long")},
		{Name: "local-no-ok", For: ids("IPC-011"), Anywhere: true, Ceiling: quick, Lost: true, Reason: `got \{`, Fault: "the answers to whoami and status lack ok",
			local: saying("whoami status", func(_ *localClient, a *record) { a.set("ok", "") })},
		{Name: "local-ok-text", For: ids("IPC-011"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `"ok":"true"`, Fault: "ok is a text in the answer to peers",
			local: saying("peers", func(_ *localClient, a *record) { a.set("ok", `"true"`) })},
		{Name: "local-answer-event", For: ids("IPC-011"), Reason: `the line is`, Fault: "the answer to peers has a member event",
			local: saying("peers", func(_ *localClient, a *record) { a.set("event", `"peers"`) })},
		{Name: "local-code-own", For: ids("IPC-012"), Also: ids("IPC-007", "IPC-011", "IPC-014", "IPC-015", "IPC-017", "IPC-016", "IPC-018", "IPC-021", "IPC-034", "IPC-036", "IPC-046", "IPC-052", "IPC-059"), Reason: `bad_request`, Fault: "the code of a bad command is bad_request",
			local: erring(func(a *record) {
				if a.get("error") == quote("invalid_command") {
					a.set("error", quote("bad_request"))
				}
			})},
		{Name: "local-code-object", For: ids("IPC-012"), Also: ids("IPC-028", "IPC-062", "IPC-063", "IPC-064", "IPC-014", "IPC-059"), Reason: `"error":\{`, Fault: "the error of an unknown peer is an object",
			local: erring(func(a *record) {
				if a.get("error") == quote("peer_not_found") {
					a.set("error", `{"code":"peer_not_found"}`)
				}
			})},
		{Name: "local-message-missing", For: ids("IPC-012"), Also: ids("IPC-029"), Reason: `the answer is`, Fault: "the error self_send has no message",
			local: erring(func(a *record) {
				if a.get("error") == quote("self_send") {
					a.set("message", "")
				}
			})},
		{Name: "local-message-code", For: ids("IPC-013"), Reason: `it is "not handler"`, Fault: "the message of not_handler is the code again",
			local: erring(func(a *record) {
				if a.get("error") == quote("not_handler") {
					a.set("message", quote("not handler"))
				}
			})},
		{Name: "local-req-id-lost", For: ids("IPC-014"), Also: ids("IPC-018", "IPC-017"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `got \{|the line is|it did not come`, Fault: "errors do not repeat the req_id", local: lacking("errors repeat req_id")},
		{Name: "local-req-id-parsed", For: ids("IPC-014"), Ceiling: quick, Reason: `the line is`, Fault: "a req_id of digits is repeated as a number",
			local: saying("", func(_ *localClient, a *record) {
				if a.get("req_id") == `"0017"` {
					a.set("req_id", "17")
				}
			})},
		{Name: "local-req-id-nul", For: ids("IPC-014"), Also: ids("IPC-007"), Reason: `the line is`, Fault: "control characters are left out of a repeated req_id",
			local: saying("", func(_ *localClient, a *record) {
				a.set("req_id", strings.ReplaceAll(a.get("req_id"), `\u0000`, ""))
			})},
		{Name: "local-req-id-empty-lost", For: ids("IPC-014"), Reason: `the line is`, Fault: "an empty req_id is taken for none",
			local: saying("", func(_ *localClient, a *record) {
				if a.get("req_id") == `""` {
					a.set("req_id", "")
				}
			})},
		{Name: "local-req-id-null", For: ids("IPC-015"), Reason: `"req_id":null`, Fault: "an answer without req_id has one that is null", local: withoutID("null")},
		{Name: "local-req-id-empty", For: ids("IPC-015"), Reason: `"req_id":""`, Fault: "an answer without req_id has an empty one", local: withoutID(`""`)},
		{Name: "local-req-id-kept", For: ids("IPC-015"), Anywhere: true, Reason: `"req_id":"before"`, Fault: "the req_id of the command before is repeated", local: func(m *localManner) {
			last := ""
			var mu sync.Mutex
			m.answer = func(_ *localClient, cmd *localCommand, a *record) []*record {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case cmd != nil && cmd.reqID == `"before"`:
					last = cmd.reqID
				case a.get("req_id") == "" && last != "":
					a.set("req_id", last)
				}
				return []*record{a}
			}
		}},
		{Name: "local-req-id-512", For: ids("IPC-016"), Ceiling: quick, Reason: `it did not come|got \{`, Fault: "a req_id may have 512 bytes", local: func(m *localManner) { m.maxReqID = 512 }},
		{Name: "local-req-id-characters", For: ids("IPC-016"), Ceiling: quick, Reason: `got \{"ok":true`, Fault: "a req_id may have 1,200 bytes", local: func(m *localManner) { m.maxReqID = 1200 }},
		{Name: "local-req-id-number", For: ids("IPC-016"), Reason: `got \{"ok":true`, Fault: "a req_id may be of any type", local: lacking("a req_id is a string")},
		{Name: "local-req-id-null-taken", For: ids("IPC-016"), Reason: `got \{"ok":true`, Fault: "a req_id that is null is taken for none", local: lacking("a req_id is no null")},
		{Name: "local-bad-line-ends", For: ids("IPC-017"), Also: ids("IPC-008", "IPC-007", "IPC-014", "IPC-015", "IPC-016", "IPC-021"), Ceiling: quick, Reason: `it is not|closed`, Fault: "the first bad line ends the connection",
			local: lacking("a bad line does not end the connection")},
		{Name: "local-unknown-command", For: ids("IPC-017"), Also: ids("IPC-011", "IPC-012", "IPC-013", "IPC-014", "IPC-015", "IPC-021"), Reason: `got \{"ok":true`, Fault: "a command that is not known is answered by yes", local: func(m *localManner) {
			m.answer = func(_ *localClient, cmd *localCommand, a *record) []*record {
				if a.failed() && cmd != nil && cmd.name == "" && cmd.has("cmd") && cmd.has("req_id") == (cmd.reqID != "") {
					return []*record{yes().set("req_id", cmd.reqID)}
				}
				return []*record{a}
			}
		}},
		{Name: "local-names-loose", For: ids("IPC-017"), Reason: `got \{"ok":true`, Fault: "the case of letters in commands does not matter", local: lacking("names match exactly")},
		{Name: "local-array-command", For: ids("IPC-017"), Reason: `got \{"ok":true`, Fault: "an array with a command's name is a command", local: lacking("a command is an object")},
		{Name: "local-trailing", For: ids("IPC-017"), Reason: `got \{"ok":true`, Fault: "what follows a command on its line is ignored", local: lacking("nothing follows a command")},
		{Name: "local-payload-default", For: ids("IPC-017"), Reason: `got \{"ok":true|self_send`, Fault: "a message without payload is sent with an empty one", local: lacking("a payload is needed")},
		{Name: "local-payload-any", For: ids("IPC-017"), Reason: `got \{"ok":true|self_send`, Fault: "a payload may be of any type", local: lacking("a payload is an object")},
		{Name: "local-ref-any", For: ids("IPC-017"), Reason: `got \{"ok":true|self_send`, Fault: "a ref that is no UUID is left out", local: lacking("a ref is a UUID")},
		{Name: "local-refused-and-sent", For: ids("IPC-016"), Reason: `it opened stream`, Fault: "a message whose req_id is refused is sent all the same", local: func(m *localManner) {
			m.answer = func(c *localClient, cmd *localCommand, a *record) []*record {
				if a.failed() && cmd != nil && cmd.name == "" && cmd.has("req_id") && cmd.has("payload") {
					to, _ := cmd.text("to")
					if k := c.d.lookup(to); k != nil {
						if l, err := c.d.connect(c.ctx, k); err == nil {
							l.say(false, "message", nil)
						}
					}
				}
				return []*record{a}
			}
		}},
		{Name: "local-members-ignored", For: ids("IPC-018"), Also: ids("IPC-014"), Reason: `got \{|self_send`, Fault: "members that are not known are ignored", local: lacking("members are known")},
		{Name: "local-nearest-missing", For: ids("IPC-018"), Reason: `it is "`, Fault: "the nearest name is not given", local: lacking("the nearest name is given")},
		{Name: "local-serial-client", For: ids("IPC-019"), Also: ids("IPC-033"), Ceiling: quick, Lost: true, Reason: `it did not come|it opened no stream`, Fault: "the commands of a client are carried out one after another",
			local: lacking("commands with req_id run side by side")},
		{Name: "local-eight-under-way", For: ids("IPC-019"), Ceiling: quick, Lost: true, Reason: `it did not come|it opened no stream|overloaded`, Fault: "eight requests of a client may be under way, and no other command beside them", local: func(m *localManner) {
			slots := make(chan struct{}, 8)
			m.carry = func(x *carriage) ([]byte, error) {
				slots <- struct{}{}
				defer func() { <-slots }()
				return x.run()
			}
		}},
		{Name: "local-one-request", For: ids("IPC-020"), Also: ids("IPC-019", "IPC-030", "IPC-031"), Lost: true, Ceiling: quick, Reason: `it opened no stream|it did not come`, Fault: "one request at a time is under way, and messages wait for it, too", local: func(m *localManner) {
			m.carry = func(x *carriage) ([]byte, error) {
				x.d.single.Lock()
				defer x.d.single.Unlock()
				return x.run()
			}
		}},
		{Name: "local-dials-in-turn", For: ids("IPC-020"), Anywhere: true, Lost: true, Ceiling: quick, Reason: `it opened no stream|it did not come`, Fault: "a dial waits for the one before, and holds up everyone who sends",
			local: lacking("commands do not wait for each other's dials")},
		{Name: "local-any-order", For: ids("IPC-021"), Reason: `the line is|got \{`, Fault: "a quick command without req_id overtakes a slow one", local: lacking("commands without req_id keep their order")},
	}
}

// together2 makes one fault of several.
func together2(changes ...func(*localManner)) func(*localManner) {
	return func(m *localManner) {
		for _, c := range changes {
			c(m)
		}
	}
}

// looking passes over some lines.
func looking(skip func(line []byte) bool) func(*localManner) {
	return func(m *localManner) { m.look = func(_ *localClient, line []byte) bool { return skip(line) } }
}

// withoutID gives answers without req_id one.
func withoutID(value string) func(*localManner) {
	return saying("", func(_ *localClient, a *record) {
		if a.get("req_id") == "" {
			a.set("req_id", value)
		}
	})
}
