package suite

import (
	"slices"
	"strings"

	"github.com/axonproto/axon/conformance/verdict"
	"github.com/axonproto/axon/harness/control"
)

// localArea begins the ids of all sentences about the local API itself.
const localArea = "AXON-IPC-"

// needsLocalAPI tells why a check of the local API is not applicable: a target may be
// driven in another way and have none. The checks of the command line start daemons,
// which have one.
func (r *run) needsLocalAPI(k *check) error {
	ofLocal := func(id string) bool { return strings.HasPrefix(id, localArea) }
	if _, ok := r.options.Control.(*control.IPC); ok || !slices.ContainsFunc(k.ids, ofLocal) || k.ofCommands() {
		return nil
	}
	return &verdict.Inapplicable{Reason: "the suite was not given a local API of AXON's kind (--ipc)"}
}
