package cli

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/client"
	"github.com/axonproto/axon/impl/internal/daemon"
)

func newDaemon(p *app) *cobra.Command {
	var f struct {
		listen, logFormat  string
		port, verbose      int
		disableMDNS, quiet bool
	}
	h := handling{timeout: client.DefaultTimeout}
	cmd := &cobra.Command{
		Use:   "daemon",
		Short: "Run the daemon in the foreground",
		Long: paragraphs(
			"Run the daemon in the foreground until it is interrupted (Ctrl-C or SIGTERM). It then lets requests under way finish, for 5 seconds at most, and tells its peers.",
			"The state root holds the identity (made at the first start), config.yaml, the known peers, and the socket by which the other commands find the daemon. When the daemon can be reached it logs \"ready\" with its address.",
			"With --command or --echo it answers requests as well, as `axon serve` with the same flag does."),
		Example: lines("axon daemon", "axon daemon --port 7200 --listen 192.0.2.7", "axon daemon --state-root ./agent-a --port 0 --log-format json",
			"axon daemon --command './answer.py'"),
		Args: wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			stderr := &syncWriter{w: cmd.ErrOrStderr()}
			logger, err := newLogger(stderr, f.logFormat, f.quiet, f.verbose)
			if err != nil {
				return err
			}
			root, err := p.stateRoot()
			if err != nil {
				return err
			}
			// The QUIC library writes its warning about socket buffers to the
			// standard logger.
			log.SetFlags(0)
			log.SetOutput(logWriter{logger})

			o := daemon.Options{StateRoot: root, Listen: f.listen, DisableDiscovery: f.disableMDNS, Version: version(), Logger: logger}
			if cmd.Flags().Changed("port") {
				if f.port < 0 || f.port > 65535 {
					return usagef("--port %d is out of range; give 1 to 65535, or 0 for any free port", f.port)
				}
				o.Port = &f.port
			}
			if cmd.Flags().Changed("concurrency") && h.command == "" {
				return usagef("--concurrency is of no use without --command; give both or neither")
			}
			if h.command != "" || h.echo {
				handler, err := h.handler(stderr)
				if err != nil {
					return err
				}
				return h.runDaemon(cmd.Context(), o, handler)
			}
			return daemon.Run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.port, "port", 0, "UDP port; 0 takes any free one (default: the configured one, else 7100)")
	flags.StringVar(&f.listen, "listen", "", "host to bind (default: the configured one, else all interfaces)")
	flags.BoolVar(&f.disableMDNS, "disable-mdns", false, "neither advertise on the local network nor look for peers there")
	flags.StringVar(&f.logFormat, "log-format", "text", "form of the log on standard error: text or json")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "log warnings and errors only")
	flags.CountVarP(&f.verbose, "verbose", "v", "log more; twice for everything")
	h.flags(cmd)
	return cmd
}

// runDaemon runs the daemon and, over its socket like any other program, what
// answers requests. When one of them ends, so does the other. What answers goes
// last: while the daemon drains, requests under way are still answered.
func (h *handling) runDaemon(ctx context.Context, o daemon.Options, handler client.Handler) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	answering, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var background sync.WaitGroup
	var failure error
	o.Ready = func() {
		background.Go(func() {
			if err := h.answer(answering, o, handler); ctx.Err() == nil {
				failure = err
				stop()
			}
		})
	}
	err := daemon.Run(ctx, o)
	end()
	background.Wait()
	return errors.Join(err, failure)
}

func (h *handling) answer(ctx context.Context, o daemon.Options, handler client.Handler) error {
	c, err := client.Dial(ctx, client.Options{StateRoot: o.StateRoot})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return c.Serve(ctx, handler, client.ServeOptions{
		Concurrency: h.concurrency,
		Ready:       func() { o.Logger.Info("answering requests") },
		Done: func(d client.Served) {
			attrs := []any{"id", d.Request.ID, "from", d.Request.From, "outcome", string(d.Outcome)}
			if d.Err == nil {
				o.Logger.Info("request ended", attrs...)
				return
			}
			o.Logger.Warn("request ended", append(attrs, "reason", d.Err)...)
		},
	})
}

func newLogger(w io.Writer, format string, quiet bool, verbose int) (*slog.Logger, error) {
	if quiet && verbose > 0 {
		return nil, usagef("--quiet and --verbose exclude each other; give one of them")
	}
	level := slog.LevelInfo - slog.Level(4*min(verbose, 2))
	if quiet {
		level = slog.LevelWarn
	}
	o := &slog.HandlerOptions{Level: level}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, usagef("--log-format %q is not known; give text or json", format)
}

// logWriter turns lines of the standard logger into warnings.
type logWriter struct{ logger *slog.Logger }

func (w logWriter) Write(line []byte) (int, error) {
	w.logger.Warn(strings.TrimSpace(string(line)))
	return len(line), nil
}
