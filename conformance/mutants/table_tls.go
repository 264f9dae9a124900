package mutants

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
)

// tlsMutants admit whom they must not admit, or show what they must not show. A
// dialer that does not hold the key that it shows cannot be let in by mistake:
// crypto/tls checks that by itself.
func tlsMutants() []Mutant {
	const served = `the request's stream carried|it answered by|it went on`
	protocols := func(f func(offered []string) []string) change {
		return func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) {
				inner := c.GetConfigForClient
				c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
					mine, err := inner(hello)
					if err == nil && mine != nil {
						mine.NextProtos = f(hello.SupportedProtos)
					}
					return mine, err
				}
			}
		}
	}
	admitting := func(f func(*peer, tls.ConnectionState) bool) change {
		return func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }
			m.admit = func(p *peer, s tls.ConnectionState) error {
				if f(p, s) {
					return nil
				}
				return admit(p, s)
			}
		}
	}
	first := func(s tls.ConnectionState) *x509.Certificate {
		if len(s.PeerCertificates) == 0 {
			return &x509.Certificate{}
		}
		return s.PeerCertificates[0]
	}
	algorithm := func(a x509.PublicKeyAlgorithm) change {
		return admitting(func(_ *peer, s tls.ConnectionState) bool { return first(s).PublicKeyAlgorithm == a })
	}
	return []Mutant{
		// tokens
		{Name: "alpn-also-axon-2", For: ids("TLS-002"), Fault: "it speaks axon/2 too, and serves it in the same way", Reason: served, change: protocols(func([]string) []string { return []string{"axon/1", "axon/2"} })},
		{Name: "alpn-prefers-axon-2", For: ids("TLS-001", "TLS-002"), Fault: "it prefers axon/2 where that is offered", Reason: served + `|chose "axon/2"`, change: protocols(func([]string) []string { return []string{"axon/2", "axon/1"} })},
		{Name: "alpn-any", For: ids("TLS-002"), Fault: "it takes any token", Reason: served, change: protocols(func(offered []string) []string {
			if slices.Contains(offered, "axon/1") || len(offered) == 0 {
				return []string{"axon/1"}
			}
			return offered
		})},
		{Name: "alpn-any-case", For: ids("TLS-002"), Fault: "tokens match in any case", Reason: served, change: protocols(func(offered []string) []string {
			for _, o := range offered {
				if strings.EqualFold(o, "axon/1") && o != "axon/1" {
					return []string{o}
				}
			}
			return []string{"axon/1"}
		})},
		{Name: "alpn-by-prefix", For: ids("TLS-002"), Fault: "it takes every token that begins with axon", Reason: served, change: protocols(func(offered []string) []string {
			if slices.Contains(offered, "axon/1") {
				return []string{"axon/1"}
			}
			for _, o := range offered {
				if strings.HasPrefix(o, "axon") {
					return []string{o}
				}
			}
			return []string{"axon/1"}
		})},
		{Name: "alpn-none-accepted", For: ids("TLS-002"), Fault: "a dialer that offers no token is served", Reason: served, change: protocols(func(offered []string) []string {
			if len(offered) == 0 {
				return nil
			}
			return []string{"axon/1"}
		})},
		{Name: "alpn-unset", For: ids("TLS-001"), Lost: true, Fault: "it never looks at tokens", Reason: `did not select an ALPN`, change: protocols(func([]string) []string { return nil })},
		{Name: "alpn-without-version", For: ids("TLS-001"), Lost: true, Fault: "its token is axon", Reason: `the dial failed`, change: protocols(func([]string) []string { return []string{"axon"} })},
		{Name: "alpn-in-capitals", For: ids("TLS-001"), Lost: true, Fault: "its token is AXON/1", Reason: `the dial failed`, change: protocols(func([]string) []string { return []string{"AXON/1"} })},
		{Name: "alpn-axon-2-alone", For: ids("TLS-001"), Lost: true, Fault: "its token is axon/2", Reason: `the dial failed`, change: protocols(func([]string) []string { return []string{"axon/2"} })},
		{Name: "alpn-h3-too", For: ids("TLS-001", "TLS-002"), Fault: "HTTP/3 is served at the same address, and preferred", Reason: served + `|chose "h3"`, change: protocols(func([]string) []string { return []string{"h3", "axon/1"} })},

		// certificates of dialers
		{Name: "no-certificate-admitted", For: ids("TLS-003"), Fault: "a dialer without a certificate is served", Reason: served, change: func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) { c.ClientAuth = tls.RequestClientCert }
			m.admit = func(p *peer, s tls.ConnectionState) error {
				if len(s.PeerCertificates) == 0 {
					return nil
				}
				return admit(p, s)
			}
		}},
		{Name: "no-certificate-asked-for", For: ids("TLS-003", "TLS-004", "TLS-006"), Fault: "certificates are never asked for", Reason: served, change: func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) { c.ClientAuth = tls.NoClientCert }
			m.admit = func(*peer, tls.ConnectionState) error { return nil }
		}},
		{Name: "any-key-admitted", For: ids("TLS-004", "TLS-006"), Fault: "every key is admitted", Reason: served, change: admitting(func(_ *peer, s tls.ConnectionState) bool { return len(s.PeerCertificates) > 0 })},
		{Name: "any-ed25519-key-admitted", For: ids("TLS-004"), Fault: "every Ed25519 key is admitted", Reason: served, change: algorithm(x509.Ed25519)},
		{Name: "names-trusted", For: ids("TLS-004", "TLS-006"), Fault: "the common name says who a dialer is", Reason: served, change: admitting(func(p *peer, s tls.ConnectionState) bool { return first(s).Subject.CommonName == p.admitted })},
		{Name: "alternative-names-trusted", For: ids("TLS-004", "TLS-006"), Fault: "an alternative name says who a dialer is", Reason: served, change: admitting(func(p *peer, s tls.ConnectionState) bool { return slices.Contains(first(s).DNSNames, p.admitted) })},
		{Name: "names-trusted-of-ed25519", For: ids("TLS-004"), Fault: "the common name says who a dialer with an Ed25519 key is", Reason: served, change: admitting(func(p *peer, s tls.ConnectionState) bool {
			return first(s).PublicKeyAlgorithm == x509.Ed25519 && first(s).Subject.CommonName == p.admitted
		})},
		{Name: "whole-chain-trusted", For: ids("TLS-004", "TLS-006"), Fault: "any certificate of the chain may be the known one", Reason: served, change: admitting(func(p *peer, s tls.ConnectionState) bool {
			return slices.ContainsFunc(s.PeerCertificates, func(c *x509.Certificate) bool { return p.knows(c) == nil })
		})},
		{Name: "last-of-chain-trusted", For: ids("TLS-004", "TLS-006"), Fault: "the last certificate of the chain says who a dialer is", Reason: served, change: admitting(func(p *peer, s tls.ConnectionState) bool {
			return len(s.PeerCertificates) > 0 && p.knows(s.PeerCertificates[len(s.PeerCertificates)-1]) == nil
		})},
		{Name: "ecdsa-admitted", For: ids("TLS-006"), Fault: "ECDSA keys are admitted", Reason: served, change: algorithm(x509.ECDSA)},
		{Name: "rsa-admitted", For: ids("TLS-006"), Fault: "RSA keys are admitted", Reason: served, change: algorithm(x509.RSA)},
		{Name: "address-trusted", For: ids("TLS-004"), Also: ids("TLS-003", "TLS-006"), Fault: "once a peer was admitted every dialer from its address is", Reason: served, change: func(m *manner) {
			var mu sync.Mutex
			seen := map[string]bool{}
			m.meet = func(l *link) {
				mu.Lock()
				defer mu.Unlock()
				host, _, _ := net.SplitHostPort(l.conn.RemoteAddr().String())
				seen[host] = true
			}
			m.tls = func(_ *peer, c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }
			m.admit = func(p *peer, s tls.ConnectionState) error {
				mu.Lock()
				defer mu.Unlock()
				// All dialers of a test come from loopback.
				if key, ok := credentialKey(first(s)); ok && len(key) > 0 && seen["127.0.0.1"] {
					return nil
				}
				return admit(p, s)
			}
		}},
		{Name: "judged-after-serving", For: ids("TLS-004", "TLS-006"), Fault: "an unknown key is turned away only after its first request was answered", Reason: served, change: func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }
			m.admit = func(*peer, tls.ConnectionState) error { return nil }
			write := m.write
			m.write = func(c *call, b []byte) {
				write(c, b)
				if c.peer.knows(c.link.conn.PeerCertificate()) != nil {
					_, _ = c.stream.Wait(c.peer.ctx)
					c.peer.pause(quick / 10)
					c.link.hangUp(1, "unknown peer")
				}
			}
		}},
		{Name: "unknown-key-unserved", For: ids("TLS-004", "TLS-006"), Ceiling: quick, Fault: "an unknown key gets a connection on which nothing is served", Reason: `still open`, change: func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }
			m.admit = func(*peer, tls.ConnectionState) error { return nil }
			m.serve = func(c *call) {
				if c.peer.knows(c.link.conn.PeerCertificate()) == nil {
					c.serve()
				}
			}
		}},
		{Name: "unknown-key-stalls", For: ids("TLS-004", "TLS-006"), Ceiling: quick, Fault: "the handshake of an unknown key is left hanging", Reason: `still open|no answer`, change: func(m *manner) {
			m.admit = func(p *peer, s tls.ConnectionState) error {
				err := admit(p, s)
				if err != nil {
					p.hang()
				}
				return err
			}
		}},
		{Name: "unknown-key-ends-listening", For: ids("TLS-004"), Anywhere: true, Lost: true, Ceiling: quick, Fault: "after an unknown key no dialer is admitted any more", Reason: `dial|connection|alert`, change: func(m *manner) {
			var mu sync.Mutex
			broken := false
			m.admit = func(p *peer, s tls.ConnectionState) error {
				mu.Lock()
				defer mu.Unlock()
				err := admit(p, s)
				broken = broken || err != nil
				if broken {
					return errUnknownKey
				}
				return nil
			}
		}},

		// its own certificate
		{Name: "own-ecdsa-certificate", For: ids("TLS-005"), Fault: "its own certificate holds an ECDSA key", Reason: `key of another kind: ECDSA`, change: func(m *manner) {
			m.listen = func(_ *peer, o *probe.ListenOptions) {
				if c, err := credential.ECDSACertificate(credential.CertOptions{}); err == nil {
					o.Certificate = &c
				}
			}
		}},
		{Name: "own-rsa-certificate", For: ids("TLS-005"), Fault: "its own certificate holds an RSA key", Reason: `key of another kind: RSA`, change: func(m *manner) {
			m.listen = func(_ *peer, o *probe.ListenOptions) {
				if c, err := credential.RSACertificate(credential.CertOptions{}); err == nil {
					o.Certificate = &c
				}
			}
		}},
		{Name: "own-key-new-each-time", For: ids("TLS-005"), Fault: "it makes a new key for each connection", Reason: `derives`, change: func(m *manner) {
			m.tls = func(_ *peer, c *tls.Config) {
				inner := c.GetConfigForClient
				c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
					mine, err := inner(hello)
					if err != nil {
						return nil, err
					}
					id, err := credential.New()
					if err != nil {
						return nil, err
					}
					certificate, err := id.Certificate(credential.CertOptions{})
					mine.Certificates = []tls.Certificate{certificate}
					return mine, err
				}
			}
		}},
	}
}
