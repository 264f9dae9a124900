package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/cli/internal/screen"
	"github.com/axonproto/axon/impl/client"
)

func jsonFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "print JSON, on one line")
}

func newPeers(p *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "peers",
		Short: "List the peers that the daemon knows",
		Long: paragraphs(
			"List the daemons that the local one knows, with the state of the connection to each.",
			"Status is discovered, connecting, connected, backoff (the next attempt is awaited) or disconnected. Source is static (from config.yaml), discovered (seen on the local network), cached (known from an earlier run) or enrolled (added by `axon connect`). A peer whose trust is candidate was seen and is not admitted yet: `axon connect` admits it."),
		Example: lines("axon peers", "axon peers --json"),
		Args:    wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := local(cmd.Context())
			defer cancel()
			s, err := p.dial(ctx)
			if err != nil {
				return err
			}
			defer s.end()
			list, err := s.Peers(ctx)
			if err != nil {
				return err
			}
			peers := list.Peers
			if list.Omitted > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d more peers are not shown; forget those that are not needed.\n", list.Omitted)
			}
			called := map[string]string{}
			for name, id := range names(s.root) {
				called[string(id)] = name
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), peersJSON(list, called))
			}
			if len(peers) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "No peers are known yet. Daemons on the local network find each other by themselves; add others with `axon connect TOKEN`.")
				return err
			}
			return printTable(cmd.OutOrStdout(), peersTable(peers, called))
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

type namedPeer struct {
	Name string `json:"name,omitempty"`
	client.Peer
}

type namedPeers struct {
	Peers   []namedPeer `json:"peers"`
	Omitted int         `json:"omitted,omitempty"`
}

func peersJSON(list client.PeerList, called map[string]string) namedPeers {
	out := namedPeers{Peers: []namedPeer{}, Omitted: list.Omitted}
	for _, p := range list.Peers {
		out.Peers = append(out.Peers, namedPeer{called[p.AgentID], p})
	}
	return out
}

func peersTable(peers []client.Peer, called map[string]string) screen.Table {
	t := screen.Table{Header: []string{"NAME", "AGENT ID", "ADDRESS", "STATUS", "SOURCE", "TRUST", "ROUND TRIP"}}
	for _, p := range peers {
		status, trust := screen.Plain, screen.Plain
		switch p.Status {
		case "connected":
			status = screen.Green
		case "backoff":
			status = screen.Yellow
		}
		if p.Trust == "candidate" {
			trust = screen.Yellow
		}
		rtt := "-"
		if p.RTT != nil {
			rtt = fmt.Sprintf("%.1f ms", *p.RTT)
		}
		t.Rows = append(t.Rows, []screen.Cell{
			{Text: orDash(called[p.AgentID])}, {Text: p.AgentID}, {Text: orDash(p.Addr)}, {Text: p.Status, Colour: status},
			{Text: p.Source}, {Text: p.Trust, Colour: trust}, {Text: rtt},
		})
	}
	return t
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func newStatus(p *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show what the daemon is doing",
		Long:    paragraphs("Show how long the daemon has been running, how many peers are connected, and how many messages it has sent and received. Requests, their answers and errors count as messages too."),
		Example: lines("axon status", "axon status --json"),
		Args:    wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := local(cmd.Context())
			defer cancel()
			s, err := p.dial(ctx)
			if err != nil {
				return err
			}
			defer s.end()
			status, err := s.Status(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), status)
			}
			var t screen.Table
			t.Row("Running for", status.Uptime().Round(time.Second).String())
			t.Row("Connected peers", fmt.Sprint(status.PeersConnected))
			t.Row("Messages sent", fmt.Sprint(status.MessagesSent))
			t.Row("Messages received", fmt.Sprint(status.MessagesReceived))
			return printTable(cmd.OutOrStdout(), t)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newWhoAmI(p *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Show who the running daemon is",
		Long: paragraphs("Show the agent id, the public key, the name and the version of the running daemon.",
			"To give another owner what is needed to reach this daemon, use `axon identity`."),
		Example: lines("axon whoami", "axon whoami --json"),
		Args:    wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := local(cmd.Context())
			defer cancel()
			s, err := p.dial(ctx)
			if err != nil {
				return err
			}
			defer s.end()
			self, err := s.WhoAmI(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), self)
			}
			var t screen.Table
			t.Row("Agent id", self.AgentID)
			t.Row("Public key", self.PublicKey)
			if self.Name != "" {
				t.Row("Name", self.Name)
			}
			t.Row("Version", self.Version)
			t.Row("Running for", self.Uptime().Round(time.Second).String())
			return printTable(cmd.OutOrStdout(), t)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
