package mutants

import (
	"context"
	"crypto/ed25519"
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
)

// launcher starts neighbours of one manner.
type launcher struct {
	manner lanManner
	second time.Duration
}

// Launch starts one that knows one key.
func (l launcher) Launch(_ context.Context, o control.Launch) (control.Daemon, error) {
	id, err := credential.New()
	if err != nil {
		return nil, err
	}
	d := &launched{launcher: l, launch: o, identity: id, pinned: map[string]ed25519.PublicKey{}}
	if o.Known != nil {
		d.pinned[credential.AgentID(o.Known)] = o.Known
	}
	if err := d.start(); err != nil {
		return nil, err
	}
	return d, nil
}

// launched is a neighbour with what outlives it.
type launched struct {
	launcher launcher
	launch   control.Launch
	identity credential.Identity
	pinned   map[string]ed25519.PublicKey

	mu  sync.Mutex // guards what follows
	now *neighbour // nil while it is ended
	log []string
}

func (d *launched) start() error {
	s := settings{
		port: d.launch.Port, second: d.launcher.second, enrolment: d.launch.Enrolment,
		silent: d.launch.NoDiscovery != control.NotAtAll,
	}
	n, err := startNeighbour(d.launcher.manner, s, d.launch.Machine, d.identity, d.pinned)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = n
	return nil
}

func (d *launched) running() *neighbour {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *launched) Control() control.Target { return driven{d.running()} }
func (d *launched) Key() ed25519.PublicKey  { return d.identity.Public() }

func (d *launched) Alive() error {
	n := d.running()
	if n == nil || n.peer.ctx.Err() != nil {
		return errors.New("the daemon has ended")
	}
	return nil
}

func (d *launched) Log() []string {
	n := d.running()
	if n == nil {
		return d.log
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.log...)
}

func (d *launched) End(context.Context, bool) error {
	n := d.running()
	if n == nil {
		return nil
	}
	for id, key := range n.pins() {
		d.pinned[id] = key
	}
	n.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now, d.log = nil, n.log
	return nil
}

func (d *launched) Again(_ context.Context, noDiscovery control.Switch) error {
	d.launch.NoDiscovery = noDiscovery
	// The system gives a port back once the last packet on it has been dealt with.
	for range portTries {
		err := d.start()
		if !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
		time.Sleep(portPause)
	}
	return d.start()
}

const (
	portTries = 100
	portPause = 5 * time.Millisecond
)

func (d *launched) Close() error { return d.End(context.Background(), true) }
