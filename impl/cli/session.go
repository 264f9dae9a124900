package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

// localCeiling is how long the local daemon may take for what needs no network.
const localCeiling = 10 * time.Second

// session is a connection to the local daemon, with what its state root tells.
type session struct {
	*client.Client
	root string
}

// end closes the connection; that this fails changes nothing for anybody.
func (s *session) end() { _ = s.Close() }

// dial connects to the local daemon.
func (p *app) dial(ctx context.Context) (*session, error) {
	root, err := p.stateRoot()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, localCeiling, errors.New("the daemon does not answer; see its log, and start it again"))
	defer cancel()
	c, err := client.Dial(ctx, client.Options{StateRoot: root})
	if errors.Is(err, client.ErrNoDaemon) {
		return nil, fmt.Errorf("%w for the state root %s; start one in another terminal with `%s`", client.ErrNoDaemon, root, p.command("daemon"))
	}
	if err != nil {
		return nil, err
	}
	return &session{Client: c, root: root}, nil
}

// command is a command line to advise, with the state root where one was given.
func (p *app) command(words string) string {
	if p.root == "" {
		return "axon " + words
	}
	return "axon " + words + " --state-root " + quoteWord(p.root)
}

func quoteWord(text string) string {
	if !strings.ContainsAny(text, " \t'\"\\$&|;<>()*?[]{}~#!`") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// local bounds a call that needs no network.
func local(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, localCeiling, errors.New("the daemon does not answer; see its log, and start it again"))
}

// contextWithTimeout ends with an error that text explains.
func contextWithTimeout(ctx context.Context, d time.Duration, text string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("%w: %s", errTimeout, text))
}

// unwrapped is the daemon's refusal without what the client says around it.
func unwrapped(err error) error {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e
	}
	return err
}

// names are the peers' names in the configuration. One that cannot be read has
// none: the daemon tells of it.
func names(root string) map[string]identity.AgentID {
	out := map[string]identity.AgentID{}
	conf, err := config.Load(root)
	if err != nil {
		return out
	}
	for _, p := range conf.Peers {
		if p.Name != "" {
			out[p.Name] = p.ID
		}
	}
	return out
}

// resolve finds the Agent ID of a peer that is named by its configured name, its
// Agent ID, or the beginning of that, with or without "ed25519.".
func (s *session) resolve(ctx context.Context, text string) (string, error) {
	named := names(s.root)
	if id, ok := named[text]; ok {
		return string(id), nil
	}
	id, idErr := identity.ParseAgentID(text)
	if idErr == nil {
		return string(id), nil
	}
	ctx, cancel := local(ctx)
	defer cancel()
	list, err := s.Peers(ctx)
	if err != nil {
		return "", err
	}
	peers := list.Peers
	digits, dotted := strings.CutPrefix(strings.ToLower(text), agentIDPrefix)
	if dotted && !isHex(digits) {
		return "", usagef("%w; `axon peers` lists the peers that are known", idErr)
	}
	var found []string
	for _, p := range peers {
		if isHex(digits) && strings.HasPrefix(p.AgentID, agentIDPrefix+digits) {
			found = append(found, p.AgentID)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		shown := found[:min(len(found), 5)]
		return "", usagef("%q is the beginning of %d agent ids (%s …); give more of the one that you mean", text, len(found), strings.Join(shown, ", "))
	}
	return "", usagef("no peer is called %q%s `axon peers` lists the known ones, and `axon connect TOKEN` adds one",
		text, orSemicolon(didYouMean(text, candidates(named, peers))))
}

const agentIDPrefix = "ed25519."

// isHex tells whether text is hex digits, an odd number of them too.
func isHex(text string) bool {
	_, err := hex.DecodeString(text + strings.Repeat("0", len(text)%2))
	return err == nil && text != ""
}

// candidates are all that a peer may be called by.
func candidates(named map[string]identity.AgentID, peers []client.Peer) []string {
	var list []string
	for name := range named {
		list = append(list, name)
	}
	for _, p := range peers {
		list = append(list, p.AgentID)
	}
	slices.Sort(list)
	return list
}

// explain adds the nearest known peer to a refusal for a peer that is not known.
func (s *session) explain(ctx context.Context, id string, err error) error {
	if !errors.Is(err, client.ErrPeerNotFound) {
		return err
	}
	ctx, cancel := local(ctx)
	defer cancel()
	list, listErr := s.Peers(ctx)
	if listErr != nil {
		return err
	}
	if hint := didYouMean(id, candidates(names(s.root), list.Peers)); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}

// secondsFlag is a time-out flag: a number of seconds, or a duration with a unit.
type secondsFlag struct {
	d        *time.Duration
	min, max time.Duration
}

func (f secondsFlag) String() string {
	if f.d == nil || *f.d == 0 {
		return ""
	}
	return strconv.FormatFloat(f.d.Seconds(), 'f', -1, 64)
}

func (f secondsFlag) Type() string { return "seconds" }

func (f secondsFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if n, numberErr := strconv.ParseFloat(text, 64); numberErr == nil {
		d, err = time.Duration(n*float64(time.Second)), nil
		if n > 1e9 || n < 0 || n != n {
			d = -1
		}
	}
	if err != nil || d < f.min || d > f.max {
		return fmt.Errorf("give seconds from %g to %g, or a duration such as 90s or 2m", f.min.Seconds(), f.max.Seconds())
	}
	*f.d = d
	return nil
}

// timeoutFlag adds --timeout.
func timeoutFlag(flags *pflag.FlagSet, d *time.Duration, most time.Duration, usage string) {
	flags.Var(secondsFlag{d, time.Second, most}, "timeout", usage)
}
