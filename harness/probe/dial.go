package probe

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/trace"
)

// ErrKeyMismatch says that the target's certificate shows another key than
// DialOptions.ExpectKey.
var ErrKeyMismatch = errors.New("the target shows another key than the expected one; check its address and its key")

// DialOptions shape one connection attempt. The zero value, with an address,
// dials as an orderly peer does, except that it sends no server name.
type DialOptions struct {
	Address               string            // HOST:PORT, required
	ALPN                  []string          // nil: axon/1; empty but not nil: none is offered
	ServerName            string            // "": no server name is sent
	Certificate           *tls.Certificate  // nil: the identity's own
	NoCertificate         bool              // show none, also when asked for one
	ExpectKey             ed25519.PublicKey // nil: any key, and any kind of key, will do
	MaxIncomingStreams    int64             // bidirectional streams granted to the target at a time; 0: 1024, negative: none
	MaxIncomingUniStreams int64             // the same for unidirectional ones
	Config                func(*quic.Config)
	TLS                   func(*tls.Config) // may change anything at last
}

// Refusal tells how a connection was closed by one of the two sides.
type Refusal struct {
	TLSAlert    bool   // with a TLS alert
	Alert       uint8  // that alert
	Code        uint64 // the application's code, or QUIC's (0x100 plus the alert)
	Remote      bool   // by the target
	Application bool   // an application close; false: a transport close
	Reason      string
}

// DialError says why there is no connection.
type DialError struct {
	Stage   string              // "resolve" or "handshake"
	Err     error               // the cause
	Refusal *Refusal            // set when one side closed with a code
	Shown   []*x509.Certificate // what the target had shown by then
}

func (e *DialError) Error() string {
	if e.Stage == "resolve" {
		return fmt.Sprintf("resolve: %v", e.Err)
	}
	return fmt.Sprintf("handshake: %v; check that the target listens there and knows the probe's key", e.Err)
}

func (e *DialError) Unwrap() error { return e.Err }

// Dial makes a connection. It returns once the probe's side of the handshake is
// done: a target that refuses the probe's certificate says so only afterwards,
// see Conn.Done and Conn.Refusal. The target's certificate is not judged beyond
// ExpectKey: whatever it shows is taken and recorded. Errors are *DialError.
func (e *Endpoint) Dial(ctx context.Context, o DialOptions) (*Conn, error) {
	number := e.nextNumber()
	note := func(kind trace.Kind, direction trace.Direction, text string) {
		e.log.Add(trace.Event{Connection: number, Stream: trace.ConnectionLevel, Direction: direction, Kind: kind, Text: text})
	}
	note(trace.Dial, trace.Sent, o.Address)
	address, err := e.resolve(ctx, o.Address)
	if err != nil {
		note(trace.Handshake, trace.Local, "not begun: "+err.Error())
		return nil, &DialError{Stage: "resolve", Err: err}
	}

	var shown []*x509.Certificate // written in the handshake, read after it
	mismatch := false
	tlsConfig := e.dialTLS(o)
	tlsConfig.VerifyConnection = func(state tls.ConnectionState) error {
		shown = state.PeerCertificates
		if o.ExpectKey != nil && !o.ExpectKey.Equal(keyOf(shown)) {
			mismatch = true
			return ErrKeyMismatch
		}
		return nil
	}
	if o.TLS != nil {
		o.TLS(tlsConfig)
	}
	watch := newObserver(number, e.log, e.socket)
	config := e.quicConfig(o.MaxIncomingStreams, o.MaxIncomingUniStreams, o.Config, func(context.Context) *observer { return watch })

	q, err := e.transport.Dial(ctx, address, tlsConfig, config)
	if err != nil {
		failure := &DialError{Stage: "handshake", Err: err}
		direction := trace.Local
		if endsConnection(err) {
			closing := closingOf(err)
			failure.Refusal = closing.refusal()
			if closing.Remote {
				direction = trace.Received
			}
			note(trace.Handshake, direction, "failed: "+closing.String())
			failure.Shown = shown // the handshake's goroutine has ended
			if mismatch {
				failure.Err = fmt.Errorf("%w: %w", ErrKeyMismatch, err)
			}
		} else {
			note(trace.Handshake, direction, "given up: "+err.Error())
		}
		return nil, failure
	}
	c := newConn(e, q, watch)
	note(trace.Handshake, trace.Local, "completed: "+describe(c.State()))
	if !c.run() {
		return nil, &DialError{Stage: "handshake", Err: ErrClosed}
	}
	return c, nil
}

func (e *Endpoint) dialTLS(o DialOptions) *tls.Config {
	own := &e.ownCert
	if o.Certificate != nil {
		own = o.Certificate
	}
	if o.NoCertificate {
		own = &tls.Certificate{}
	}
	protocols := o.ALPN
	if protocols == nil {
		protocols = []string{Protocol}
	}
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		NextProtos:             protocols,
		ServerName:             o.ServerName,
		InsecureSkipVerify:     true, // recorded, not judged: see Dial
		SessionTicketsDisabled: true, // a resumed session would show no certificate
		KeyLogWriter:           e.keyLog,
		// By this hook the certificate is shown whatever authorities the target names.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own, nil },
	}
}

// resolve finds an address that the socket can reach.
func (e *Endpoint) resolve(ctx context.Context, address string) (*net.UDPAddr, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("target address %q: %w; write HOST:PORT", address, err)
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "udp", service)
	if err != nil {
		return nil, fmt.Errorf("target address %q: %w; write a port between 1 and 65535", address, err)
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("target address %q: %w; check the name", address, err)
	}
	local := e.socket.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	for _, ip := range found {
		ip = ip.Unmap()
		if local.IsUnspecified() || ip.Is4() == local.Is4() && (ip.IsLoopback() || !local.IsLoopback()) {
			return net.UDPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(port))), nil
		}
	}
	return nil, fmt.Errorf("target address %q: the probe's socket %s cannot reach it; open the endpoint on a wildcard address such as 0.0.0.0:0", address, local)
}

// keyOf returns the Ed25519 key of the first certificate, or nil.
func keyOf(chain []*x509.Certificate) ed25519.PublicKey {
	if len(chain) == 0 {
		return nil
	}
	key, _ := chain[0].PublicKey.(ed25519.PublicKey)
	return key
}

// describe says what a handshake settled.
func describe(state tls.ConnectionState) string {
	parts := []string{tls.VersionName(state.Version)}
	if state.NegotiatedProtocol != "" {
		parts = append(parts, "ALPN "+state.NegotiatedProtocol)
	} else {
		parts = append(parts, "no ALPN")
	}
	if key := keyOf(state.PeerCertificates); key != nil {
		parts = append(parts, "peer "+credential.AgentID(key))
	} else if len(state.PeerCertificates) > 0 {
		parts = append(parts, "peer with a "+state.PeerCertificates[0].PublicKeyAlgorithm.String()+" key")
	} else {
		parts = append(parts, "peer without a certificate")
	}
	return strings.Join(parts, ", ")
}
