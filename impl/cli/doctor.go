package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/cli/internal/doctor"
	"github.com/axonproto/axon/impl/cli/internal/screen"
	"github.com/axonproto/axon/impl/internal/identity"
)

var errUnwell = errors.New("there are problems; follow the advice above")

func newDoctor(p *app) *cobra.Command {
	var asJSON, fix, rekey bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what keeps the daemon from working well",
		Long: paragraphs(
			"Check the state root, the identity, the configuration, the known peers, the daemon, its port, the clock, the UDP buffers, multicast, and what the platform lacks. Nothing is sent to the network. The exit code is 1 when there is a problem.",
			"--fix repairs what can be repaired without a loss: modes of files that are open to other users, files that cannot be read (set aside under a name with the time), a public key file that does not fit, a socket left behind.",
			"--rekey gives this agent a new identity, with the old key kept under a name with the time. The daemon must not run. All peers have to admit the new identity, as that of a new agent."),
		Example: lines("axon doctor", "axon doctor --fix", "axon doctor --rekey"),
		Args:    wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fix && rekey {
				return usagef("--fix and --rekey exclude each other; run one after the other")
			}
			root, err := p.stateRoot()
			if err != nil {
				return err
			}
			o := doctor.Options{StateRoot: root, Fix: fix}
			if rekey {
				return p.rekey(cmd, o, asJSON)
			}
			found, err := doctor.Examine(cmd.Context(), o)
			if err != nil {
				return err
			}
			healthy := doctor.Healthy(found)
			out := cmd.OutOrStdout()
			if asJSON {
				err = printJSON(out, struct {
					Healthy bool             `json:"healthy"`
					Checks  []doctor.Finding `json:"checks"`
				}{healthy, found})
			} else {
				err = printTable(out, findings(found))
			}
			if err == nil && !healthy {
				err = errUnwell
			}
			return err
		},
	}
	flags := cmd.Flags()
	jsonFlag(cmd, &asJSON)
	flags.BoolVar(&fix, "fix", false, "repair what can be repaired without a loss")
	flags.BoolVar(&rekey, "rekey", false, "make a new identity and keep the old key aside")
	return cmd
}

func findings(list []doctor.Finding) screen.Table {
	colours := map[doctor.State]screen.Colour{
		doctor.OK: screen.Green, doctor.Fixed: screen.Green, doctor.Warning: screen.Yellow, doctor.Problem: screen.Red,
		doctor.Note: screen.Plain, doctor.Skipped: screen.Faint,
	}
	t := screen.Table{Header: []string{"CHECK", "STATE", "FOUND"}}
	for _, f := range list {
		t.Rows = append(t.Rows, []screen.Cell{{Text: f.Check}, {Text: string(f.State), Colour: colours[f.State]}, {Text: f.Detail}})
		if f.Advice != "" {
			t.Row("", "", "→ "+f.Advice)
		}
	}
	return t
}

func (p *app) rekey(cmd *cobra.Command, o doctor.Options, asJSON bool) error {
	old, current, backup, err := doctor.Rekey(o)
	if err != nil {
		return fmt.Errorf("make a new identity: %w", err)
	}
	out := cmd.OutOrStdout()
	if asJSON {
		return printJSON(out, struct {
			AgentID    identity.AgentID `json:"agent_id"`
			OldAgentID identity.AgentID `json:"old_agent_id,omitempty"`
			Backup     string           `json:"backup,omitempty"`
		}{current, old, backup})
	}
	var t screen.Table
	t.Row("New agent id", string(current))
	t.Row("Old agent id", orDash(string(old)))
	t.Row("Old key kept in", orDash(backup))
	if err := printTable(out, t); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "All peers have to admit the new identity: give their owners the token that `%s` prints.\n", p.command("identity"))
	return err
}
