package cli

import (
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/internal/daemon"
)

func newDaemon(p *app) *cobra.Command {
	var f struct {
		listen, logFormat  string
		port, verbose      int
		disableMDNS, quiet bool
	}
	cmd := &cobra.Command{
		Use:   "daemon",
		Short: "Run the daemon in the foreground",
		Long: paragraphs(
			"Run the daemon in the foreground until it is interrupted (Ctrl-C or SIGTERM). It then lets requests under way finish, for 5 seconds at most, and tells its peers.",
			"The state root holds the identity (made at the first start), config.yaml, the known peers, and the socket by which the other commands find the daemon. When the daemon can be reached it logs \"ready\" with its address."),
		Example: lines("axon daemon", "axon daemon --port 7200 --listen 192.0.2.7", "axon daemon --state-root ./agent-a --port 0 --log-format json"),
		Args:    wantArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := newLogger(cmd.ErrOrStderr(), f.logFormat, f.quiet, f.verbose)
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

			o := daemon.Options{StateRoot: root, Listen: f.listen, DisableDiscovery: f.disableMDNS, Logger: logger}
			if cmd.Flags().Changed("port") {
				if f.port < 0 || f.port > 65535 {
					return usagef("--port %d is out of range; give 1 to 65535, or 0 for any free port", f.port)
				}
				o.Port = &f.port
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return daemon.Run(ctx, o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.port, "port", 0, "UDP port; 0 takes any free one (default: the configured one, else 7100)")
	flags.StringVar(&f.listen, "listen", "", "host to bind (default: the configured one, else all interfaces)")
	flags.BoolVar(&f.disableMDNS, "disable-mdns", false, "neither advertise on the local network nor look for peers there")
	flags.StringVar(&f.logFormat, "log-format", "text", "form of the log on standard error: text or json")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "log warnings and errors only")
	flags.CountVarP(&f.verbose, "verbose", "v", "log more; twice for everything")
	return cmd
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
