package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/cli/internal/program"
	"github.com/axonproto/axon/impl/cli/internal/screen"
	"github.com/axonproto/axon/impl/client"
)

const (
	// maxAnswer is how many bytes a program may print: more than an envelope
	// holds is of no use.
	maxAnswer = 65536
	// maxConcurrency bounds the programs that run at once.
	maxConcurrency = 1024
)

// handling is how requests are to be answered.
type handling struct {
	command     string
	echo        bool
	concurrency int
	timeout     time.Duration
}

func (h *handling) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&h.command, "command", "", "program to run for each request, with its arguments")
	flags.BoolVar(&h.echo, "echo", false, "answer each request with its own payload")
	flags.IntVar(&h.concurrency, "concurrency", 4, "how many programs may run at once, from 1 to 1024; further requests wait")
}

// handler checks the flags and makes what answers.
func (h *handling) handler(stderr io.Writer) (client.Handler, error) {
	switch {
	case h.concurrency < 1 || h.concurrency > maxConcurrency:
		return nil, usagef("--concurrency %d is out of range; give 1 to %d", h.concurrency, maxConcurrency)
	case h.echo && h.command != "":
		return nil, usagef("--command and --echo exclude each other; give one of them")
	case h.echo:
		return func(_ context.Context, r client.Request) (json.RawMessage, error) { return r.Envelope.Payload, nil }, nil
	case h.command == "":
		return nil, usagef("there is nothing to answer with; give --command 'PROGRAM ARGUMENTS', or --echo for trying things out")
	}
	args, err := program.Split(h.command)
	if err != nil {
		return nil, usagef("--command %q: %w", h.command, err)
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil, fmt.Errorf("--command: %w; give the path of a program that can be run", err)
	}
	return func(ctx context.Context, r client.Request) (json.RawMessage, error) {
		return h.run(ctx, args, r, stderr)
	}, nil
}

// run answers one request by the program.
func (h *handling) run(ctx context.Context, args []string, r client.Request, stderr io.Writer) (json.RawMessage, error) {
	var in bytes.Buffer
	if err := printJSON(&in, r.Envelope); err != nil {
		return nil, err
	}
	words := &lineWriter{w: stderr, prefix: args[0] + ": "}
	out, err := program.Run(ctx, program.Options{
		Args: args, Timeout: h.timeout, MaxOutput: maxAnswer, Stderr: words,
		Env: []string{"AXON_FROM=" + r.From, "AXON_REQUEST_ID=" + r.ID},
	}, in.Bytes())
	words.flush()
	switch {
	case errors.Is(err, program.ErrTimeout):
		return nil, &programError{err, &client.ReplyError{Code: "timeout", Retryable: true,
			Message: fmt.Sprintf("the agent did not finish within %s; try again later or ask for less", h.timeout)}}
	case errors.Is(err, program.ErrTooLarge):
		return nil, &programError{err, &client.ReplyError{Code: "response_too_large",
			Message: "the answer is larger than an envelope may be; ask for less at a time"}}
	case err != nil:
		return nil, fmt.Errorf("%w; it was %w", err, client.ErrDecline)
	}
	payload := json.RawMessage(bytes.TrimSpace(out))
	if client.CheckPayload(payload) != nil {
		return nil, &programError{
			fmt.Errorf("the program printed something else than one JSON object%s; let it print {…} and nothing more", syntaxHint(payload)),
			&client.ReplyError{Code: "handler_failed", Message: "the agent's program gave no usable answer; tell its owner"}}
	}
	return payload, nil
}

// programError keeps what the owner is told apart from what the peer is.
type programError struct {
	owner error
	peer  *client.ReplyError
}

func (e *programError) Error() string { return e.owner.Error() }
func (e *programError) Unwrap() error { return e.peer }

