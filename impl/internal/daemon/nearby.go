package daemon

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/axonproto/axon/impl/internal/config"
	"github.com/axonproto/axon/impl/internal/discovery"
	"github.com/axonproto/axon/impl/internal/identity"
)

// nearby makes the discovery of a daemon that is bound to an address. It is nil
// when it is switched off, or when no other host could reach that address.
func nearby(o Options, conf config.Config, id *identity.Identity, bound net.Addr) (Discovery, error) {
	if o.DisableDiscovery || !conf.Discovery {
		return nil, nil
	}
	at, err := netip.ParseAddrPort(bound.String())
	if err != nil {
		return nil, fmt.Errorf("read the bound address: %w", err)
	}
	d, err := discovery.New(discovery.Options{
		ID: id.ID, PublicKey: id.Public, Host: at.Addr(), Port: int(at.Port()), Logger: o.Logger,
	})
	if errors.Is(err, discovery.ErrOnlyLocal) {
		o.Logger.Info(err.Error())
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}
