package suite

import (
	"slices"
	"time"

	"github.com/axonproto/axon/conformance/steps"
	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/lan"
	"github.com/axonproto/axon/spec"
)

// LAN is a network on which the target advertises, for the need lan.
type LAN struct {
	// Network is the suite's instrument there. The caller closes it.
	Network *lan.Network
	// Second is how long the seconds of the sentences last; 0 means a second. Only
	// the self test, whose peers have a clock of their own, makes them shorter.
	Second time.Duration
}

// Seconds of the sentences that a check on a network may take beyond its own
// exchanges, and one that is tagged @slow.
const (
	lanSeconds  = 60
	slowSeconds = 180
)

// lanFactor times the ceiling of a check is for the exchanges of one on a network,
// which meets several newcomers.
const lanFactor = 6

// lan is what the steps need to know.
func (o *Options) lan() *steps.LAN {
	if o.LAN == nil {
		return nil
	}
	return &steps.LAN{Network: o.LAN.Network, Launcher: o.Launcher, Second: o.LAN.Second}
}

// lanCapabilities are what a network and a command line add.
func (o *Options) lanCapabilities() []string {
	var offered []string
	if o.LAN != nil {
		offered = append(offered, string(spec.LAN))
	}
	if o.Launcher != nil {
		offered = append(offered, string(spec.CLI))
	}
	return offered
}

// lanCeiling is that of a check on a network, 0 for any other.
func (r *run) lanCeiling(k *check) time.Duration {
	if r.options.LAN == nil || !slices.Contains(k.needs, spec.LAN) {
		return 0
	}
	second := r.options.LAN.Second
	if second == 0 {
		second = time.Second
	}
	seconds := lanSeconds
	if k.slow {
		seconds = slowSeconds
	}
	return lanFactor*r.target.Ceiling + time.Duration(int64(seconds)*int64(second))
}

// defaultPatience is what a check that is tagged @slow and needs no network may take
// beyond the ceiling of others.
const defaultPatience = time.Minute

// patience is that of a check: none when it is not tagged @slow.
func (r *run) patience(k *check) time.Duration {
	switch {
	case !k.slow:
		return 0
	case r.options.Patience > 0:
		return r.options.Patience
	}
	return defaultPatience
}

// tooSlow tells why a check that takes long is not made.
func (r *run) tooSlow(k *check) error {
	if !k.slow || r.options.Slow {
		return nil
	}
	return &verdict.Inapplicable{Reason: "it takes half a minute or more; --slow includes it"}
}
