package cli

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/cli/internal/screen"
	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/identity"
)

func newIdentity(p *app) *cobra.Command {
	var asJSON, tokenOnly bool
	var addr string
	cmd := &cobra.Command{
		Use:   "identity",
		Short: "Show what another owner needs to reach this agent",
		Long: paragraphs(
			"Show the agent id, the public key and the token of this state root. Give the token to another owner, who passes it to `axon connect`; and take theirs, since both sides have to know each other.",
			"The token holds the address at which this daemon is reached: --addr, else advertise_addr from config.yaml, else a guess from the network interfaces and the configured port. No daemon has to run; an identity is made when there is none yet."),
		Example: lines("axon identity", "axon identity --addr agent.example.org:7100", "axon identity --token --addr 192.0.2.7:7100"),
		Args:    wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON && tokenOnly {
				return usagef("--json and --token exclude each other; give one of them")
			}
			if addr != "" {
				if err := config.CheckAddr(addr); err != nil {
					return usagef("--addr: %w", err)
				}
			}
			root, err := p.stateRoot()
			if err != nil {
				return err
			}
			conf, err := config.Load(root)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(root, 0o700); err != nil {
				return fmt.Errorf("make state root: %w; choose a writable folder with --state-root", err)
			}
			id, err := identity.Load(root)
			if err != nil {
				return err
			}
			guessed := false
			if addr == "" {
				addr = conf.AdvertiseAddr
			}
			if addr == "" {
				addr, guessed = guessAddr(conf), true
			}
			token := identity.Token{PublicKey: id.Public, Addr: addr}.String()
			out := cmd.OutOrStdout()
			switch {
			case tokenOnly:
				_, err = fmt.Fprintln(out, token)
			case asJSON:
				err = printJSON(out, struct {
					AgentID   identity.AgentID `json:"agent_id"`
					PublicKey string           `json:"public_key"`
					Token     string           `json:"token"`
				}{id.ID, identity.EncodePublicKey(id.Public), token})
			default:
				var t screen.Table
				t.Row("Agent id", string(id.ID))
				t.Row("Public key", identity.EncodePublicKey(id.Public))
				t.Row("Token", token)
				err = printTable(out, t)
			}
			if err == nil && guessed {
				fmt.Fprintf(cmd.ErrOrStderr(), "The address %s in the token is a guess; name the right one with --addr HOST:PORT.\n", addr)
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&tokenOnly, "token", false, "print the token alone")
	cmd.Flags().StringVar(&addr, "addr", "", "address, HOST:PORT, at which others reach this daemon")
	return cmd
}

// guessAddr takes the first address of this machine that others could reach.
func guessAddr(conf config.Config) string {
	host := conf.ListenAddr
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		addrs, _ := net.InterfaceAddrs() // none are found when this fails
		for _, a := range addrs {
			n, ok := a.(*net.IPNet)
			if ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
				host = n.IP.String()
				break
			}
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(conf.Port))
}
