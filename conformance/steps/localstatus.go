package steps

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/wire"
)

func init() {
	define(`client ([A-Z]) notes the counters`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		got, err := s.count(ctx)
		s.counters = got
		return err
	})
	define(`"(messages_sent|messages_received)" has risen by at least (\d+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[1])
		if err != nil {
			return err
		}
		return s.risen(ctx, a[0], int64(n))
	})
	define(`the probe sends (\d+) envelopes of kind (\w+)`, func(ctx context.Context, s *Scenario, a []string, _ string) error {
		n, err := number(a[0])
		if err != nil {
			return err
		}
		for range n {
			if _, err := s.send(ctx, a[1] == "request", plain(a[1], wire.NewID())); err != nil {
				return err
			}
		}
		return nil
	})
	define(`peers_connected is the number of peers that are listed as connected`, func(ctx context.Context, s *Scenario, _ []string, _ string) error {
		return s.connectedAgree(ctx)
	})
	define(`the line's public_key is the key that the target proves, and its agent_id derives from it`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		key := s.line.Member("public_key")
		b, err := base64.StdEncoding.DecodeString(key)
		if err != nil || len(b) != 32 || s.Target.Key != nil && !s.Target.Key.Equal(ed25519.PublicKey(b)) {
			return fail(nil, "the key "+base64.StdEncoding.EncodeToString(s.Target.Key)+" that the target shows to peers", "public_key is %q", key)
		}
		if id := s.line.Member("agent_id"); credential.AgentID(b) != id {
			return fail(nil, "the Agent ID "+credential.AgentID(b)+" that derives from public_key", "agent_id is %q", id)
		}
		return nil
	})
	define(`the line's name is a text that is not empty, or is left out`, func(_ context.Context, s *Scenario, _ []string, _ string) error {
		if v, n := s.line.Value.Get("name"); n > 0 && (v.Kind != wire.String || v.String == "") {
			return fail(nil, "name only when one is configured", "the line is %s", shorten(string(s.line.Raw)))
		}
		return nil
	})
}

var counterNames = []string{"uptime_secs", "peers_connected", "messages_sent", "messages_received"}

// count asks the target for its numbers.
func (s *Scenario) count(ctx context.Context) (map[string]int64, error) {
	l, err := s.command(ctx, `"cmd":"status"`)
	if err != nil {
		return nil, err
	}
	got := map[string]int64{}
	for _, name := range counterNames {
		v, _ := l.Value.Get(name)
		n, err := strconv.ParseInt(v.Number, 10, 64)
		if err != nil || n < 0 {
			return nil, fail(nil, name+" is a whole number that is not negative", "the answer is %s", shorten(string(l.Raw)))
		}
		got[name] = n
	}
	return got, nil
}

// risen waits until a counter has risen; none may have fallen.
func (s *Scenario) risen(ctx context.Context, name string, by int64) error {
	before := s.counters
	for last := before; ; {
		now, err := s.count(ctx)
		if ctx.Err() != nil {
			return s.lose(nil, fmt.Sprintf("%s rises by %d from %d", name, by, before[name]), "it is %d after %s", last[name], s.Target.Ceiling)
		}
		if err != nil {
			return err
		}
		for _, each := range []string{"messages_sent", "messages_received"} {
			if now[each] < last[each] {
				return fail(nil, each+" never falls", "it fell from %d to %d", last[each], now[each])
			}
		}
		if now[name] >= before[name]+by {
			return nil
		}
		last = now
		pause(ctx)
	}
}

// connectedAgree: the number and the list agree as soon as both are asked for while
// no connection comes or goes.
func (s *Scenario) connectedAgree(ctx context.Context) error {
	differ := errors.New("they were never asked for")
	for {
		numbers, err := s.count(ctx)
		if ctx.Err() != nil {
			return differ
		}
		if err != nil {
			return err
		}
		l, err := s.command(ctx, `"cmd":"peers"`)
		if ctx.Err() != nil {
			return differ
		}
		if err != nil {
			return err
		}
		list, _ := l.Value.Get("peers")
		listed := int64(0)
		for _, entry := range list.Array {
			if status, _ := entry.Get("status"); status.String == "connected" {
				listed++
			}
		}
		if numbers["peers_connected"] == listed {
			return nil
		}
		differ = s.lose(nil, "peers_connected is the number of peers that peers shows as connected", "it is %d, and %d are listed so", numbers["peers_connected"], listed)
		pause(ctx)
	}
}
