package probe

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/axonproto/axon/harness/credential"
)

const (
	alertBadCertificate      = 42
	alertDecryptError        = 51
	alertCertificateRequired = 116
	alertNoProtocol          = 120
)

// refusal waits for the listener to refuse a connection that Dial returned.
func refusal(t *testing.T, c *Conn) *Refusal {
	t.Helper()
	done(t, c)
	if c.Refusal() == nil {
		t.Fatalf("no refusal: %v", c.End())
	}
	return c.Refusal()
}

func failed(t *testing.T, l *Listener) HandshakeAttempt {
	t.Helper()
	list, err := l.AwaitAttempts(within(t), func(list []HandshakeAttempt) bool { return len(list) == 1 && list[0].Ended })
	must(t, err)
	if list[0].Completed || list[0].Err == nil {
		t.Errorf("%+v", list[0])
	}
	return list[0]
}

func TestNoCertificate(t *testing.T) {
	e, l := listen(t, ListenOptions{})
	r := refusal(t, dial(t, e, DialOptions{NoCertificate: true, ServerName: "ed25519.00"}))
	if !r.TLSAlert || !r.Remote || r.Application || r.Alert != alertCertificateRequired || r.Code != 0x174 {
		t.Errorf("%+v", r)
	}
	if a := failed(t, l); a.ServerName != "ed25519.00" || len(a.Certificates) != 0 || !slices.Equal(a.ALPN, []string{Protocol}) {
		t.Errorf("%+v", a)
	}
}

func TestVerifyPeerRefuses(t *testing.T) {
	e, l := listen(t, ListenOptions{VerifyPeer: func(*x509.Certificate) error { return errors.New("not you") }})
	c := dial(t, e, DialOptions{})
	if r := refusal(t, c); !r.TLSAlert || !r.Remote || r.Alert != alertBadCertificate {
		t.Errorf("%+v", r)
	}
	if a := failed(t, l); len(a.Certificates) != 1 || !c.endpoint.identity.Public().Equal(a.Certificates[0].PublicKey) {
		t.Errorf("%+v", a)
	}
}

func TestProtocolTokens(t *testing.T) {
	for name, offered := range map[string][]string{"wrong": {"axon/2"}, "none": {}} {
		t.Run(name, func(t *testing.T) {
			e, l := listen(t, ListenOptions{})
			_, err := newEndpoint(t).Dial(within(t), DialOptions{Address: e.Addr().String(), ALPN: offered})
			var failure *DialError
			if !errors.As(err, &failure) || failure.Stage != "handshake" || failure.Refusal == nil {
				t.Fatalf("%v", err)
			}
			if r := failure.Refusal; !r.TLSAlert || !r.Remote || r.Code != 0x178 || r.Alert != alertNoProtocol {
				t.Errorf("%+v", r)
			}
			if a := failed(t, l); !slices.Equal(a.ALPN, offered) {
				t.Errorf("%q", a.ALPN)
			}
		})
	}
	near, _ := pair(t, ListenOptions{ALPN: []string{}}, DialOptions{ALPN: []string{}})
	if got := near.State().NegotiatedProtocol; got != "" {
		t.Errorf("negotiated %q", got)
	}
}

func TestStolenCertificate(t *testing.T) {
	e, l := listen(t, ListenOptions{})
	id, err := credential.New()
	must(t, err)
	stolen, err := id.StolenCertificate()
	must(t, err)
	r := refusal(t, dial(t, e, DialOptions{Certificate: &stolen}))
	if !r.TLSAlert || !r.Remote || r.Alert != alertDecryptError {
		t.Errorf("%+v", r)
	}
	failed(t, l)
}

func TestStolenCertificateOfTheListener(t *testing.T) {
	id, err := credential.New()
	must(t, err)
	stolen, err := id.StolenCertificate()
	must(t, err)
	e, _ := listen(t, ListenOptions{Certificate: &stolen})
	_, err = newEndpoint(t).Dial(within(t), DialOptions{Address: e.Addr().String()})
	var failure *DialError
	if !errors.As(err, &failure) || failure.Refusal == nil || failure.Refusal.Remote || failure.Refusal.Alert != alertDecryptError {
		t.Errorf("%v", err)
	}
}