func newServe(p *app) *cobra.Command {
	var h handling
	var asJSON, quiet bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer requests by running a program",
		Long: paragraphs(
			"Answer the requests that reach this agent, until interrupted (Ctrl-C). One program at a time may do so; without one, requests get the error unhandled.",
			"With --command a program is run for each request. It reads the request's envelope, one JSON object, from standard input: `from` says who asks, and `payload` what. What it prints, one JSON object, is the payload of the response. When it ends with another status than zero the request is declined. AXON_FROM and AXON_REQUEST_ID are set in its environment. No shell is involved: for pipes write --command 'sh -c \"…\"'.",
			"A program, with its children, is ended when the requester gives up and when --timeout is over. The daemon itself gives an answer 30 seconds.",
			"One line is printed for each request that has ended."),
		Example: lines(`axon serve --command './answer.py --model small'`,
			`axon serve --command 'jq -c "{answer: .payload.message}"' --concurrency 8`,
			"axon serve --echo"),
		Args: wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			stderr := &syncWriter{w: cmd.ErrOrStderr()}
			handler, err := h.handler(stderr)
			if err != nil {
				return err
			}
			s, err := p.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer s.end()
			out := &syncWriter{w: cmd.OutOrStdout()}
			return s.Serve(cmd.Context(), handler, client.ServeOptions{
				Concurrency: h.concurrency,
				Ready: func() {
					if !quiet {
						fmt.Fprintln(stderr, "serving requests; stop with Ctrl-C")
					}
				},
				Done: func(d client.Served) { report(out, d, asJSON, quiet) },
			})
		},
	}
	h.flags(cmd)
	jsonFlag(cmd, &asJSON)
	h.timeout = client.DefaultTimeout
	timeoutFlag(cmd.Flags(), &h.timeout, client.MaxTimeout, "how long a program may take, from 1 to 3600 seconds")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing for requests that were answered")
	return cmd
}

// report prints how a request ended.
func report(w io.Writer, d client.Served, asJSON, quiet bool) {
	if quiet && d.Outcome == client.OutcomeResponse {
		return
	}
	reason := ""
	if d.Err != nil {
		reason = d.Err.Error()
	}
	if asJSON {
		// A screen that is gone shows itself to whoever stops the command.
		_ = printJSON(w, struct {
			ID         string         `json:"id"`
			From       string         `json:"from"`
			Outcome    client.Outcome `json:"outcome"`
			Reason     string         `json:"reason,omitempty"`
			DurationMS int64          `json:"duration_ms"`
		}{d.Request.ID, d.Request.From, d.Outcome, reason, d.Duration.Milliseconds()})
		return
	}
	if reason != "" {
		reason = ": " + reason
	}
	fmt.Fprintf(w, "request %s from %s: %s after %s%s\n", screen.Escape(d.Request.ID), screen.Escape(d.Request.From),
		d.Outcome, d.Duration.Round(time.Millisecond), screen.Escape(reason))
}

// syncWriter lets several goroutines write to one place, a write at a time.
type syncWriter struct {
	mu sync.Mutex // held while it is written
	w  io.Writer
}

func (s *syncWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// lineWriter passes on whole lines, escaped and with a prefix. Long ones are cut
// into several.
type lineWriter struct {
	w      io.Writer
	prefix string
	held   []byte
}

const maxLine = 4096

func (l *lineWriter) Write(p []byte) (int, error) {
	l.held = append(l.held, p...)
	for {
		end := bytes.IndexByte(l.held, '\n')
		if end < 0 && len(l.held) < maxLine {
			return len(p), nil
		}
		if end < 0 || end > maxLine {
			end = maxLine
			l.line(l.held[:end])
		} else {
			l.line(l.held[:end])
			end++
		}
		l.held = l.held[end:]
	}
}

func (l *lineWriter) flush() {
	if len(l.held) > 0 {
		l.line(l.held)
		l.held = nil
	}
}

func (l *lineWriter) line(text []byte) {
	fmt.Fprintf(l.w, "%s%s\n", l.prefix, screen.Escape(string(bytes.TrimSuffix(text, []byte("\r")))))
}
