package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/harness/credential"
)

// defaultIdentityAddress stands in the token and the fragment, which need one.
const defaultIdentityAddress = "127.0.0.1:7199"

// identityPath is where the suite's identity is kept without --identity.
func (p *program) identityPath() (string, error) {
	dir, err := p.env.ConfigDir()
	if err != nil {
		return "", &failure{code: report.ExitUsage,
			err: fmt.Errorf("there is no configuration directory for the identity: %w; name a file with --identity FILE", err)}
	}
	return filepath.Join(dir, programName, "identity.key"), nil
}

// identity loads the suite's identity, or makes it when it is not there yet.
// file is the value of --identity, empty for the usual place.
func (p *program) identity(file string) (id credential.Identity, path string, created bool, err error) {
	path = file
	if path == "" {
		if path, err = p.identityPath(); err != nil {
			return credential.Identity{}, "", false, err
		}
	}
	id, created, err = credential.LoadOrCreate(path)
	if err != nil {
		return credential.Identity{}, path, false, &failure{code: report.ExitUsage, err: fmt.Errorf("the suite's identity: %w", err)}
	}
	return id, path, created, nil
}

// configFragment is the part of a target's config.yaml that admits the suite.
func configFragment(id credential.Identity, address string) string {
	return fmt.Sprintf("peers:\n  - agent_id: %s\n    pubkey: %s\n    addr: %q\n", id.AgentID(), id.PublicBase64(), address)
}

func (p *program) identityCommand() *cobra.Command {
	var file, address string
	var asJSON bool
	c := &cobra.Command{
		Use:   "identity",
		Short: "Print the suite's own identity, which a target must admit",
		Long: `Print the identity with which the suite meets a target: its Agent ID, public
key, peer token, and a fragment for the target's config.yaml that admits it.

The identity is made once, under your configuration directory or at --identity
FILE, and is the same in every run. A target that does not know it refuses the
connection, and then nothing can be judged.

The token and the fragment have to name an address. The suite dials and does not
listen there; name another one with --address where the target is particular.`,
		Example: `  axon-conformance identity
  axon-conformance identity --json
  axon-conformance identity --identity ./suite.key --address 192.0.2.9:7199`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("identity") && file == "" {
				return usagef("--identity is empty; name a file, or leave the flag out for the usual one")
			}
			if err := checkAddress(address, "write --address HOST:PORT"); err != nil {
				return usagef("--address %s: %w", address, err)
			}
			id, path, created, err := p.identity(file)
			if err != nil {
				return err
			}
			if created {
				fmt.Fprintf(p.err, "made a new identity in %s; keep this file: it is the same in every run\n", path)
			}
			if asJSON {
				return writeJSON(p.out, struct {
					AgentID   string `json:"agent_id"`
					PublicKey string `json:"public_key"`
					Token     string `json:"token"`
					Config    string `json:"config"`
				}{id.AgentID(), id.PublicBase64(), id.Token(address), configFragment(id, address)})
			}
			_, err = fmt.Fprintf(p.out, `agent id    %s
public key  %s
token       %s
file        %s

To let a target admit the suite, either give it the token (an axon daemon: axon
connect TOKEN), or put this into its config.yaml and start it again:

%s
The suite dials only and does not listen on %s; a target that tries to reach it
there will not, and needs not.
`, id.AgentID(), id.PublicBase64(), id.Token(address), path, configFragment(id, address), address)
			return err
		},
	}
	c.Flags().StringVar(&file, "identity", "", "`FILE` that holds the identity; made when it is not there (default: under your configuration directory)")
	c.Flags().StringVar(&address, "address", defaultIdentityAddress, "`HOST:PORT` that stands in the token and the fragment")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}
