package cli

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/axonproto/axon/impl/internal/daemon"
)

func newDaemon() *cobra.Command {
	var f struct {
		stateRoot, listen, logFormat string
		port, verbose                int
		disableMDNS, quiet           bool
	}
	cmd := &cobra.Command{
		Use:   "daemon",
		Short: "Run the daemon in the foreground",
		Long: "Run the daemon in the foreground until it is interrupted (Ctrl-C or SIGTERM).\n\n" +
			"The state root holds the identity (made at the first start), config.yaml and the\n" +
			"known peers. When the daemon can be reached it logs \"ready\" with its address.",
		Example: "  axon daemon\n  axon daemon --port 7200 --listen 192.0.2.7\n  axon daemon --state-root ./agent-a --port 0 --log-format json",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := newLogger(cmd.ErrOrStderr(), f.logFormat, f.quiet, f.verbose)
			if err != nil {
				return err
			}
			root, err := stateRoot(f.stateRoot)
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
	flags.StringVar(&f.stateRoot, "state-root", "", "folder of the daemon's state (default $AXON_ROOT, else ~/.axon)")
	flags.IntVar(&f.port, "port", 0, "UDP port; 0 takes any free one (default: the configured one, else 7100)")
	flags.StringVar(&f.listen, "listen", "", "host to bind (default: the configured one, else all interfaces)")
	flags.BoolVar(&f.disableMDNS, "disable-mdns", false, "neither advertise on the local network nor look for peers there")
	flags.StringVar(&f.logFormat, "log-format", "text", "form of the log on standard error: text or json")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "log warnings and errors only")
	flags.CountVarP(&f.verbose, "verbose", "v", "log more; twice for everything")
	return cmd
}

// stateRoot applies the order flag, environment, home.
func stateRoot(flag string) (string, error) {
	root := flag
	if root == "" {
		root = os.Getenv("AXON_ROOT")
	}
	if root == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home folder: %w; name a folder with --state-root", err)
		}
		root = filepath.Join(home, ".axon")
	}
	return filepath.Abs(root)
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
