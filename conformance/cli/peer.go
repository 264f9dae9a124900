package cli

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/trace"
)

// PeerOptions say what peer to play; see mutants.PlayOptions.
type PeerOptions struct {
	Identity      credential.Identity
	Listen        string
	Dial          []string
	Admit         ed25519.PublicKey
	Fault         string
	Reply, Custom string // "default-error", "echo" or "custom", and the text of that
	Log           *trace.Log
	Ready         func(address string)
}

// maxReply bounds the file that peer answers with. A peer may want to see what
// happens beyond the protocol's own 65,536 bytes.
const maxReply = 16 << 20

func (p *program) peerCommand() *cobra.Command {
	var o PeerOptions
	var file, key, reply string
	var dial []string
	var patience time.Duration
	var asJSON bool
	c := &cobra.Command{
		Use:   "peer",
		Short: "Be a peer to develop against: print each stream, answer as told",
		Long: `Be an AXON peer that prints every stream as it comes: time, connection, stream,
who acted, the bytes as text or hex, FIN, resets and closes. It answers each
request by the default error, by the request's own payload, or by what a file
says; in a file «id» stands for a new id and «request id» for that of the request.
With --fault it is broken in one of the ways of 'axon-conformance selftest'.

It lets in whoever comes unless --admit names a key, and listens on loopback
unless --listen says otherwise. It ends on Ctrl-C, or after --for.`,
		Example: `  axon-conformance peer
  axon-conformance peer --listen 0.0.0.0:7100 --reply echo
  axon-conformance peer --dial 127.0.0.1:7100 --fault reply-twice`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if p.env.Engine.Peer == nil {
				return &failure{code: report.ExitHarnessError, err: errors.New("this build has no peer; build the program from a complete source tree")}
			}
			var err error
			if _, _, err := net.SplitHostPort(o.Listen); err != nil {
				return usagef("--listen %s: %w; write HOST:PORT, with port 0 for any free one", o.Listen, err)
			}
			for _, target := range dial {
				address, _, err := parseTarget(target, "")
				if err != nil {
					return err
				}
				o.Dial = append(o.Dial, address)
			}
			if key != "" {
				if o.Admit, err = parseKey(key); err != nil {
					return err
				}
			}
			if o.Reply, o.Custom, err = readReply(reply); err != nil {
				return err
			}
			if o.Identity, _, _, err = p.identity(file); err != nil {
				return err
			}
			ctx, cancel := c.Context(), func() {}
			if patience > 0 {
				ctx, cancel = context.WithTimeout(ctx, patience)
			}
			defer cancel()
			screen := &eventPrinter{out: p.out, json: asJSON}
			o.Log = trace.Show(screen.show)
			o.Ready = func(address string) { screen.ready(o.Identity, address) }
			if err := p.env.Engine.Peer(ctx, o); err != nil {
				return engineError(err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:0", "`HOST:PORT` to listen on; port 0 is any free one")
	c.Flags().StringSliceVar(&dial, "dial", nil, "`TARGET` to connect to at once, HOST:PORT or axon://KEY@HOST:PORT; repeatable")
	c.Flags().StringVar(&key, "admit", "", "let in only the holder of this public `KEY`, in base64 (default: everybody)")
	c.Flags().StringVar(&reply, "reply", "default-error", "answer requests by default-error, echo, or what stands in `FILE`")
	c.Flags().StringVar(&o.Fault, "fault", "", "be broken in this way, a `NAME` of 'axon-conformance selftest'")
	c.Flags().StringVar(&file, "identity", "", "`FILE` that holds the identity; made when it is not there (default: the suite's own)")
	c.Flags().DurationVar(&patience, "for", 0, "end after this `DURATION` (default: at Ctrl-C)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	_ = c.RegisterFlagCompletionFunc("fault", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if p.env.Engine.Faults == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.env.Engine.Faults(), cobra.ShellCompDirectiveNoFileComp
	})
	return c
}

// readReply reads --reply.
func readReply(text string) (kind, custom string, err error) {
	switch text {
	case "default-error", "echo":
		return text, "", nil
	case "":
		return "", "", usagef("--reply is empty; write default-error, echo or the name of a file")
	}
	b, err := readBounded(text, nil)
	if err != nil {
		return "", "", usagef("--reply %s: %w; write default-error, echo or the name of a file", text, err)
	}
	return "custom", string(b), nil
}

// readBounded reads a file, or stdin for "-", of maxReply bytes at most.
func readBounded(name string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if name != "-" || stdin == nil {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	b, err := io.ReadAll(io.LimitReader(from, maxReply+1))
	if err == nil && len(b) > maxReply {
		err = fmt.Errorf("it is longer than %d bytes", maxReply)
	}
	return b, err
}

// eventPrinter prints what happens, line by line.
type eventPrinter struct {
	mu   sync.Mutex
	out  io.Writer
	json bool
}

func (s *eventPrinter) show(e trace.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json {
		_ = json.NewEncoder(s.out).Encode(suite.EventOf(e)) // the screen is gone: nobody is left to tell
		return
	}
	fmt.Fprintln(s.out, e)
}

func (s *eventPrinter) ready(id credential.Identity, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json {
		_ = json.NewEncoder(s.out).Encode(map[string]string{
			"event": "ready", "address": address, "agent_id": id.AgentID(), "public_key": id.PublicBase64(), "token": id.Token(address),
		})
		return
	}
	fmt.Fprintf(s.out, "listening on %s as %s\npublic key  %s\ntoken       %s\n", address, id.AgentID(), id.PublicBase64(), id.Token(address))
}
