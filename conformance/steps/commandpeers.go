package steps

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`a peer on this machine`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		if _, err := s.console(); err != nil {
			return err
		}
		_, err := s.newPeer(probe.ListenOptions{})
		return err
	})
	define(`two peers that the target knows, whose Agent IDs begin alike`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.alike(ctx)
	})
	define(`the peer gets a (request|message) with the payload (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		want, err := s.expand(strings.ReplaceAll(a[1], `\\n`, `\n`), "")
		if err != nil {
			return err
		}
		if err := s.commandReaches(ctx, a[0]); err != nil {
			return err
		}
		x := s.received()
		return samePayload(x, "the payload that the command line was given", x.read().envelope.Payload, want)
	})
	define(`the peer is known as before`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		if err := s.say(ctx, "Z", []byte(`{"cmd":"peers"}`)); err != nil {
			return err
		}
		if err := s.positive(ctx, "Z", ""); err != nil {
			return err
		}
		return s.peerListed("trusted", "enrolled")
	})
	define(`neither of the two peers has received anything`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		for _, p := range s.peers {
			select {
			case x := <-p.incoming:
				return fail(x, "nothing is sent to either of the two", "stream %d carried %s", x.stream.ID(), x.read().describe())
			default:
			}
		}
		return nil
	})
	define(`the file "([\w-]+)" holds the request's envelope, with from`, func(_ context.Context, s *Scenario, a []string, _ string) error {
		return s.handedEnvelope(a[0])
	})
	define("`axon peers --json` prints the peers as the local API tells them", func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.samePeers(ctx)
	})
	define(`its ("[^"]+"(?:, "[^"]+")*) (?:is|are) as in the answer that client ([A-Z]) gets to (.+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		return s.asTheAPISays(ctx, strings.Split(strings.ReplaceAll(a[0], `"`, ""), ", "), a[1], a[2])
	})
	define(`standard output is the reply's envelope`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		if err := s.printedMembers(ctx, []string{"id", "kind", "payload", "ref"}); err != nil {
			return err
		}
		if got := s.line.Member("kind"); got != s.written.Kind || !wire.SameUUID(s.line.Member("id"), s.written.ID) || s.written.Ref == nil || !wire.SameUUID(s.line.Member("ref"), *s.written.Ref) {
			return fail(s.receivedOrNil(), "the envelope of the reply, "+shorten(fmt.Sprintf("%+v", s.written)), "standard output is %s", shorten(string(s.line.Raw)))
		}
		payload, _ := s.line.Value.Get("payload")
		if !wire.Equal(payload, s.written.Payload) {
			return fail(s.receivedOrNil(), "the payload of the reply", "standard output is %s", shorten(string(s.line.Raw)))
		}
		return nil
	})
}

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func makeIdentities(n int) ([]credential.Identity, error) {
	var list []credential.Identity
	for range n {
		id, err := credential.New()
		if err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, nil
}

// alike makes two peers that the beginning of an Agent ID does not tell apart.
func (s *Scenario) alike(ctx context.Context) error {
	first, err := s.enrolled(ctx, probe.ListenOptions{})
	if err != nil {
		return err
	}
	const shared = len("ed25519.") + 2
	s.terminal.beginning = first.identity.AgentID()[:shared]
	for {
		id, err := credential.New()
		if err != nil {
			return err
		}
		if !strings.HasPrefix(id.AgentID(), s.terminal.beginning) {
			continue
		}
		p, err := s.newPeerAs(id, probe.ListenOptions{})
		if err != nil {
			return err
		}
		if err := s.Target.Control.Enroll(ctx, id.Public(), p.endpoint.Addr().String()); err != nil {
			return blockedOr(err, "the target did not take the suite's third probe as a peer")
		}
		return nil
	}
}

// commandReaches waits for what a command sends, on a stream of the right type; that
// the command ends in failure before is worth knowing.
func (s *Scenario) commandReaches(ctx context.Context, kind string) error {
	c, err := s.commandOf("it")
	if err != nil {
		return err
	}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan struct{})
	defer func() { <-watched }()
	defer cancel()
	go func() {
		defer close(watched)
		select {
		case <-c.Ended():
			if c.Code() != 0 {
				cancel()
			}
		case <-waiting.Done():
		}
	}()
	what := "the target sends the " + kind + " that the command line was given"
	x, r, err := s.peer().next(waiting, s, what)
	if x == nil {
		s.Lost = false
		return fail(nil, what, "nothing came; %s", spoken(c))
	}
	if err != nil {
		return err
	}
	if r.envelope.Kind != kind || x.stream.Bidi() != (kind == "request") {
		direction := map[bool]string{true: "bidirectional", false: "unidirectional"}
		return fail(x, fmt.Sprintf("a %s on a %s stream", kind, direction[kind == "request"]), "a %s stream carried %s", direction[x.stream.Bidi()], r.describe())
	}
	return nil
}

