package transport

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/impl/internal/identity"
)

func selfSigned(t *testing.T, key crypto.Signer) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// refused asserts that the listener closed with one of the codes, and that it
// still serves others.
func refused(t *testing.T, e *Endpoint, conf *tls.Config, good *identity.Identity, codes ...quic.TransportErrorCode) {
	t.Helper()
	ctx := testContext(t)
	r := newRemote(t)
	qc, err := r.dial(ctx, e, conf)
	if err == nil {
		// The listener judges after the dialer is through.
		s, openErr := qc.OpenStream()
		if openErr == nil {
			_, _ = s.Write([]byte("served?"))
			_ = s.Close()
			var got []byte
			if got, err = io.ReadAll(s); err == nil {
				t.Fatalf("served: %q", got)
			}
		} else {
			err = openErr
		}
	}
	var te *quic.TransportError
	if !errors.As(err, &te) || !te.Remote {
		t.Fatalf("got %v, want a transport error from the listener", err)
	}
	found := false
	for _, c := range codes {
		found = found || te.ErrorCode == c
	}
	if !found {
		t.Errorf("code 0x%x, want one of %x", uint64(te.ErrorCode), codes)
	}
	alive(t, ctx, r.mustDial(ctx, e, good))
}

func TestListenerRefuses(t *testing.T) {
	own, peer, stranger := newIdentity(t), newIdentity(t), newIdentity(t)
	e, _ := listen(t, own, pinned(peer), nil)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*tls.Config)) *tls.Config {
		conf := remoteTLS(t, peer)
		change(conf)
		return conf
	}
	const badCertificate, certificateRequired, noProtocol, decryptError = 0x12a, 0x174, 0x178, 0x133
	t.Run("no certificate", func(t *testing.T) {
		refused(t, e, remoteTLS(t, nil), peer, certificateRequired)
	})
	t.Run("unknown key", func(t *testing.T) {
		refused(t, e, remoteTLS(t, stranger), peer, badCertificate)
	})
	t.Run("ECDSA", func(t *testing.T) {
		refused(t, e, with(func(c *tls.Config) { c.Certificates[0] = selfSigned(t, ec) }), peer, badCertificate)
	})
	t.Run("RSA", func(t *testing.T) {
		refused(t, e, with(func(c *tls.Config) { c.Certificates[0] = selfSigned(t, rs) }), peer, badCertificate)
	})
	t.Run("unknown key, known certificate behind it", func(t *testing.T) {
		refused(t, e, with(func(c *tls.Config) {
			known := c.Certificates[0].Certificate[0]
			strange := remoteTLS(t, stranger).Certificates[0]
			strange.Certificate = append(strange.Certificate, known)
			c.Certificates[0] = strange
		}), peer, badCertificate)
	})
	t.Run("known certificate without its key", func(t *testing.T) {
		refused(t, e, with(func(c *tls.Config) {
			c.Certificates[0].PrivateKey = remoteTLS(t, stranger).Certificates[0].PrivateKey
		}), peer, decryptError)
	})
	t.Run("no ALPN", func(t *testing.T) {
		refused(t, e, with(func(c *tls.Config) { c.NextProtos = nil }), peer, noProtocol)
	})
	t.Run("another ALPN", func(t *testing.T) {
		refused(t, e, with(func(c *tls.Config) { c.NextProtos = []string{"axon/2"} }), peer, noProtocol)
	})
}

func TestNoResumption(t *testing.T) {
	ctx := testContext(t)
	own, peer := newIdentity(t), newIdentity(t)
	e, _ := listen(t, own, pinned(peer), nil)
	conf := remoteTLS(t, peer)
	conf.ServerName = "x"
	conf.ClientSessionCache = tls.NewLRUClientSessionCache(4)
	r := newRemote(t)
	for range 2 {
		qc, err := r.dial(ctx, e, conf)
		if err != nil {
			t.Fatal(err)
		}
		alive(t, ctx, qc)
		if qc.ConnectionState().TLS.DidResume {
			t.Error("a session was resumed")
		}
		_ = qc.CloseWithError(0, "")
	}
	if _, ok := conf.ClientSessionCache.Get("x"); ok {
		t.Error("the listener issued a session ticket")
	}
}

// hello accepts one connection and shows what the dialer presented.
func hello(t *testing.T, conf *tls.Config) (addr string, seen <-chan tls.ConnectionState) {
	t.Helper()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	tr := &quic.Transport{Conn: udp}
	l, err := tr.Listen(conf, nil)
	if err != nil {
		t.Fatal(err)
	}
	states := make(chan tls.ConnectionState, 1)
	done := make(chan struct{})
	ctx := testContext(t)
	go func() {
		defer close(done)
		for {
			qc, err := l.Accept(ctx)
			if err != nil {
				return
			}
			states <- qc.ConnectionState().TLS
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		_ = tr.Close()
		_ = udp.Close()
	})
	return udp.LocalAddr().String(), states
}

func TestDialerPresentsItself(t *testing.T) {
	ctx := testContext(t)
	own, peer := newIdentity(t), newIdentity(t)
	conf := remoteTLS(t, peer)
	conf.ClientAuth = tls.RequireAnyClientCert
	conf.ClientCAs = x509.NewCertPool()
	authority, err := x509.ParseCertificate(remoteTLS(t, newIdentity(t)).Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	conf.ClientCAs.AddCert(authority) // names an authority that signed nothing of ours
	addr, seen := hello(t, conf)
	e, _ := listen(t, own, pinned(peer), nil)
	if _, err := e.Dial(ctx, peer.ID, addr); err != nil {
		t.Fatal(err)
	}
	state := <-seen
	if state.ServerName != string(peer.ID) {
		t.Errorf("SNI %q, want %q", state.ServerName, peer.ID)
	}
	key, err := identity.LeafKey(state.PeerCertificates)
	if err != nil || !key.Equal(own.Public) {
		t.Errorf("presented %x, %v", key, err)
	}
}

func TestDialerRefuses(t *testing.T) {
	ctx := testContext(t)
	own, peer, other := newIdentity(t), newIdentity(t), newIdentity(t)
	e, _ := listen(t, own, pinned(peer, other), nil)
	conf := remoteTLS(t, other) // also pinned, but not the one meant
	conf.ClientAuth = tls.RequireAnyClientCert
	addr, _ := hello(t, conf)
	if _, err := e.Dial(ctx, peer.ID, addr); !errors.Is(err, identity.ErrUnexpectedAgent) {
		t.Errorf("another key: %v", err)
	}
	conf = remoteTLS(t, newIdentity(t)) // known to nobody: the peer itself is known all the same
	conf.ClientAuth = tls.RequireAnyClientCert
	addr, _ = hello(t, conf)
	if _, err := e.Dial(ctx, peer.ID, addr); !errors.Is(err, identity.ErrUnexpectedAgent) || errors.Is(err, ErrNotPinned) {
		t.Errorf("an unknown key: %v", err)
	}
	conf = remoteTLS(t, peer)
	conf.NextProtos = []string{"other"}
	addr, _ = hello(t, conf)
	if _, err := e.Dial(ctx, peer.ID, addr); err == nil {
		t.Error("another ALPN: no error")
	}
	if _, err := e.Dial(ctx, newIdentity(t).ID, addr); !errors.Is(err, ErrNotPinned) {
		t.Errorf("not pinned: %v", err)
	}
	if e.Connected(peer.ID) {
		t.Error("counts as connected")
	}
}
