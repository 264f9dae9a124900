package daemon

import (
	"context"

	"github.com/axonproto/axon/impl/internal/peers"
)

// Discovery looks for daemons nearby and makes this one known to them.
type Discovery interface {
	// Run feeds sink until ctx ends, then takes back what it announced and
	// returns. A network that cannot be used is not the end of it: it warns
	// once and goes on trying.
	Run(ctx context.Context, sink peers.Sink)
}
