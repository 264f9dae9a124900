package steps

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`a peer that the target does not know`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		if _, err := s.localAPI(); err != nil {
			return err
		}
		_, err := s.newPeer(probe.ListenOptions{})
		return err
	})
	define(`a peer that the target knows, which refuses the target`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		_, err := s.enrolled(ctx, probe.ListenOptions{VerifyPeer: refuseAll})
		return err
	})
	define(`a peer that the target knows, at whose address nobody answers`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.silentPeer(ctx)
	})
	define(`the peer dials the target and is served`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		c, err := s.peerDials(ctx)
		if err != nil {
			return err
		}
		x, err := s.good(ctx, c)
		if err != nil {
			return fail(x, "the peer is served when it dials", "it was not: %s", actualOf(err))
		}
		return nil
	})
	define(`the peer dials the target and is refused`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		if err := s.tryDialFrom(ctx, s.peer().endpoint, s.Target.dialOptions()); err != nil {
			return err
		}
		return s.refused(ctx)
	})
	define(`the peer closes the connection`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		for _, c := range s.peer().connections() {
			_ = c.Close(0, "the peer is going")
		}
		return nil
	})
	define(`the peer closes the connection and goes away`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		// Nobody answers at its address from now on. Closing says so on each
		// connection.
		p := s.peer()
		err := p.endpoint.Close()
		p.accepts.Wait()
		return err
	})
	define(`the peer's connection is closed by the target`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		for _, c := range s.peer().connections() {
			select {
			case <-c.Done():
			case <-ctx.Done():
				return s.lose(&exchange{conn: c}, "the target closes its connection with the peer", "it is open after %s", s.Target.Ceiling)
			}
			if end := c.End(); !end.Remote {
				return fail(&exchange{conn: c}, "the target closes its connection with the peer", "it ended: %s", describeClosing(end))
			}
		}
		return nil
	})
	define(`the peer is listed with its key, its address, trust "([^"]+)" and source "([^"]+)"`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.peerListed(a[0], a[1])
	})
	define(`nobody else is listed with its address`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		list, _ := s.line.Value.Get("peers")
		for _, e := range list.Array {
			id, _ := e.Get("agent_id")
			addr, _ := e.Get("addr")
			if p := s.peer(); addr.String == p.endpoint.Addr().String() && id.String != p.identity.AgentID() {
				return fail(nil, "nobody else is listed with the peer's address", "there is %s", e.Raw)
			}
		}
		return nil
	})
	define(`the peer is not listed`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		if _, n := s.entryOf(s.peer()); n > 0 {
			return fail(nil, "the peer is not listed", "the answer is %s", shorten(string(s.line.Raw)))
		}
		return nil
	})
	define(`every peer is listed with members of the right kinds`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		list, _ := s.line.Value.Get("peers")
		if list.Kind != wire.Array {
			return fail(nil, "an answer with peers, an array", "it is %s", shorten(string(s.line.Raw)))
		}
		for _, entry := range list.Array {
			if problem := entryProblem(entry); problem != "" {
				return fail(nil, "each peer with agent_id, public_key, addr, status, source, trust and, when known, rtt_ms", "%s: %s", problem, shorten(string(entry.Raw)))
			}
		}
		return nil
	})
	define(`the peer's status becomes (other than )?"([^"]+)"`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.awaitStatus(ctx, a[1], a[0] == "")
	})
}

func refuseAll(*x509.Certificate) error { return errors.New("this peer refuses everybody") }

// silentPeer has the target know a peer at an address where packets are taken and
// nothing answers.
func (s *Scenario) silentPeer(ctx context.Context) error {
	p, err := s.newPeer(probe.ListenOptions{})
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(p.endpoint.Addr().String())
	if err != nil {
		return err
	}
	if s.silent, err = net.ListenPacket("udp", net.JoinHostPort(host, "0")); err != nil {
		return fmt.Errorf("open a UDP socket that answers nothing: %w", err)
	}
	if err := s.Target.Control.Enroll(ctx, p.identity.Public(), s.silent.LocalAddr().String()); err != nil {
		return blockedOr(err, "the target did not take the suite's second probe as a peer")
	}
	return nil
}

