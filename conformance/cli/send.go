package cli

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/trace"
	"github.com/axonproto/axon/harness/wire"
)

// sendFlags are those of send.
type sendFlags struct {
	kind, payload, id, ref string
	text, hex, file        string
	key, identity          string
	uni, noFin, asJSON     bool
	reset                  int64
	pieces                 int
	timeout                time.Duration
}

func (p *program) sendCommand() *cobra.Command {
	var f sendFlags
	c := &cobra.Command{
		Use:   "send TARGET",
		Short: "Send one envelope, or any bytes, and print what returns",
		Long: `Connect to TARGET, open a stream, write one envelope or any bytes, and print what
happens: the handshake, the bytes in both directions as text or hex, FIN, resets
and closes. The target must admit the suite, see 'axon-conformance identity'.

Exit codes:
  0  something came back; with --uni: it was sent, and the connection still serves
  1  nothing came back
  2  the command line is wrong
  3  there was no connection`,
		Example: `  axon-conformance send 127.0.0.1:7100
  axon-conformance send 127.0.0.1:7100 --uni --kind message --payload '{"n":1}'
  axon-conformance send 127.0.0.1:7100 --bytes '{"id":' --no-fin
  axon-conformance send 127.0.0.1:7100 --hex fffe00 --reset 7`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("send needs one target and has %d; write %s send HOST:PORT", len(args), programName)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return p.send(c, args[0], &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.kind, "kind", "request", "`KIND` of the envelope")
	flags.StringVar(&f.payload, "payload", "{}", "its payload, `JSON`")
	flags.StringVar(&f.id, "id", "", "its `ID` (default: a new UUID)")
	flags.StringVar(&f.ref, "ref", "", "its `REF` (default: none)")
	flags.StringVar(&f.text, "bytes", "", "write this `TEXT` in place of an envelope; «id» stands for a new UUID")
	flags.StringVar(&f.hex, "hex", "", "write these bytes in place of an envelope, in `HEX`")
	flags.StringVar(&f.file, "file", "", "write what stands in `FILE` in place of an envelope; - is standard input")
	flags.BoolVar(&f.uni, "uni", false, "on a unidirectional stream")
	flags.BoolVar(&f.noFin, "no-fin", false, "leave the stream open behind it")
	flags.Int64Var(&f.reset, "reset", -1, "reset the stream behind it with this `CODE`")
	flags.IntVar(&f.pieces, "pieces", 0, "write it in pieces of `N` bytes (default: at once)")
	flags.StringVar(&f.key, "target-key", "", "the target must hold this public `KEY`, in base64")
	flags.StringVar(&f.identity, "identity", "", "`FILE` that holds the identity; made when it is not there (default: the suite's own)")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Second, "how long to wait for a connection, and then for an end, as a `DURATION`")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object a line")
	c.MarkFlagsMutuallyExclusive("bytes", "hex", "file")
	c.MarkFlagsMutuallyExclusive("no-fin", "reset")
	return c
}

// body is what is written.
func (f *sendFlags) body(p *program, c *cobra.Command) ([]byte, error) {
	switch {
	case c.Flags().Changed("bytes"):
		return []byte(strings.ReplaceAll(f.text, "«id»", wire.NewID())), nil
	case c.Flags().Changed("hex"):
		b, err := hex.DecodeString(strings.Join(strings.Fields(f.hex), ""))
		if err != nil {
			return nil, usagef("--hex: %w; write two hexadecimal digits for each byte", err)
		}
		return b, nil
	case c.Flags().Changed("file"):
		b, err := readBounded(f.file, p.in)
		if err != nil {
			return nil, usagef("--file %s: %w", f.file, err)
		}
		return b, nil
	}
	if !json.Valid([]byte(f.payload)) {
		return nil, usagef("--payload %s: it is not JSON; write for example '{\"n\":1}', or give the whole envelope by --bytes", f.payload)
	}
	o := wire.Outgoing{ID: f.id, Kind: f.kind, Payload: f.payload}
	if o.ID == "" {
		o.ID = wire.NewID()
	}
	if c.Flags().Changed("ref") {
		o.Ref = &f.ref
	}
	return o.Bytes(), nil
}

func (p *program) send(c *cobra.Command, target string, f *sendFlags) error {
	address, key, err := parseTarget(target, f.key)
	if err != nil {
		return err
	}
	if f.pieces < 0 || f.timeout <= 0 || c.Flags().Changed("reset") && f.reset < 0 {
		return usagef("--pieces takes a number from 1 on, --timeout a duration above 0, and --reset a code from 0 on")
	}
	body, err := f.body(p, c)
	if err != nil {
		return err
	}
	id, _, _, err := p.identity(f.identity)
	if err != nil {
		return err
	}
	screen := &eventPrinter{out: p.out, json: f.asJSON}
	e, err := probe.New(probe.Options{Identity: id, Log: trace.Show(screen.show), Listen: ":0"})
	if err != nil {
		return engineError(err)
	}
	defer func() { _ = e.Close() }()
	ctx, cancel := context.WithTimeout(c.Context(), f.timeout)
	defer cancel()
	conn, err := e.Dial(ctx, probe.DialOptions{Address: address, ExpectKey: key})
	if err != nil {
		return &failure{code: report.ExitIncomplete, err: fmt.Errorf("no connection to %s: %w; does it admit the key of '%s identity'?", address, err, programName)}
	}
	return p.exchange(c.Context(), conn, body, f)
}

// exchange writes the bytes and waits for what returns.
func (p *program) exchange(ctx context.Context, conn *probe.Conn, body []byte, f *sendFlags) error {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	open := conn.OpenBidi
	if f.uni {
		open = conn.OpenUni
	}
	s, err := open(ctx)
	if err != nil {
		return &failure{code: report.ExitIncomplete, err: fmt.Errorf("no stream: %w", err)}
	}
	size := f.pieces
	if size < 1 {
		size = max(len(body), 1)
	}
	err = s.WritePieces(ctx, body, size)
	switch {
	case err != nil:
	case f.reset >= 0:
		s.Reset(uint64(f.reset))
	case !f.noFin:
		err = s.Finish()
	}
	if err != nil {
		fmt.Fprintf(p.err, "%s: not all was taken: %v\n", programName, err)
	}
	if f.uni {
		// A request behind it shows whether it was taken amiss.
		if s, err = conn.OpenBidi(ctx); err == nil {
			err = s.Send(ctx, wire.Outgoing{ID: wire.NewID(), Kind: "request"}.Bytes())
		}
		if err != nil {
			fmt.Fprintf(p.err, "%s: the connection does not serve any more: %v\n", programName, err)
			return exit(report.ExitBroken)
		}
	}
	end, err := s.Wait(ctx)
	if len(end.Data) > 0 {
		return nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		fmt.Fprintf(p.err, "%s: nothing came back within %s\n", programName, f.timeout)
	} else {
		fmt.Fprintf(p.err, "%s: nothing came back: %s\n", programName, end.How)
	}
	return exit(report.ExitBroken)
}
