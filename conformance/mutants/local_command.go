package mutants

import (
	"encoding/base64"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/wire"
)

// localCommand is a line that could be read.
type localCommand struct {
	name  string
	reqID string // raw; empty when there is none
	v     wire.Value
}

// members of each command besides cmd and req_id.
var localMembers = map[string][]string{
	"send": {"to", "kind", "payload", "ref", "timeout_secs"}, "serve": {},
	"reply": {"request_id", "kind", "payload", "peer"}, "decline": {"request_id", "peer"},
	"peers": {}, "add_peer": {"token", "pubkey", "addr", "agent_id"}, "remove_peer": {"agent_id"},
	"status": {}, "whoami": {},
}

// text is a member that has to be a string.
func (cmd *localCommand) text(name string) (string, bool) {
	v, n := cmd.v.Get(name)
	return v.String, n == 1 && v.Kind == wire.String
}

func (cmd *localCommand) has(name string) bool {
	_, n := cmd.v.Get(name)
	return n > 0
}

// take deals with a line: commands with a req_id run side by side, the others in
// their order.
func (c *localClient) take(line []byte) {
	cmd, problem := c.parse(line)
	do := func() {
		a := problem
		if a == nil {
			a = c.do(cmd)
		}
		if a != nil {
			c.say(cmd, a)
		}
	}
	switch {
	case problem != nil && c.d.lax("a bad line does not end the connection"):
		do()
		c.finish()
		_ = c.conn.CloseRead()
	case cmd.reqID == "" && !c.d.lax("commands without req_id keep their order"):
		c.lane <- do
	case c.d.lax("commands with req_id run side by side"):
		do()
	default:
		c.under.Go(do)
	}
}

// parse reads a line; the command is never nil and holds the req_id where that
// could be read.
func (c *localClient) parse(line []byte) (*localCommand, *record) {
	d := c.d
	cmd := &localCommand{}
	invalid := func(format string, args ...any) (*localCommand, *record) {
		return cmd, no("invalid_command", fmt.Sprintf(format, args...)+"; correct the line and send it again")
	}
	v, err := wire.Parse(line)
	if err != nil && d.lax("nothing follows a command") {
		v, _, err = wire.ParsePrefix(line)
	}
	if err == nil && v.Kind == wire.Array && len(v.Array) == 1 && d.lax("a command is an object") {
		v = wire.Value{Kind: wire.Object, Object: []wire.Member{{Name: "cmd", Value: v.Array[0]}}}
	}
	if err != nil || v.Kind != wire.Object {
		return invalid("the line is no JSON object")
	}
	cmd.v = v
	if id, n := v.Get("req_id"); n > 0 {
		switch {
		case id.Kind == wire.Null && d.lax("a req_id is no null"):
		case id.Kind != wire.String && !d.lax("a req_id is a string"):
			return invalid("req_id is no string")
		case len(id.String) > d.m.maxReqID:
			return invalid("req_id has more than %d bytes", d.m.maxReqID)
		default:
			cmd.reqID = string(id.Raw)
		}
	}
	name, ok := cmd.text("cmd")
	if !ok && d.lax("names match exactly") {
		name, ok = cmd.text("CMD")
	}
	if d.lax("names match exactly") {
		name = strings.ToLower(name)
	}
	if !ok {
		return invalid("there is no cmd that is a string")
	}
	members, known := localMembers[name]
	if !known {
		return invalid("there is no command %q", name)
	}
	cmd.name = name
	for _, m := range v.Object {
		if m.Name == "cmd" || m.Name == "req_id" || slices.Contains(members, m.Name) || d.lax("members are known") || name != "send" && m.Name == "CMD" {
			continue
		}
		if d.lax("the nearest name is given") {
			return invalid("%s has a member too many", name)
		}
		return invalid("%s has no member %q; did you mean %q", name, m.Name, nearestOf(m.Name, append(members, "req_id")))
	}
	return cmd, nil
}