// peerDials has the peer make a connection to the target.
func (s *Scenario) peerDials(ctx context.Context) (*probe.Conn, error) {
	p := s.peer()
	c, err := p.endpoint.Dial(ctx, s.Target.dialOptions())
	if err != nil {
		return nil, s.lose(nil, "the target admits a peer that it knows", "%v", err)
	}
	p.take(c)
	return c, nil
}

// entryOf is a peer's entry in the answer to peers, and how many there are.
func (s *Scenario) entryOf(p *peer) (entry wire.Value, n int) {
	list, _ := s.line.Value.Get("peers")
	for _, e := range list.Array {
		if id, _ := e.Get("agent_id"); id.String == p.identity.AgentID() {
			entry = e
			n++
		}
	}
	return entry, n
}

func (s *Scenario) peerListed(trust, source string) error {
	p := s.peer()
	entry, n := s.entryOf(p)
	if n != 1 {
		return fail(nil, "the peer "+p.identity.AgentID()+" is listed once", "it stands %d times in %s", n, shorten(string(s.line.Raw)))
	}
	for _, m := range []struct{ name, want string }{
		{"public_key", p.identity.PublicBase64()}, {"addr", p.endpoint.Addr().String()}, {"trust", trust}, {"source", source},
	} {
		if got, _ := entry.Get(m.name); got.String != m.want {
			return fail(nil, fmt.Sprintf("the peer is listed with %s %q", m.name, m.want), "its entry is %s", entry.Raw)
		}
	}
	if problem := entryProblem(entry); problem != "" {
		return fail(nil, "members of the right kinds", "%s: %s", problem, entry.Raw)
	}
	return nil
}

var entryWords = []struct {
	name  string
	words []string
}{
	{"status", []string{"discovered", "connecting", "connected", "backoff", "disconnected"}},
	{"source", []string{"static", "discovered", "cached", "enrolled"}},
	{"trust", []string{"trusted", "candidate"}},
}

// entryProblem tells what is wrong with the form of a peer's entry.
func entryProblem(entry wire.Value) string {
	id, _ := entry.Get("agent_id")
	key, _ := entry.Get("public_key")
	if b, err := base64.StdEncoding.DecodeString(key.String); err != nil || len(b) != 32 || credential.AgentID(b) != id.String {
		return "public_key is no key in standard base64 from which agent_id derives"
	}
	if addr, n := entry.Get("addr"); n != 1 || addr.Kind != wire.String {
		return "addr is missing or no text"
	}
	for _, m := range entryWords {
		if v, n := entry.Get(m.name); n != 1 || !slices.Contains(m.words, v.String) {
			return m.name + " is none of " + strings.Join(m.words, ", ")
		}
	}
	if rtt, n := entry.Get("rtt_ms"); n > 0 && (rtt.Kind != wire.Number || strings.HasPrefix(rtt.Number, "-")) {
		return "rtt_ms is no number of milliseconds"
	}
	return ""
}

// awaitStatus waits until the peer is, or is no longer, listed with a status.
func (s *Scenario) awaitStatus(ctx context.Context, status string, wanted bool) error {
	var entry wire.Value
	for {
		l, err := s.command(ctx, `"cmd":"peers"`)
		if ctx.Err() != nil {
			return s.lose(nil, fmt.Sprintf("the peer's status %s %q", map[bool]string{true: "becomes", false: "is no longer"}[wanted], status),
				"after %s its entry is %s", s.Target.Ceiling, entry.Raw)
		}
		if err != nil {
			return err
		}
		s.line = l
		var n int
		entry, n = s.entryOf(s.peer())
		got, _ := entry.Get("status")
		if n == 1 && (got.String == status) == wanted {
			return nil
		}
		pause(ctx)
	}
}
