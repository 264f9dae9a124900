package mutants

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/axonproto/axon/harness/probe"
)

// dialling changes how peers are dialled.
func dialling(f func(o *probe.DialOptions)) func(*localManner) {
	return func(m *localManner) { m.dial = func(_ *pinned, o *probe.DialOptions) { f(o) } }
}

// within is at most a second of a context.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Second)
}

// withhold shows no certificate to a listener that names authorities, as libraries
// do by themselves.
func withhold(o *probe.DialOptions) {
	o.TLS = func(c *tls.Config) {
		show := c.GetClientCertificate
		c.GetClientCertificate = func(i *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if len(i.AcceptableCAs) > 0 {
				return &tls.Certificate{}, nil
			}
			return show(i)
		}
	}
}
