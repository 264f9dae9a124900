// Package daemon puts the parts together and runs them: state root, identity,
// configuration, peers, dispatcher, transport, links, local API and discovery.
//
// It imports all packages of impl/internal. The command line calls Run. It
// serves the life of AXON-IPC.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/dispatch"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/ipc"
	"github.com/axonproto/axon/impl/internal/links"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/stateroot"
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
	// Version is what local clients are told. Empty: the version of the module.
	Version string
	// Ready, when set, is called once peers and local clients can connect. It
	// must not block.
	Ready func()
	// Logger gets the record "ready", with address, socket and agent_id, once
	// peers and local clients can connect. Required.
	Logger *slog.Logger
}

const defaultDrain = 5 * time.Second

// Run runs the daemon until ctx ends, then lets the requests under way finish,
// tells the peers and returns nil. An error means that it could not start.
func Run(ctx context.Context, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	d, err := begin(o)
	if err != nil {
		return err
	}
	o.Logger.Info("ready", "address", d.endpoint.Addr().String(), "socket", d.server.Path(), "agent_id", d.id.ID)
	tell(o.Logger, "READY=1")
	if o.Ready != nil {
		o.Ready()
	}
	var trimming sync.WaitGroup
	trimming.Go(func() { trim(ctx) })

	<-ctx.Done()
	trimming.Wait()
	o.Logger.Info("shutting down", "drain_timeout", o.DrainTimeout.String())
	tell(o.Logger, "STOPPING=1")
	d.stop(o.DrainTimeout)
	o.Logger.Info("stopped")
	return nil
}

// running holds the parts of a daemon.
type running struct {
	logger   *slog.Logger
	id       *identity.Identity
	lock     *stateroot.Lock
	endpoint *transport.Endpoint
	keeper   *links.Keeper
	server   *ipc.Server

	stopDiscovery context.CancelFunc
	discovery     sync.WaitGroup
}

// begin brings the parts up, and down again when one of them fails.
func begin(o Options) (_ *running, err error) {
	if err := stateroot.Prepare(o.StateRoot); err != nil {
		return nil, err
	}
	if stateroot.OpenToOthers(o.StateRoot) {
		o.Logger.Warn("other users can look into the state root; run chmod 700 on it", "folder", o.StateRoot)
	}
	lock, err := stateroot.Acquire(o.StateRoot)
	if err != nil {
		return nil, err
	}
	d := &running{logger: o.Logger, lock: lock, stopDiscovery: func() {}}
	defer func() {
		if err != nil {
			d.stop(0)
		}
	}()
	conf, err := config.Load(o.StateRoot)
	if err != nil {
		return nil, err
	}
	d.id, err = identity.Load(o.StateRoot)
	if err != nil {
		return nil, err
	}
	warnIfReadable(filepath.Join(o.StateRoot, identity.KeyFile), o.Logger)
	if err := d.connect(o, conf); err != nil {
		return nil, err
	}
	nearby, err := nearby(o, conf, d.id, d.endpoint.Addr())
	if err != nil {
		return nil, err
	}
	if nearby != nil {
		var ctx context.Context
		ctx, d.stopDiscovery = context.WithCancel(context.Background())
		d.discovery.Go(func() { nearby.Run(ctx, d.keeper) })
	}
	return d, nil
}

// connect opens the two ways in: for peers, and for local clients.
func (d *running) connect(o Options, conf config.Config) error {
	book := peers.Open(peers.Options{Root: o.StateRoot, Own: d.id.ID, Static: conf.Peers, Trust: conf.Trust, Logger: o.Logger})
	router, err := dispatch.New(dispatch.Options{Logger: o.Logger, MaxPending: conf.Pending})
	if err != nil {
		return err
	}
	// The server exists before discovery, which is what brings candidates.
	candidate := func(p peers.Peer) { d.server.Candidate(p) }
	d.keeper, err = links.New(links.Options{Book: book, Logger: o.Logger, Candidate: candidate})
	if err != nil {
		return err
	}
	d.endpoint, err = transport.Listen(transport.Options{
		Identity: d.id, Pins: book, Handler: router, Watcher: d.keeper, Logger: o.Logger,
		Addr: bindAddr(o, conf), MaxConnections: conf.Connections,
	})
	if err != nil {
		return err
	}
	// Before the first local client can ask for something to be sent.
	d.keeper.Start(d.endpoint)
	d.server, err = ipc.Listen(ipc.Options{
		StateRoot: o.StateRoot, Own: d.id.ID, PublicKey: d.id.Public, Name: conf.Name, Version: o.Version,
		Book: book, Links: d.keeper, Network: d.endpoint, Dispatcher: router, Logger: o.Logger,
	})
	return err
}

// stop lets go of everything: first what brings new work, then the peers, for
// whom the handlers may still answer, and last the local clients.
func (d *running) stop(drainTimeout time.Duration) {
	if d.server != nil {
		d.server.StopAccepting()
	}
	d.stopDiscovery()
	if d.keeper != nil {
		d.keeper.Close()
	}
	if d.endpoint != nil {
		drain, cancel := context.WithTimeout(context.Background(), drainTimeout)
		defer cancel()
		if err := d.endpoint.Shutdown(drain); err != nil {
			d.logger.Warn("the UDP socket did not close cleanly", "error", err)
		}
	}
	d.discovery.Wait()
	if d.server != nil {
		d.server.Close()
	}
	d.lock.Release()
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
	if o.Version == "" {
		o.Version = "(devel)"
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
			o.Version = info.Main.Version
		}
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

// warnIfReadable says so when others can read the key.
func warnIfReadable(path string, logger *slog.Logger) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 || os.PathSeparator == '\\' {
		return
	}
	logger.Warn("other users can read the identity key; run chmod 600 on it", "file", path, "mode", info.Mode().Perm().String())
}
