package bench

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/axonproto/axon/harness/control"
	"github.com/axonproto/axon/harness/credential"
)

// Load is a sort of exchange.
type Load string

// The loads.
const (
	Request   Load = "request"   // a request and whatever answers it, on a stream of their own
	Handler   Load = "handler"   // a request that a local program answers, through the daemon's socket or a driver
	Message   Load = "message"   // a message on a stream of its own, written and taken
	Delivery  Load = "delivery"  // a message that a local program of the target was shown
	Handshake Load = "handshake" // a connection, begun and closed
)

// Loads lists all.
func Loads() []Load { return []Load{Request, Handler, Message, Delivery, Handshake} }

// local tells whether a load needs a local program at the target.
func (l Load) local() bool { return l == Handler || l == Delivery }

// oneWay tells whether nobody answers, so that there are no latencies.
func (l Load) oneWay() bool { return l == Message || l == Delivery }

// Bounds of the options.
const (
	MaxInFlight    = 10000
	MaxConnections = 1000
	MaxSize        = 65536
	minSize        = 128 // the least envelope with a payload of the wanted size
	// maxHeld bounds the bytes of the envelopes that are held here at a time, one for
	// each exchange in flight.
	maxHeld = 256 << 20
)

// Peer is where to find something that answers.
type Peer struct {
	Address string
	Key     ed25519.PublicKey // nil: any
	PID     int               // its process; 0: not known, so that its costs are not measured
}

// Options of a measurement.
type Options struct {
	Target Peer
	Raw    Peer // a bare peer, see ServeRaw
	// Identities that the target admits, one for each connection: a daemon keeps one
	// connection of a peer. There are at least as many as the most of Connections.
	Identities []credential.Identity
	// Socket of the target's local API, or else Control, is how a local program gets to
	// the target, for the loads handler and delivery. Both may be missing.
	Socket  string
	Control control.Target
	Loads   []Load
	// InFlight are exchanges at a time, spread over Connections.
	InFlight, Connections []int
	Sizes                 []int // of an envelope in bytes; handshakes have none
	Duration              time.Duration
	Rounds                int // pairs of measurements, of which the median counts
	// Progress is called before each row. It may be nil.
	Progress func(done, total int, next string)
}

// Check looks at all but the peers and their identities.
func (o *Options) Check() error {
	if len(o.Loads) == 0 || len(o.InFlight) == 0 || len(o.Sizes) == 0 || len(o.Connections) == 0 {
		return errors.New("nothing to measure: give at least one load, one number in flight, one of connections and one size")
	}
	for _, n := range o.InFlight {
		if n < 1 || n > MaxInFlight {
			return fmt.Errorf("%d in flight: it takes a number from 1 to %d", n, MaxInFlight)
		}
	}
	for _, n := range o.Connections {
		if n < 1 || n > MaxConnections {
			return fmt.Errorf("%d connections: it takes a number from 1 to %d", n, MaxConnections)
		}
	}
	for _, n := range o.Sizes {
		if n < minSize || n > MaxSize {
			return fmt.Errorf("a size of %d bytes: it takes a number from %d to %d, which is what an envelope may have", n, minSize, MaxSize)
		}
	}
	for _, l := range o.Loads {
		if !slices.Contains(Loads(), l) {
			return fmt.Errorf("there is no load %q: use request, handler, message, delivery or handshake", l)
		}
		if l.local() && o.Socket == "" && o.Control == nil {
			return fmt.Errorf("the load %s needs a way for a local program to the target: name the socket of its local API with --ipc, or a driver with --driver, or leave that load out", l)
		}
	}
	if o.Duration <= 0 || o.Rounds < 1 {
		return errors.New("the duration has to be above 0, and at least one round is needed")
	}
	return nil
}

// rows are the combinations, in the order in which they are measured and shown, and
// notes on what was left out.
func (o *Options) rows() (rows []Row, notes []string) {
	for _, load := range o.Loads {
		sizes, connections := o.Sizes, o.Connections
		if load == Handshake {
			sizes, connections = []int{0}, []int{1}
		}
		for _, size := range sizes {
			for _, c := range connections {
				for _, n := range o.InFlight {
					row := Row{Load: load, InFlight: n, Size: size, Connections: c}
					switch {
					case load == Handshake && n > maxHandshakes:
					case n*size > maxHeld:
						notes = append(notes, fmt.Sprintf("%s: left out, since the envelopes would take more than %d MB here", row, maxHeld>>20))
					default:
						rows = append(rows, row)
					}
				}
			}
		}
	}
	return rows, notes
}
