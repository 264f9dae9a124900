package cli

import (
	"context"
	"time"

	"github.com/axonproto/axon/conformance/suite"
	"github.com/axonproto/axon/harness/control"
)

// attachCeiling is how long a local API may take to answer its first command.
const attachCeiling = 5 * time.Second

// attachIPC has the suite make the target act over its local API.
func attachIPC(ctx context.Context, socket string, o *suite.Options) error {
	ctx, cancel := context.WithTimeout(ctx, attachCeiling)
	defer cancel()
	target, err := control.NewIPC(ctx, socket)
	if err != nil {
		return err
	}
	o.Control = target
	return nil
}
