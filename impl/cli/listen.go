package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/cli/internal/screen"
	"github.com/axonproto/axon/impl/client"
)

const eventCandidate = "peer_candidate"

func newListen(p *app) *cobra.Command {
	var f struct {
		asJSON  bool
		kinds   []string
		count   int
		timeout time.Duration
	}
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Print what comes in, one line each",
		Long: paragraphs(
			"Print the messages and errors that peers send without being asked, envelopes of kinds that this version does not know, and daemons that wait for being admitted (peer_candidate), one line each, as they come in. Requests go to `axon serve` alone.",
			"It ends when interrupted (Ctrl-C), after --count lines, or after --timeout. The exit code is 3 when the time is over before --count lines came."),
		Example: lines("axon listen", "axon listen --kind message --json", "axon listen --count 1 --timeout 60"),
		Args:    wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.count < 0 {
				return usagef("--count %d is negative; give the number of lines, or 0 for no limit", f.count)
			}
			ctx := cmd.Context()
			s, err := p.dial(ctx)
			if err != nil {
				return err
			}
			defer s.end()
			events := s.Events()
			defer events.Close()
			fmt.Fprintln(cmd.ErrOrStderr(), "listening; stop with Ctrl-C")
			bounded := ctx
			if f.timeout > 0 {
				var cancel context.CancelFunc
				bounded, cancel = contextWithTimeout(ctx, f.timeout, "the awaited events did not come; wait longer with --timeout")
				defer cancel()
			}
			for seen := 0; f.count == 0 || seen < f.count; {
				e, err := events.Next(bounded)
				switch {
				case errors.Is(err, errTimeout) && f.count == 0, err != nil && ctx.Err() != nil:
					return nil
				case errors.Is(err, client.ErrLagging):
					return errors.New("events came faster than the output was read, and some would be missing; write it to a file, or read it faster")
				case err != nil:
					return err
				}
				if len(f.kinds) > 0 && !slices.Contains(f.kinds, eventKind(e)) {
					continue
				}
				if err := printEvent(cmd.OutOrStdout(), e, f.asJSON); err != nil {
					return err
				}
				seen++
			}
			return nil
		},
	}
	flags := cmd.Flags()
	jsonFlag(cmd, &f.asJSON)
	flags.StringSliceVar(&f.kinds, "kind", nil, "show these kinds only: message, error, peer_candidate, or any other kind by its name; may be repeated")
	flags.IntVar(&f.count, "count", 0, "end after so many lines (default: no limit)")
	timeoutFlag(flags, &f.timeout, 24*time.Hour, "end after so many seconds (default: no limit)")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions([]string{"message", "error", eventCandidate}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// eventKind is the kind of an envelope that came in, or the name of the event.
func eventKind(e client.Event) string {
	if e.Name == "inbound" {
		return string(e.Envelope.Kind)
	}
	return e.Name
}

func printEvent(w io.Writer, e client.Event, asJSON bool) error {
	if asJSON {
		return printRaw(w, e.Raw)
	}
	var line string
	switch e.Name {
	case "inbound":
		line = fmt.Sprintf("%s from %s: %s", screen.Escape(string(e.Envelope.Kind)), screen.Escape(e.From), screen.JSON(e.Envelope.Payload))
	case eventCandidate:
		line = fmt.Sprintf("peer_candidate %s at %s (%s); admit it with `axon connect %[1]s`", screen.Escape(e.AgentID), screen.Escape(e.Addr), screen.Escape(e.Source))
	default:
		line = fmt.Sprintf("%s %s", screen.Escape(e.Name), screen.JSON(e.Raw))
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
