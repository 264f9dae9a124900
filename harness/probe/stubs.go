package probe

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"time"

	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/trace"
	"github.com/quic-go/quic-go"
)

var ErrKeyMismatch = errors.New("the target showed another key than the expected one")
var errStub = errors.New("not built yet")

type Options struct {
	Identity credential.Identity
	Log      *trace.Log
	Listen   string
}
type Endpoint struct{}

func New(o Options) (*Endpoint, error) { return nil, errStub }
func (e *Endpoint) Addr() net.Addr     { return nil }
func (e *Endpoint) Close() error       { return nil }

type DialOptions struct {
	Address                                   string
	ALPN                                      []string
	ServerName                                string
	Certificate                               *tls.Certificate
	NoCertificate                             bool
	ExpectKey                                 ed25519.PublicKey
	MaxIncomingStreams, MaxIncomingUniStreams int64
	Config                                    func(*quic.Config)
	TLS                                       func(*tls.Config)
}

func (e *Endpoint) Dial(ctx context.Context, o DialOptions) (*Conn, error) { return nil, errStub }

type Refusal struct {
	TLSAlert    bool
	Alert       uint8
	Code        uint64
	Remote      bool
	Application bool
	Reason      string
}
type DialError struct {
	Stage   string
	Err     error
	Refusal *Refusal
}

func (e *DialError) Error() string { return e.Stage + ": " + e.Err.Error() }
func (e *DialError) Unwrap() error { return e.Err }

type ListenOptions struct {
	ALPN                                      []string
	Certificate                               *tls.Certificate
	ClientAuth                                tls.ClientAuthType
	ClientCAs                                 *x509.CertPool
	VerifyPeer                                func(*x509.Certificate) error
	MaxIncomingStreams, MaxIncomingUniStreams int64
	Config                                    func(*quic.Config)
	TLS                                       func(*tls.Config)
}
type HandshakeAttempt struct {
	Remote       string
	ServerName   string
	ALPN         []string
	Certificates []*x509.Certificate
	Completed    bool
	Connection   int
	Err          error
}
type Listener struct{}

func (e *Endpoint) Listen(o ListenOptions) (*Listener, error) { return nil, errStub }
func (l *Listener) Accept(ctx context.Context) (*Conn, error) { return nil, errStub }
func (l *Listener) Close() error                              { return nil }
func (l *Listener) Attempts() []HandshakeAttempt              { return nil }

type Conn struct{}

func (c *Conn) Number() int                                                 { return 0 }
func (c *Conn) State() tls.ConnectionState                                  { return tls.ConnectionState{} }
func (c *Conn) PeerCertificate() *x509.Certificate                          { return nil }
func (c *Conn) PeerKey() ed25519.PublicKey                                  { return nil }
func (c *Conn) OpenBidi(ctx context.Context) (*Stream, error)               { return nil, errStub }
func (c *Conn) OpenUni(ctx context.Context) (*Stream, error)                { return nil, errStub }
func (c *Conn) Incoming() []*Stream                                         { return nil }
func (c *Conn) AwaitIncoming(ctx context.Context, n int) ([]*Stream, error) { return nil, errStub }
func (c *Conn) OnIncoming(handle func(*Stream))                             {}
func (c *Conn) Done() <-chan struct{}                                       { return nil }
func (c *Conn) End() *Closing                                               { return nil }
func (c *Conn) Refusal() *Refusal                                           { return nil }
func (c *Conn) Close(code uint64, reason string) error                      { return nil }
func (c *Conn) Vanish()                                                     {}

type Closing struct {
	Remote, Application, Transport, TLSAlert, IdleTimeout, StatelessReset bool
	Code                                                                  uint64
	Reason                                                                string
}

type Stream struct{}

func (s *Stream) ID() int64                                                 { return 0 }
func (s *Stream) Bidi() bool                                                { return false }
func (s *Stream) Conn() *Conn                                               { return nil }
func (s *Stream) Write(ctx context.Context, b []byte) error                 { return errStub }
func (s *Stream) WritePieces(ctx context.Context, b []byte, size int) error { return errStub }
func (s *Stream) Finish() error                                             { return errStub }
func (s *Stream) Reset(code uint64)                                         {}
func (s *Stream) StopReading(code uint64)                                   {}
func (s *Stream) Send(ctx context.Context, b []byte) error                  { return errStub }
func (s *Stream) Wait(ctx context.Context) (Ending, error)                  { return Ending{}, errStub }
func (s *Stream) Ended() (Ending, bool)                                     { return Ending{}, false }
func (s *Stream) Received() []byte                                          { return nil }
func (s *Stream) AwaitBytes(ctx context.Context, n int) ([]byte, error)     { return nil, errStub }
func (s *Stream) StopCode() (uint64, bool)                                  { return 0, false }
func (s *Stream) Opened() time.Time                                         { return time.Time{} }

type How string

const (
	Finished         How = "finished"
	WasReset         How = "reset"
	Stopped          How = "stopped"
	Abandoned        How = "abandoned"
	ConnectionClosed How = "connection-closed"
	TooLong          How = "too-long"
)

type Ending struct {
	How     How
	Data    []byte
	Code    uint64
	Closing *Closing
}
type StreamError struct {
	Stopped bool
	Code    uint64
	Closing *Closing
	Err     error
}

func (e *StreamError) Error() string { return "" }
func (e *StreamError) Unwrap() error { return e.Err }
