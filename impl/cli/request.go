package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/client"
)

const (
	// maxInput bounds what is read from standard input: more cannot be sent.
	maxInput = 65536
	// answerGrace is how much longer than the time-out the daemon is waited for,
	// which is to report it.
	answerGrace = 5 * time.Second
)

const peerArgument = "the peer's agent id, the beginning of one that only one known peer has, or its name in config.yaml"

func newRequest(p *app) *cobra.Command {
	var asJSON, wholeEnvelope bool
	timeout := 30 * time.Second
	cmd := &cobra.Command{
		Use:   "request PEER TEXT",
		Short: "Ask a peer something and print its answer",
		Long: paragraphs(
			"Send a request to a peer, wait for the answer, and print the answer's payload, a JSON object.",
			"TEXT is sent as the payload {\"message\": TEXT}. With --json it is a JSON object of your own, sent as it is.",
			"Where the peer answers with an error, its code and message go to standard error and the exit code is 2; with --json its payload, and with --envelope the whole envelope, is printed as well. The exit code is 3 when no answer came in time.") +
			arguments("PEER", peerArgument, "TEXT", "what to ask; - reads it from standard input"),
		Example: lines(`axon request alice "What is on the calendar this week?"`,
			`axon request --json alice '{"domain": "family.calendar", "question": "What is on this week?"}'`,
			`axon request --timeout 120 --envelope ed25519.5a3f "Summarise the report"`,
			`axon request --json alice - < question.json`),
		Args:              wantArgs("PEER", "TEXT"),
		ValidArgsFunction: p.completePeer,
		RunE: func(cmd *cobra.Command, args []string) error {
			payload, err := readPayload(cmd, args[1], asJSON)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			s, err := p.dial(ctx)
			if err != nil {
				return err
			}
			defer s.end()
			peer, err := s.resolve(ctx, args[0])
			if err != nil {
				return err
			}
			bounded, cancel := contextWithTimeout(ctx, timeout+answerGrace, fmt.Sprintf("the daemon did not report within %s", timeout+answerGrace))
			defer cancel()
			reply, err := s.Request(bounded, peer, payload, client.SendOptions{Timeout: timeout})
			if err != nil && !as[*client.RemoteError](err) {
				return s.explain(ctx, peer, fmt.Errorf("request to %s: %w", args[0], unwrapped(err)))
			}
			switch out := cmd.OutOrStdout(); {
			case wholeEnvelope:
				return errors.Join(err, printJSON(out, reply))
			case err == nil || asJSON:
				return errors.Join(err, printRaw(out, reply.Payload))
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&asJSON, "json", false, "TEXT is a JSON object, sent as the payload; print JSON for errors too")
	flags.BoolVar(&wholeEnvelope, "envelope", false, "print the whole envelope of the answer: id, kind, payload, ref, from, to")
	timeoutFlag(flags, &timeout, client.MaxTimeout, "how long to wait for the answer, connecting included, from 1 to 3600 seconds")
	return cmd
}

func newNotify(p *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "notify PEER TEXT",
		Short: "Tell a peer something, without an answer",
		Long: paragraphs(
			"Send a message to a peer. There is no answer, and none is waited for: success means that the message was sent, not that it was read.",
			"TEXT is sent as the payload {\"message\": TEXT}. With --json it is a JSON object of your own, sent as it is, and what is printed is JSON too.") +
			arguments("PEER", peerArgument, "TEXT", "what to tell; - reads it from standard input"),
		Example: lines(`axon notify alice "Dinner is ready"`,
			`axon notify --json alice '{"domain": "meta.status", "state": "done"}'`,
			`echo "The build is green" | axon notify alice -`),
		Args:              wantArgs("PEER", "TEXT"),
		ValidArgsFunction: p.completePeer,
		RunE: func(cmd *cobra.Command, args []string) error {
			payload, err := readPayload(cmd, args[1], asJSON)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			s, err := p.dial(ctx)
			if err != nil {
				return err
			}
			defer s.end()
			peer, err := s.resolve(ctx, args[0])
			if err != nil {
				return err
			}
			const ceiling = client.DefaultTimeout + answerGrace
			bounded, cancel := contextWithTimeout(ctx, ceiling, fmt.Sprintf("the daemon did not report within %s", ceiling))
			defer cancel()
			id, err := s.Send(bounded, peer, payload, client.SendOptions{})
			if err != nil {
				return s.explain(ctx, peer, fmt.Errorf("message to %s: %w", args[0], unwrapped(err)))
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return printJSON(out, struct {
					ID   string      `json:"id"`
					Kind client.Kind `json:"kind"`
					To   string      `json:"to"`
				}{id, client.KindMessage, peer})
			}
			_, err = fmt.Fprintf(out, "sent message %s to %s\n", id, peer)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "TEXT is a JSON object, sent as the payload; print JSON")
	return cmd
}

// readPayload makes the payload of what stands on the command line.
func readPayload(cmd *cobra.Command, text string, asJSON bool) (json.RawMessage, error) {
	where := "TEXT"
	if text == "-" {
		where = "standard input"
		read, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxInput+1))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		if len(read) > maxInput {
			return nil, usagef("standard input holds more than %d bytes, which is the most that an envelope may have; send less", maxInput)
		}
		if text = string(read); !asJSON {
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		}
	}
	if asJSON {
		payload := json.RawMessage(bytes.TrimSpace([]byte(text)))
		if err := client.CheckPayload(payload); err != nil {
			return nil, usagef("%s: %w%s", where, err, syntaxHint(payload))
		}
		return payload, nil
	}
	if strings.ToValidUTF8(text, "") != text {
		return nil, usagef("%s is not UTF-8; convert it, or send it in another form with --json", where)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{"message": text}); err != nil {
		return nil, fmt.Errorf("make the payload: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// syntaxHint says where JSON breaks off.
func syntaxHint(text []byte) string {
	var v any
	err := json.Unmarshal(text, &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf(" (%s, at byte %d)", syntax, syntax.Offset)
	}
	return ""
}
