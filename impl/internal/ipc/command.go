package ipc

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
)

// action is what a command may hold, besides cmd and req_id, and what it does.
type action struct {
	members []string
	quick   bool // does not wait for anything
	// do returns the answer, or nil when it has queued that itself.
	do func(*session, *command) reply
}

// actions by the name of their command. It is filled by init: the functions
// refer to it.
var actions map[string]*action

func init() {
	actions = map[string]*action{
		"send":        {members: []string{"to", "kind", "payload", "ref", "timeout_secs"}, do: (*session).send},
		"serve":       {quick: true, do: (*session).acquire},
		"reply":       {members: []string{"request_id", "kind", "payload", "peer"}, quick: true, do: (*session).reply},
		"decline":     {members: []string{"request_id", "peer"}, quick: true, do: (*session).decline},
		"peers":       {quick: true, do: (*session).peers},
		"add_peer":    {members: []string{"token", "pubkey", "addr", "agent_id"}, do: (*session).addPeer},
		"remove_peer": {members: []string{"agent_id"}, do: (*session).removePeer},
		"status":      {quick: true, do: (*session).status},
		"whoami":      {quick: true, do: (*session).whoami},
	}
}

// command is a parsed line. Values are raw JSON that shares memory with it;
// a ref that is null counts as absent.
type command struct {
	run     *action
	reqID   []byte // raw; nil when there is none
	members map[string][]byte
}

// parse reads a line. It returns the raw req_id also beside a failure, wherever
// it could be read.
func parse(line []byte) (cmd *command, reqID []byte, f *failure) {
	members := map[string][]byte{}
	twice := ""
	err := envelope.Members(line, func(name, value []byte) error {
		key := string(name)
		if _, have := members[key]; have {
			twice = key
			return nil
		}
		if value[0] == 'n' && key == "ref" {
			value = nil
		}
		members[key] = value
		return nil
	})
	reqID, f = takeReqID(members)
	switch {
	case !utf8.Valid(line):
		return nil, reqID, fail(codeInvalid, "the line holds bytes that are not UTF-8; send JSON in UTF-8")
	case err != nil:
		return nil, reqID, fail(codeInvalid, "the line is not one JSON object (%v); send one object a line, without line breaks in it", err)
	case twice != "":
		return nil, reqID, fail(codeInvalid, "the member %.100q comes twice; send it once", twice)
	case f != nil:
		return nil, reqID, f
	}
	run, f := takeAction(members)
	if f != nil {
		return nil, reqID, f
	}
	return &command{run, reqID, members}, reqID, nil
}

// takeReqID removes the req_id from the members.
func takeReqID(members map[string][]byte) ([]byte, *failure) {
	raw := members["req_id"]
	delete(members, "req_id")
	switch {
	case raw == nil:
		return nil, nil
	case raw[0] != '"' || !utf8.Valid(raw):
		return nil, fail(codeInvalid, "req_id is not a string; send a text of at most %d bytes, or leave it out", maxReqID)
	case len(envelope.Text(raw)) > maxReqID:
		return nil, fail(codeInvalid, "req_id is longer than %d bytes; send a shorter one", maxReqID)
	}
	return raw, nil
}

func takeAction(members map[string][]byte) (*action, *failure) {
	raw := members["cmd"]
	delete(members, "cmd")
	names := slices.Sorted(maps.Keys(actions))
	if raw == nil || raw[0] != '"' {
		return nil, fail(codeInvalid, `there is no "cmd" that is a string; name one of %s`, strings.Join(names, ", "))
	}
	name := string(envelope.Text(raw))
	run := actions[name]
	if run == nil {
		return nil, fail(codeInvalid, "there is no command %.100q; did you mean %q? The commands are %s", name, config.Nearest(name, names), strings.Join(names, ", "))
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		switch {
		case slices.Contains(run.members, key):
		case len(run.members) == 0:
			return nil, fail(codeInvalid, "%s takes no %.100q; it has no members but cmd and req_id", name, key)
		default:
			return nil, fail(codeInvalid, "%s takes no %.100q; did you mean %q? It takes %s", name, key, config.Nearest(key, run.members), strings.Join(run.members, ", "))
		}
	}
	return run, nil
}

var errAbsent = errors.New("absent")

// text returns a member that must be a string; errAbsent when it is not there.
func (c *command) text(name string) (string, error) {
	raw := c.members[name]
	switch {
	case raw == nil:
		return "", errAbsent
	case raw[0] != '"':
		return "", fmt.Errorf("%s is not a string", name)
	}
	return string(envelope.Text(raw)), nil
}

func (c *command) agent(name string) (identity.AgentID, error) {
	text, err := c.text(name)
	if err != nil {
		return "", err
	}
	id, err := identity.ParseAgentID(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w; `axon peers` lists the known ones", name, shorten(err))
	}
	return id, nil
}

func (c *command) uuid(name string) (uuid.UUID, error) {
	text, err := c.text(name)
	if err != nil {
		return uuid.Nil, err
	}
	id, ok := envelope.ParseUUID([]byte(text))
	if !ok {
		return uuid.Nil, fmt.Errorf("%s is not a UUID in the hyphenated form", name)
	}
	return id, nil
}

// payload returns the raw object, with no white space around it.
func (c *command) payload() ([]byte, *failure) {
	raw := c.members["payload"]
	switch {
	case raw == nil:
		return nil, fail(codeInvalid, "payload is missing; send a JSON object, {} for an empty one")
	case raw[0] != '{':
		return nil, fail(codeInvalid, "payload is not a JSON object; wrap the value in one")
	}
	return raw, nil
}

// need turns the error of a required member into the failure to answer with.
func need(name string, err error) *failure {
	if errors.Is(err, errAbsent) {
		return fail(codeInvalid, "%s is missing; send it", name)
	}
	return fail(codeInvalid, "%v; correct it", err)
}

// shorten bounds what an error repeats of a client's text.
func shorten(err error) error {
	const most = 300
	text := err.Error()
	if len(text) <= most {
		return err
	}
	cut := most / 2
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	tail := len(text) - most/2
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	return errors.New(text[:cut] + " … " + text[tail:])
}
