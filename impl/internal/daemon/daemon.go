// Package daemon puts the parts together and runs them: state root, identity,
// configuration, peers, dispatcher and transport.
//
// It imports all packages of impl/internal. The command line calls Run.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/dispatch"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/transport"
)

// Options of Run. What is left at its zero value comes from the configuration.
type Options struct {
	// StateRoot is the folder that holds identity, configuration and peers;
	// it is made when it is missing. Required.
	StateRoot string
	// Port overrides the configured UDP port; nil leaves it, 0 means any free one.
	Port *int
	// Listen overrides the configured host to bind.
	Listen string
	// DisableDiscovery overrides discovery.enabled.
	DisableDiscovery bool
	// DrainTimeout is how long requests under way may take after the end of
	// ctx. Zero: 5 s.
	DrainTimeout time.Duration
	// Logger gets the record "ready", with address and agent_id, once peers
	// can connect. Required.
	Logger *slog.Logger
}

const defaultDrain = 5 * time.Second

// Run runs the daemon until ctx ends, then lets the requests under way finish,
// tells the peers and returns nil. An error means that it could not start.
func Run(ctx context.Context, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := prepareRoot(o.StateRoot); err != nil {
		return err
	}
	conf, err := config.Load(o.StateRoot)
	if err != nil {
		return err
	}
	id, err := identity.Load(o.StateRoot)
	if err != nil {
		return err
	}
	warnIfReadable(filepath.Join(o.StateRoot, identity.KeyFile), o.Logger)
	book := peers.Open(peers.Options{Root: o.StateRoot, Own: id.ID, Static: conf.Peers, Trust: conf.Trust, Logger: o.Logger})
	router, err := dispatch.New(dispatch.Options{Logger: o.Logger, MaxPending: conf.Pending})
	if err != nil {
		return err
	}
	endpoint, err := transport.Listen(transport.Options{
		Identity: id, Pins: book, Handler: router, Logger: o.Logger,
		Addr: bindAddr(o, conf), MaxConnections: conf.Connections,
	})
	if err != nil {
		return err
	}
	o.Logger.Info("ready", "address", endpoint.Addr().String(), "agent_id", id.ID)

	<-ctx.Done()
	o.Logger.Info("shutting down", "drain_timeout", o.DrainTimeout.String())
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.DrainTimeout)
	defer cancel()
	if err := endpoint.Shutdown(drain); err != nil {
		o.Logger.Warn("the socket did not close cleanly", "error", err)
	}
	o.Logger.Info("stopped")
	return nil
}

func (o *Options) check() error {
	switch {
	case o.Logger == nil:
		return errors.New("daemon: Options.Logger is nil; set it")
	case o.StateRoot == "":
		return errors.New("no state root given; name a folder with --state-root")
	case o.Port != nil && (*o.Port < 0 || *o.Port > 65535):
		return fmt.Errorf("port %d is out of range; give 1 to 65535, or 0 for any free port", *o.Port)
	case o.DrainTimeout < 0:
		return errors.New("daemon: Options.DrainTimeout is negative; use zero for the default")
	}
	if o.DrainTimeout == 0 {
		o.DrainTimeout = defaultDrain
	}
	return nil
}

func bindAddr(o Options, conf config.Config) string {
	port, host := conf.Port, conf.ListenAddr
	if o.Port != nil {
		port = *o.Port
	}
	if o.Listen != "" {
		host = o.Listen
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

func prepareRoot(root string) error {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("make state root: %w; choose a writable folder with --state-root", err)
	}
	return nil
}

// warnIfReadable says so when others can read the key.
func warnIfReadable(path string, logger *slog.Logger) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 || os.PathSeparator == '\\' {
		return
	}
	logger.Warn("other users can read the identity key; run chmod 600 on it", "file", path, "mode", info.Mode().Perm().String())
}