// handedEnvelope looks at what a program of `axon serve` read from its standard input.
func (s *Scenario) handedEnvelope(name string) error {
	const expected = "the program reads the request's envelope, from included, as one JSON object"
	b, err := os.ReadFile(filepath.Join(s.terminal.folder, name))
	if err != nil {
		return fail(s.last, expected, "%v", err)
	}
	v, err := wire.Parse(b)
	if err != nil || v.Kind != wire.Object {
		return fail(s.last, expected, "it read %q (%v)", shorten(string(b)), err)
	}
	l := control.Line{Raw: b, Value: v}
	sent, err := wire.Parse(s.last.sent)
	if err != nil {
		return err
	}
	payload, _ := v.Get("payload")
	original, _ := sent.Get("payload")
	if !wire.SameUUID(l.Member("id"), s.last.id) || l.Member("kind") != "request" || !wire.Equal(payload, original) ||
		!strings.EqualFold(l.Member("from"), s.Target.Identity.AgentID()) {
		return fail(s.last, expected, "it read %s", shorten(string(b)))
	}
	return nil
}

// peerMembers are what is told of each peer.
var peerMembers = []string{"agent_id", "public_key", "addr", "status", "source", "trust"}

// samePeers holds `axon peers --json` against the command peers of the local API. What
// changes by itself, as the status does, is compared once it did not change meanwhile.
func (s *Scenario) samePeers(ctx context.Context) error {
	before, err := s.toldPeers(ctx)
	if err != nil {
		return err
	}
	for {
		if _, err := s.runCommand("peers --json", nil); err != nil {
			return err
		}
		if err := s.exits(ctx, "it", "exit code 0", func(code int) bool { return code == 0 }); err != nil {
			return err
		}
		if err := s.printedMembers(ctx, []string{"peers"}); err != nil {
			return err
		}
		printed, raw := s.line.Value, s.line.Raw
		after, err := s.toldPeers(ctx)
		if err != nil {
			return err
		}
		if peersProblem(before, after) == "" {
			if problem := peersProblem(after, printed); problem != "" {
				return fail(nil, "each peer as the local API tells it", "%s; standard output is %s", problem, shorten(string(raw)))
			}
			return nil
		}
		if before = after; !pause(ctx) {
			return &verdict.Blocked{Reason: "what the local API tells of the peers changes all the time"}
		}
	}
}

// toldPeers is the answer of the local API to peers.
func (s *Scenario) toldPeers(ctx context.Context) (wire.Value, error) {
	if err := s.say(ctx, "Z", []byte(`{"cmd":"peers"}`)); err != nil {
		return wire.Value{}, err
	}
	err := s.positive(ctx, "Z", "")
	return s.line.Value, err
}

// peersProblem tells in what two answers differ, empty when they do not.
func peersProblem(want, got wire.Value) string {
	wanted, _ := want.Get("peers")
	found, _ := got.Get("peers")
	if found.Kind != wire.Array || len(found.Array) != len(wanted.Array) {
		return fmt.Sprintf("there are %d peers, not %d", len(found.Array), len(wanted.Array))
	}
	for _, w := range wanted.Array {
		id, _ := w.Get("agent_id")
		i := slices.IndexFunc(found.Array, func(g wire.Value) bool {
			other, _ := g.Get("agent_id")
			return other.String == id.String
		})
		if i < 0 {
			return "the peer " + id.String + " is missing"
		}
		for _, name := range peerMembers {
			a, _ := w.Get(name)
			if b, n := found.Array[i].Get(name); n != 1 || !wire.Equal(a, b) {
				return fmt.Sprintf("%s of %s is %s, not %s", name, id.String, b.Raw, a.Raw)
			}
		}
	}
	return ""
}

// asTheAPISays compares members of what was printed with an answer of the local API.
func (s *Scenario) asTheAPISays(ctx context.Context, names []string, client, command string) error {
	if err := s.printedMembers(ctx, names); err != nil {
		return err
	}
	printed := s.line
	if err := s.say(ctx, client, []byte(command)); err != nil {
		return err
	}
	if err := s.positive(ctx, client, ""); err != nil {
		return err
	}
	for _, name := range names {
		a, n := s.line.Value.Get(name)
		b, _ := printed.Value.Get(name)
		if n != 1 || !wire.Equal(a, b) {
			return fail(nil, fmt.Sprintf("%s as in %s", name, shorten(string(s.line.Raw))), "standard output is %s", shorten(string(printed.Raw)))
		}
	}
	return nil
}
