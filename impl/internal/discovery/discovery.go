package discovery

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/rarelog"
)

// ErrOnlyLocal reports a daemon that no other host can reach: it would make no
// sense to advertise it.
var ErrOnlyLocal = errors.New("the daemon listens on a loopback address only, so discovery stays off; bind another address to be found")

// Options of New.
type Options struct {
	ID        identity.AgentID  // whom to advertise, and whose adverts to ignore; required
	PublicKey ed25519.PublicKey // ID derives from it; required
	Port      int               // UDP port on which the daemon listens, 1 to 65535; required
	// Host is the address that the daemon is bound to. Only its interface is
	// used then. Zero or unspecified: all interfaces.
	Host netip.Addr
	// Interfaces limits discovery to interfaces with these names, loopback
	// included. Empty: each that is up and multicasts, except loopback.
	Interfaces []string
	Logger     *slog.Logger // required

	medium medium // nil: the machine's interfaces
	timing timing // zero: defaultTiming
}

// timing is when things happen; only tests that run in real time change it.
type timing struct {
	stale   time.Duration // an observation lives so long without being repeated
	sweep   time.Duration // how often that and the interfaces are looked at
	longest time.Duration // most time between two rounds
	repeat  time.Duration // least time between two reports of one observation
}

// defaultTiming leaves room for three lost rounds before anything goes stale.
var defaultTiming = timing{stale: 60 * time.Second, sweep: 5 * time.Second, longest: 15 * time.Second, repeat: 10 * time.Second}

func (o *Options) check() error {
	switch {
	case o.Logger == nil:
		return errors.New("discovery: Options.Logger is nil; set it")
	case len(o.PublicKey) != ed25519.PublicKeySize || identity.DeriveAgentID(o.PublicKey) != o.ID:
		return errors.New("discovery: Options.ID does not derive from Options.PublicKey; give those of one identity")
	case o.Port < 1 || o.Port > 65535:
		return fmt.Errorf("discovery: port %d is out of range; give the one that the daemon listens on", o.Port)
	case o.Host.IsLoopback() && len(o.Interfaces) == 0:
		return ErrOnlyLocal
	}
	return nil
}

// maxSightings may wait to be looked at; more are dropped and come again.
const maxSightings = 512

// Discovery advertises and looks for others. Make it with New and run it once.
type Discovery struct {
	o         Options
	rare      *rarelog.Log
	sightings chan sighting

	// All below belongs to the goroutine of Run.
	sink   peers.Sink
	table  *table
	links  map[string]link // by segment key
	pause  time.Duration   // before the last round
	health health
	full   bool // the table was full and that was said since the last sweep
}

// sighting is an advert that was seen; direct as in segment.pick.
type sighting struct {
	peers.Observation
	direct bool
}

// New checks the options. It touches no network.
func New(o Options) (*Discovery, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.medium == nil {
		o.medium = multicast{choose: newChooser(&o), logger: o.Logger}
	}
	if o.timing == (timing{}) {
		o.timing = defaultTiming
	}
	return &Discovery{
		o: o, rare: rarelog.New(o.Logger), sightings: make(chan sighting, maxSightings),
		table: newTable(o.timing), links: map[string]link{}, health: health{logger: o.Logger},
	}, nil
}

// Run advertises and looks for others until ctx ends, then takes the adverts
// back and returns once all that it started has ended. What it finds it
// reports to sink when it is new and about every 15 s while it is there, and
// has sink forget it when it was not seen for 60 s; both from one goroutine.
// That there is no network, or one without multicast, is logged once and tried
// again.
func (d *Discovery) Run(ctx context.Context, sink peers.Sink) {
	d.sink = sink
	defer d.leaveAll()
	d.rescan()
	round := time.NewTimer(0)
	defer round.Stop()
	sweep := time.NewTicker(d.o.timing.sweep)
	defer sweep.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case s := <-d.sightings:
			d.note(s)
		case <-round.C:
			d.round()
			round.Reset(d.nextPause())
		case <-sweep.C:
			for _, o := range d.table.sweep(time.Now()) {
				sink.Forget(o)
			}
			d.full = false
			if d.rescan() {
				d.pause = 0
				round.Reset(0)
			}
		}
	}
}

// nextPause grows from 1 s to 15 s. A tenth of it is chance, so that daemons
// that started together do not go on asking together.
func (d *Discovery) nextPause() time.Duration {
	d.pause = min(max(time.Second, 2*d.pause), d.o.timing.longest)
	return d.pause - rand.N(d.pause/10)
}

// rescan brings the links in line with the interfaces there are, and reports
// whether any was added.
func (d *Discovery) rescan() (added bool) {
	segments, err := d.o.medium.segments()
	if err != nil {
		d.health.report(0, err)
		return false
	}
	present := map[string]bool{}
	for _, s := range segments {
		present[s.key()] = true
	}
	for key, l := range d.links {
		if !present[key] {
			l.leave()
			delete(d.links, key)
		}
	}
	for _, s := range segments {
		if d.links[s.key()] != nil {
			continue
		}
		records, err := newOwn(&d.o, s.addrs())
		if err != nil {
			d.health.report(0, err)
			continue
		}
		d.links[s.key()] = d.o.medium.join(s, records, func(from netip.Addr, data []byte) { d.receive(s, from, data) })
		d.o.Logger.Debug("discovering on an interface", "interface", s.Name)
		added = true
	}
	return added
}

// round asks and announces on every link.
func (d *Discovery) round() {
	working, err := 0, errors.New("no network interface that multicasts is up")
	if len(d.links) > 0 {
		err = nil
	}
	for _, l := range d.links {
		if e := l.round(); e != nil {
			err = e
		} else {
			working++
		}
	}
	d.health.report(working, err)
}

func (d *Discovery) leaveAll() {
	for _, l := range d.links {
		l.leave()
	}
}

// receive takes a datagram in; the links' goroutines call it.
func (d *Discovery) receive(s segment, from netip.Addr, data []byte) {
	if !s.onLink(from) {
		d.rare.Note(slog.LevelDebug, "an answer from another network was ignored", slog.String("from", from.String()))
		return
	}
	adverts, ignored := readAdverts(data)
	for _, err := range ignored {
		d.rare.Note(slog.LevelDebug, "an advert was ignored", slog.String("from", from.String()), slog.Any("reason", err))
	}
	for _, a := range adverts {
		if a.ID == d.o.ID {
			continue
		}
		addr, direct := s.pick(from, a.Addrs)
		if !addr.IsValid() {
			d.rare.Note(slog.LevelDebug, "an advert without a usable address was ignored", slog.String("from", from.String()))
			continue
		}
		o := peers.Observation{AgentID: a.ID, PublicKey: a.Key, Addr: netip.AddrPortFrom(addr, a.Port), Source: peers.SourceMDNS}
		select {
		case d.sightings <- sighting{o, direct}:
		default:
			d.rare.Note(slog.LevelDebug, "too many adverts at once; some were left out")
		}
	}
}

func (d *Discovery) note(s sighting) {
	tell, full := d.table.see(s.Observation, s.direct, time.Now())
	switch {
	case tell:
		d.sink.Observe(s.Observation)
	case full && !d.full:
		d.full = true
		d.rare.Note(slog.LevelDebug, "too many daemons advertise; new ones wait until others are gone", slog.Int("limit", maxPeers))
	}
}
