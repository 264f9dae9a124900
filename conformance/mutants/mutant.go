package mutants

import (
	"slices"
	"time"
)

// Mutant is a peer with one fault, and how the suite must find it.
type Mutant struct {
	// Name in kebab-case.
	Name string
	// For are the requirements that it is made for: each MUST among them must get
	// the verdict fail by it, each SHOULD the verdict warn.
	For []string
	// Also are others that the same fault breaks: they may be failed by it. A
	// failed requirement that is in neither list is a false attribution.
	Also []string
	// Anywhere: the fault strikes whatever is going on just then, so that any
	// requirement may be failed by it. With no requirement in For, some must be.
	Anywhere bool
	// Fault in one sentence for people.
	Fault string
	// Reason is a regular expression that what the suite saw must match, for each
	// requirement in For, in at least one of its checks.
	Reason string
	// HasHandler: its application answers, and the suite is told so.
	HasHandler bool
	// Heavy: it shows only in the heavy checks, or in those that take minutes, which
	// others are spared.
	Heavy bool
	// Whole: it shows only in the course of a whole run.
	Whole bool
	// Lost: the fault takes the peer or its answers away, so that some checks
	// cannot run.
	Lost bool
	// Ceiling of one check; 0 is the suite's own.
	Ceiling time.Duration
	// Draft: it is not written yet, so that it proves nothing.
	Draft bool

	change func(*manner)
	// lan is a fault in discovery; with it the peer is a neighbour.
	lan func(*lanManner)
	// command: the fault is in a command line, and goes by the mutant's name there.
	command bool
	// local is a fault in, or seen through, a local API; with it the peer is a daemon
	// that has one.
	local func(*localManner)
}

// Oddity is a peer that does something unusual that is allowed: the suite must
// pass it whole.
type Oddity struct {
	// Name in kebab-case.
	Name string
	// What it does, in one sentence for people.
	What string
	// Warns are the requirements, all of them SHOULD, that it breaks.
	Warns []string
	// HasHandler: its application answers, and the suite is told so.
	HasHandler bool

	change func(*manner)
	// light: what it does is the same the first and the thousandth time, so that it is
	// spared the heavy checks.
	light bool
	// lan makes the peer a neighbour on a network; minutes: it meets the checks
	// that are about minutes too.
	lan     func(*lanManner)
	minutes bool
	// local makes the peer a daemon with a local API; heavy: it meets the heavy checks
	// too.
	local func(*localManner)
	heavy bool
}

// Mutants lists all, in the order of the source.
func Mutants() []Mutant {
	return slices.Concat(
		refMutants(), idMutants(), kindMutants(), payloadMutants(), bytesMutants(),
		acceptMutants(), refuseMutants(),
		streamMutants(), wornMutants(), rareMutants(), lifeMutants(), tlsMutants(),
		commandMutants(),
		lanAdvertMutants(), lanFindMutants(), lanTrustMutants(), lanNetworkMutants(),
		localMutants(), draftMutants(),
	)
}

// Listed says which requirements a mutant is made for.
type Listed struct {
	Name         string   `json:"name"`
	Requirements []string `json:"requirements"`
	Fault        string   `json:"fault"`
}

// List gives every mutant with its requirements, for the coverage report.
func List() []Listed {
	var list []Listed
	for _, m := range Mutants() {
		list = append(list, Listed{m.Name, m.For, m.Fault})
	}
	return list
}

// ids writes requirement ids without their prefix.
func ids(short ...string) []string {
	var long []string
	for _, s := range short {
		long = append(long, "AXON-"+s)
	}
	return long
}

// quick is the ceiling for peers that leave the suite waiting.
const quick = 700 * time.Millisecond
