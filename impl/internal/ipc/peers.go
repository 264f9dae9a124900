package ipc

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/envelope"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/links"
	"github.com/axonproto/axon/impl/internal/peers"
)

// roomForList is what the list of peers may take of a line.
const roomForList = MaxLine - 8<<10

// peers lists the peers. Of more than fit in a line the last ones are left out,
// and their number is given.
func (c *session) peers(*command) reply {
	list := c.server.o.Links.List()
	b := []byte{'['}
	omitted := 0
	for i, e := range list {
		if len(b) > roomForList {
			omitted = len(list) - i
			break
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPeer(b, e)
	}
	a := yes().raw("peers", append(b, ']'))
	if omitted > 0 {
		a.number("omitted", int64(omitted))
	}
	return a
}

func appendPeer(b []byte, e links.Entry) []byte {
	trust := "trusted"
	if e.Candidate {
		trust = "candidate"
	}
	b = append(b, `{"agent_id":"`...)
	b = append(b, e.ID...)
	b = append(b, `","public_key":"`...)
	b = append(b, identity.EncodePublicKey(e.PublicKey)...)
	b = append(b, `","addr":`...)
	b = envelope.AppendString(b, e.Addr)
	b = append(b, `,"status":"`...)
	b = append(b, e.Status...)
	b = append(b, `","source":"`...)
	b = append(b, e.Source...)
	b = append(b, `","trust":"`...)
	b = append(b, trust...)
	b = append(b, '"')
	if e.Status == links.Connected {
		b = append(b, `,"rtt_ms":`...)
		ms := float64(e.RTT) / float64(time.Millisecond)
		b = strconv.AppendFloat(b, math.Round(ms*1000)/1000, 'f', -1, 64)
	}
	return append(b, '}')
}

// addPeer takes a token, a key with an address, or a candidate's Agent ID.
func (c *session) addPeer(cmd *command) reply {
	has := func(name string) bool { return cmd.members[name] != nil }
	var p peers.Peer
	var f *failure
	switch {
	case has("token") && !has("pubkey") && !has("addr") && !has("agent_id"):
		p, f = fromToken(cmd)
	case has("pubkey") && has("addr") && !has("token") && !has("agent_id"):
		p, f = fromKey(cmd)
	case has("agent_id") && !has("token") && !has("pubkey") && !has("addr"):
		p, f = c.fromCandidate(cmd)
	default:
		f = fail(codeInvalid, "add_peer takes token alone, or pubkey and addr, or agent_id alone for a candidate; send one of the three")
	}
	if f != nil {
		return f
	}
	p.Source, p.Candidate = peers.Enrolled, false
	if err := c.server.o.Links.Add(p); err != nil {
		return failed(err, codeInternal)
	}
	return yes().text("agent_id", string(p.ID))
}

func fromToken(cmd *command) (peers.Peer, *failure) {
	text, err := cmd.text("token")
	if err != nil {
		return peers.Peer{}, need("token", err)
	}
	token, err := identity.ParseToken(text)
	if err != nil {
		return peers.Peer{}, fail(codeInvalid, "%v; ask the peer's owner for a fresh one", shorten(err))
	}
	if err := config.CheckAddr(token.Addr); err != nil {
		return peers.Peer{}, fail(codeInvalid, "token: %v", shorten(err))
	}
	return peers.Peer{ID: identity.DeriveAgentID(token.PublicKey), PublicKey: token.PublicKey, Addr: token.Addr}, nil
}

func fromKey(cmd *command) (peers.Peer, *failure) {
	text, err := cmd.text("pubkey")
	if err != nil {
		return peers.Peer{}, need("pubkey", err)
	}
	key, err := identity.ParsePublicKey(text)
	if err != nil {
		return peers.Peer{}, fail(codeInvalid, "pubkey: %v", shorten(err))
	}
	addr, err := cmd.text("addr")
	if err != nil {
		return peers.Peer{}, need("addr", err)
	}
	if err := config.CheckAddr(addr); err != nil {
		return peers.Peer{}, fail(codeInvalid, "addr: %v", shorten(err))
	}
	return peers.Peer{ID: identity.DeriveAgentID(key), PublicKey: key, Addr: addr}, nil
}

func (c *session) fromCandidate(cmd *command) (peers.Peer, *failure) {
	id, err := cmd.agent("agent_id")
	if err != nil {
		return peers.Peer{}, need("agent_id", err)
	}
	p, known := c.server.o.Book.Lookup(id)
	if !known {
		return peers.Peer{}, fail(codePeerNotFound, "%s has not been seen on the network; add it with its token, which its owner gets from `axon identity`", id)
	}
	return p, nil
}

func (c *session) removePeer(cmd *command) reply {
	id, err := cmd.agent("agent_id")
	if err != nil {
		return need("agent_id", err)
	}
	if err := c.server.o.Links.Remove(id); err != nil {
		f := failed(err, codeInternal)
		if errors.Is(err, links.ErrUnknown) {
			f.text = string(id) + ": " + f.text
		}
		return f
	}
	return yes().text("agent_id", string(id))
}

func (c *session) status(*command) reply {
	s := c.server
	return yes().number("uptime_secs", s.uptime()).
		number("peers_connected", int64(s.o.Network.Peers())).
		number("messages_sent", int64(s.sent.Load()+s.o.Dispatcher.Replied())).
		number("messages_received", int64(s.received.Load()+s.o.Dispatcher.Received()))
}

func (c *session) whoami(*command) reply {
	s := c.server
	a := yes().text("agent_id", string(s.o.Own)).text("public_key", identity.EncodePublicKey(s.o.PublicKey))
	if s.o.Name != "" {
		a.text("name", s.o.Name)
	}
	return a.text("version", s.o.Version).number("uptime_secs", s.uptime())
}
