package mutants

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/lan"
	"github.com/axonproto/axon/harness/lan/netns"
)

// How long the seconds of the sentences about discovery last in the self test:
// nobody has the time to wait for minutes. Where the suite did not find what it
// should have found it takes a second look with more time, since a machine that is
// busy with other things may be late.
const (
	lanSecond  = 150 * time.Millisecond
	secondLook = 500 * time.Millisecond
)

// requireNetwork names the environment variable that makes it an error when no
// private network can be made.
const requireNetwork = "AXON_REQUIRE_NETNS"

// lanWorkers is the number of neighbours at once: most of their time is waiting.
const lanWorkers = 4

// pool is a queue of jobs, by number, and how many of them are done at once.
type pool struct {
	queue   chan int
	workers int
}

// pools parts the jobs in those that keep a processor busy and, after them, those
// that mostly wait.
func pools(jobs []*job, parallel int) [][]pool {
	busy := pool{make(chan int, len(jobs)), parallel}
	local := pool{make(chan int, len(jobs)), max(parallel, localWorkers)}
	patient := pool{make(chan int, len(jobs)), max(parallel, lanWorkers)}
	for i, j := range jobs {
		switch {
		case j.lan != nil:
			patient.queue <- i
		case j.local != nil:
			local.queue <- i
		default:
			busy.queue <- i
		}
	}
	for _, p := range []pool{busy, local, patient} {
		close(p.queue)
	}
	return [][]pool{{busy}, {local, patient}}
}

// lanParallel is the number of checks at once against a neighbour: most of their
// time is waiting.
const lanParallel = 4

// lanSample is the part, one in so many, of the checks that do not concern a fault
// in discovery which its neighbour meets all the same.
const lanSample = 12

// lanChecks names the places of the checks for a neighbour.
func (j *job) lanChecks(features fs.FS, whole bool) ([]string, error) {
	all, err := suite.List(features, suite.Selection{Tags: "@lan"})
	if err != nil {
		return nil, err
	}
	slow, err := suite.List(features, suite.Selection{Tags: "@slow"})
	if err != nil {
		return nil, err
	}
	broken := slices.Concat(j.row.MadeFor, j.also)
	var places []string
	for i, l := range all {
		if !slices.ContainsFunc(l.IDs, func(id string) bool { return strings.HasPrefix(id, "AXON-DISC-") }) {
			continue
		}
		concerned := slices.ContainsFunc(l.IDs, func(id string) bool { return slices.Contains(broken, id) })
		if slices.ContainsFunc(slow, func(s suite.Listed) bool { return s.Location == l.Location }) {
			if j.heavy && (concerned || j.whole) {
				places = append(places, l.Location)
			}
			continue
		}
		if whole || j.whole || concerned || (i+len(j.row.Name))%lanSample == 0 {
			places = append(places, l.Location)
		}
	}
	return places, nil
}

// runLAN has the suite judge one neighbour.
func (j *job) runLAN(ctx context.Context, o Options, me credential.Identity) (Row, error) {
	return looks(ctx, func(second bool) (Row, error) {
		if second {
			return j.look(ctx, o, me, secondLook)
		}
		return j.look(ctx, o, me, lanSecond)
	})
}

// look has the suite judge a neighbour, on a private network between two
// machines: the neighbour's, and this one's end of the cable. Where no such network
// can be made the row says so.
func (j *job) look(ctx context.Context, o Options, me credential.Identity, second time.Duration) (row Row, err error) {
	machine, err := netns.New()
	if errors.Is(err, netns.ErrImpossible) {
		row := j.row
		row.NotRun = err.Error()
		row.FailedBy, row.Collateral, row.Problems, row.Seen = []string{}, []string{}, []string{}, []string{}
		if os.Getenv(requireNetwork) != "" {
			row.Problems = append(row.Problems, "it was not met: "+err.Error())
		}
		return row, nil
	}
	if err != nil {
		return j.row, err
	}
	defer func() { err = errors.Join(err, machine.Close()) }()
	cable, err := machine.Connect(true)
	if err != nil {
		return j.row, err
	}
	network, err := lan.Open(cable.Near)
	if err != nil {
		return j.row, err
	}
	defer func() { err = errors.Join(err, network.Close()) }()
	m := correctLAN()
	if j.lan != nil {
		j.lan(&m)
	}
	const port = 7100
	id, err := credential.New()
	if err != nil {
		return j.row, err
	}
	n, err := startNeighbour(m, settings{port: port, second: second}, machine, id, map[string]ed25519.PublicKey{me.AgentID(): me.Public()})
	if err != nil {
		return j.row, err
	}
	defer n.close()
	options := suite.Options{
		Address: net.JoinHostPort(cable.FarAddr.String(), strconv.Itoa(port)), Identity: me, Features: o.Features,
		Control: driven{n}, LAN: &suite.LAN{Network: network, Second: second},
		Launcher: launcher{manner: m, second: second}, Slow: true,
		Parallel: lanParallel, Timeout: j.ceiling, Version: o.Version,
	}
	if options.Select.Locations, err = j.lanChecks(o.Features, o.Whole); err != nil {
		return j.row, err
	}
	r, err := suite.Run(ctx, options)
	if err != nil {
		return j.row, err
	}
	return j.judge(r), nil
}
