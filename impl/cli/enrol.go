package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

func newConnect(p *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "connect TOKEN|AGENT_ID",
		Short: "Admit a peer by its token, or one that was discovered",
		Long: paragraphs(
			"Make a peer known to the daemon, for good: its key is pinned, and from then on both may send to each other. The other side has to know this agent as well: give its owner the token that `axon identity` prints.",
			"A key that is pinned is never replaced by connect: `axon forget` comes first.") +
			arguments("TOKEN", "axon://PUBLIC_KEY@HOST:PORT, as the peer's owner sees it in `axon identity`",
				"AGENT_ID", "agent id of a discovered daemon that `axon peers` lists as a candidate, or the beginning of one"),
		Example:           lines("axon connect axon://h2T0…@192.0.2.7:7100", "axon connect ed25519.5a3f"),
		Args:              wantArgs("TOKEN|AGENT_ID"),
		ValidArgsFunction: p.completePeer,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := local(cmd.Context())
			defer cancel()
			isToken := strings.Contains(args[0], "://")
			if isToken {
				if _, err := identity.ParseToken(args[0]); err != nil {
					return err
				}
			}
			s, err := p.dial(ctx)
			if err != nil {
				return err
			}
			defer s.end()
			add := client.NewPeer{Token: args[0]}
			if !isToken {
				id, err := s.resolve(ctx, args[0])
				if err != nil {
					return err
				}
				add = client.NewPeer{AgentID: id}
			}
			id, err := s.AddPeer(ctx, add)
			if err != nil {
				return s.explain(ctx, args[0], unwrapped(err))
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return printJSON(out, agentIDDocument{id})
			}
			_, err = fmt.Fprintf(out, "admitted %s\nIts owner has to admit this agent as well, with the token that `%s` prints.\n", id, p.command("identity"))
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

type agentIDDocument struct {
	AgentID string `json:"agent_id"`
}

func newForget(p *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "forget PEER",
		Short: "Forget a peer and close the connection with it",
		Long: paragraphs(
			"Forget a peer: its key is no longer pinned, the connection with it is closed, and it cannot connect again until it is admitted anew.",
			"A peer that stands in config.yaml comes back at the daemon's next start: take it out of the file as well.") +
			arguments("PEER", peerArgument),
		Example:           lines("axon forget alice", "axon forget ed25519.5a3f"),
		Args:              wantArgs("PEER"),
		ValidArgsFunction: p.completePeer,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := local(cmd.Context())
			defer cancel()
			s, err := p.dial(ctx)
			if err != nil {
				return err
			}
			defer s.end()
			id, err := s.resolve(ctx, args[0])
			if err != nil {
				return err
			}
			if err := s.RemovePeer(ctx, id); err != nil {
				return s.explain(ctx, id, unwrapped(err))
			}
			if conf, err := config.Load(s.root); err == nil {
				for _, peer := range conf.Peers {
					if string(peer.ID) == id {
						fmt.Fprintf(cmd.ErrOrStderr(), "This peer stands in %s/%s and comes back at the daemon's next start; take it out there.\n", s.root, config.File)
					}
				}
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return printJSON(out, agentIDDocument{id})
			}
			_, err = fmt.Fprintf(out, "forgot %s\n", id)
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// completePeer offers the peers' names and agent ids for the first argument.
func (p *app) completePeer(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const nothingElse = cobra.ShellCompDirectiveNoFileComp
	if len(args) > 0 {
		return nil, nothingElse
	}
	root, err := p.stateRoot()
	if err != nil {
		return nil, nothingElse
	}
	var list []cobra.Completion
	named := names(root)
	for _, name := range sortedKeys(named) {
		if strings.HasPrefix(name, begun) {
			list = append(list, cobra.CompletionWithDesc(name, string(named[name])))
		}
	}
	for _, peer := range p.knownPeers(cmd.Context(), root) {
		if strings.HasPrefix(peer.AgentID, strings.ToLower(begun)) {
			list = append(list, cobra.CompletionWithDesc(peer.AgentID, strings.TrimSpace(peer.Status+" "+peer.Addr)))
		}
	}
	return list, nothingElse
}

// knownPeers asks the daemon, and without one is content with the configuration.
func (p *app) knownPeers(ctx context.Context, root string) []client.Peer {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionCeiling)
	defer cancel()
	if s, err := p.dial(ctx); err == nil {
		defer s.end()
		if list, err := s.Peers(ctx); err == nil {
			return list.Peers
		}
	}
	var list []client.Peer
	if conf, err := config.Load(root); err == nil {
		for _, peer := range conf.Peers {
			list = append(list, client.Peer{AgentID: string(peer.ID), Addr: peer.Addr})
		}
	}
	return list
}