// nearestOf is the name that shares most letters with another.
func nearestOf(name string, among []string) string {
	best, most := among[0], -100
	for _, other := range among {
		score := -abs(len(name) - len(other))
		for _, letter := range other {
			if strings.ContainsRune(name, letter) {
				score++
			}
		}
		if score > most {
			best, most = other, score
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// do carries a command out; nil means that it has been answered already.
func (c *localClient) do(cmd *localCommand) *record {
	if a := c.d.m.act(c, cmd); a != nil {
		return a
	}
	switch cmd.name {
	case "send":
		return c.send(cmd)
	case "serve":
		return c.acquire(cmd)
	case "reply", "decline":
		return c.settle(cmd)
	case "peers":
		return c.d.list()
	case "add_peer":
		return c.d.addPeer(cmd)
	case "remove_peer":
		return c.d.removePeer(cmd)
	case "status":
		return c.d.numbers()
	}
	return c.d.whoami()
}

func (d *localDaemon) uptime() string { return strconv.Itoa(int(time.Since(d.started) / time.Second)) }

func (d *localDaemon) whoami() *record {
	return yes("agent_id", quote(d.own()), "public_key", quote(d.peer.identity.PublicBase64()), "version", quote("1.2.3"), "uptime_secs", d.uptime())
}

// own is the daemon's Agent ID.
func (d *localDaemon) own() string { return d.peer.identity.AgentID() }

func (d *localDaemon) numbers() *record {
	connected := 0
	d.mu.Lock()
	book := append([]*pinned(nil), d.book...)
	d.mu.Unlock()
	for _, k := range book {
		if d.status(k) == "connected" {
			connected++
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lax("each peer counts once") {
		connected = 0
		for _, links := range d.links {
			connected += len(links)
		}
	}
	return yes("uptime_secs", d.uptime(), "peers_connected", strconv.Itoa(connected),
		"messages_sent", strconv.FormatInt(d.sent, 10), "messages_received", strconv.FormatInt(d.received, 10))
}

func (d *localDaemon) list() *record {
	d.mu.Lock()
	book := append([]*pinned(nil), d.book...)
	d.mu.Unlock()
	var entries []string
	for _, k := range book {
		if e := d.m.listed(d, k); e != nil {
			entries = append(entries, e.text())
		}
	}
	return yes("peers", "["+strings.Join(entries, ",")+"]")
}

func (d *localDaemon) entry(k *pinned) *record {
	e := rec("agent_id", quote(k.id), "public_key", quote(base64.StdEncoding.EncodeToString(k.key)), "addr", quote(k.addr),
		"status", quote(d.status(k)), "source", quote(k.source), "trust", quote("trusted"))
	if d.status(k) == "connected" {
		e.set("rtt_ms", "0.2")
	}
	return e
}

func (d *localDaemon) addPeer(cmd *localCommand) *record {
	invalid := func(what string) *record {
		return no("invalid_command", what+"; give a token, or pubkey and addr, or the agent_id of a candidate")
	}
	token, key, addr, id := cmd.has("token"), cmd.has("pubkey"), cmd.has("addr"), cmd.has("agent_id")
	mixed := d.lax("the forms of add_peer are not mixed")
	switch {
	case id && !(token || key || addr):
		if d.lax("a candidate has been seen") {
			text, _ := cmd.text("agent_id")
			return yes("agent_id", quote(text))
		}
		return no("peer_not_found", "that agent has not been seen; add it by its token")
	case token && (!(key || addr || id) || mixed):
		text, _ := cmd.text("token")
		public, at, err := credential.ParseToken(text)
		if err != nil {
			return invalid("the token cannot be used")
		}
		return d.pin(public, at)
	case key && addr && !(token || id), key && d.lax("a key needs an address"):
		text, _ := cmd.text("pubkey")
		at, _ := cmd.text("addr")
		public, err := credential.ParsePublicKey(text)
		if err != nil {
			return invalid("pubkey is no key in standard base64")
		}
		if !usable(at) && !d.lax("an address can be used") && !(at == "" && d.lax("a key needs an address")) {
			if d.lax("what is refused is not added") {
				d.add(public, at)
			}
			return invalid("addr is no HOST:PORT")
		}
		return d.pin(public, at)
	}
	return invalid("add_peer has one of three forms")
}

// usable tells whether an address is a host and a port.
func usable(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	n, bad := strconv.Atoi(port)
	return err == nil && bad == nil && host != "" && n > 0 && n < 65536
}

func (d *localDaemon) pin(key []byte, addr string) *record {
	if d.lookup(credential.AgentID(key)) != nil && d.lax("adding again is no error") {
		return no("peer_conflict", "that peer is known already; remove it first")
	}
	id, conflict := d.add(key, addr)
	if conflict {
		if d.lax("a conflict changes nothing") {
			d.mu.Lock()
			d.book = slices.DeleteFunc(d.book, func(k *pinned) bool { return k.addr == addr })
			d.mu.Unlock()
			d.add(key, addr)
		}
		return no("peer_conflict", "another key is pinned at that address; remove that peer first")
	}
	if d.lax("answers are in lower case") {
		id = strings.ToUpper(id)
	}
	return yes("agent_id", quote(id))
}

func (d *localDaemon) removePeer(cmd *localCommand) *record {
	text, ok := cmd.text("agent_id")
	if !ok {
		return no("invalid_command", "remove_peer needs agent_id, a text; name the peer")
	}
	id := d.lower(text)
	if !d.remove(id) && !d.lax("what is removed is known") {
		return no("peer_not_found", "no such peer is known; `peers` lists them")
	}
	if d.lax("answers are in lower case") {
		id = text
	}
	return yes("agent_id", quote(id))
}