func TestExpectKey(t *testing.T) {
	e, l := listen(t, ListenOptions{})
	other, err := credential.New()
	must(t, err)
	near := newEndpoint(t)
	_, err = near.Dial(within(t), DialOptions{Address: e.Addr().String(), ExpectKey: other.Public()})
	var failure *DialError
	if !errors.Is(err, ErrKeyMismatch) || !errors.As(err, &failure) || !keyOf(failure.Shown).Equal(e.identity.Public()) {
		t.Errorf("%v", err)
	}
	failed(t, l)
	c, err := near.Dial(within(t), DialOptions{Address: e.Addr().String(), ExpectKey: e.identity.Public()})
	must(t, err)
	if !c.PeerKey().Equal(e.identity.Public()) || c.State().NegotiatedProtocol != Protocol || c.Number() != 2 {
		t.Errorf("%x %d", c.PeerKey(), c.Number())
	}
}

func TestAnyCertificateIsTaken(t *testing.T) {
	ecdsa, err := credential.ECDSACertificate(credential.CertOptions{})
	must(t, err)
	rsa, err := credential.RSACertificate(credential.CertOptions{})
	must(t, err)
	id, err := credential.New()
	must(t, err)
	expired, err := id.Certificate(credential.CertOptions{NotAfter: time.Now().Add(-time.Minute)})
	must(t, err)
	for name, certificate := range map[string]tls.Certificate{"ecdsa": ecdsa, "rsa": rsa, "expired": expired} {
		near, far := pair(t, ListenOptions{Certificate: &certificate}, DialOptions{Certificate: &certificate})
		for _, c := range []*Conn{near, far} {
			if !c.PeerCertificate().Equal(certificate.Leaf) {
				t.Errorf("%s: another certificate", name)
			}
			if isKey := c.PeerKey() != nil; isKey != (name == "expired") {
				t.Errorf("%s: key %x", name, c.PeerKey())
			}
		}
	}
}

func TestNamedAuthoritiesDoNotSilenceTheDialer(t *testing.T) {
	authority, err := credential.ECDSACertificate(credential.CertOptions{CommonName: "somebody else"})
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(authority.Leaf)
	near, far := pair(t, ListenOptions{ClientCAs: pool}, DialOptions{})
	if !far.PeerKey().Equal(near.endpoint.identity.Public()) {
		t.Error("the certificate was not shown")
	}
}

func TestDialErrors(t *testing.T) {
	near := newEndpoint(t)
	for _, address := range []string{"", "nonsense", "127.0.0.1:http-ish", "192.0.2.1:7100", "[::1]:7100"} {
		_, err := near.Dial(within(t), DialOptions{Address: address})
		var failure *DialError
		if !errors.As(err, &failure) || failure.Stage != "resolve" {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := New(Options{}); err == nil {
		t.Error("an endpoint without identity was made")
	}
	_, l := listen(t, ListenOptions{})
	if _, err := l.endpoint.Listen(ListenOptions{}); err == nil {
		t.Error("a second listener was made")
	}
	must(t, l.Close())
	if _, err := l.Accept(within(t)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	again, err := l.endpoint.Listen(ListenOptions{})
	must(t, err)
	c := dial(t, again.endpoint, DialOptions{})
	if _, err := again.Accept(within(t)); err != nil {
		t.Fatal(err)
	}
	must(t, c.Close(0, ""))
}

func TestBothDirectionsOnOneSocket(t *testing.T) {
	one, l1 := listen(t, ListenOptions{})
	two, l2 := listen(t, ListenOptions{})
	a, err := one.Dial(within(t), DialOptions{Address: two.Addr().String()})
	must(t, err)
	b, err := two.Dial(within(t), DialOptions{Address: one.Addr().String()})
	must(t, err)
	for _, l := range []*Listener{l1, l2} {
		c, err := l.Accept(within(t))
		must(t, err)
		echo(c)
	}
	for _, c := range []*Conn{a, b} {
		s := bidi(t, c)
		must(t, s.Send(within(t), []byte("x")))
		if end := ending(t, s); string(end.Data) != "x" {
			t.Errorf("%+v", end)
		}
	}
}

// A dialer that goes silent in mid-handshake must not hold up Close, nor other dialers.
func TestStalledHandshake(t *testing.T) {
	e, l := listen(t, ListenOptions{})
	near := newEndpoint(t)
	stalled := make(chan struct{})
	release := make(chan struct{})
	dialed := make(chan error, 1)
	go func() {
		_, err := near.Dial(t.Context(), DialOptions{Address: e.Addr().String(), TLS: func(c *tls.Config) {
			c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				close(stalled)
				<-release
				return nil, errors.New("never mind")
			}
		}})
		dialed <- err
	}()
	<-stalled
	c := dial(t, e, DialOptions{})
	if _, err := l.Accept(within(t)); err != nil {
		t.Fatal(err)
	}
	must(t, e.Close())
	done(t, c)
	close(release)
	if err := <-dialed; err == nil {
		t.Error("the stalled dial went through")
	}
}
