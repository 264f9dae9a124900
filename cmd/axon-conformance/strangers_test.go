package main

import (
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/axonproto/axon/conformance/report"
	"github.com/axonproto/axon/harness/credential"
	"github.com/axonproto/axon/harness/probe"
	"github.com/axonproto/axon/harness/trace"
)

// With something else behind the address, or nothing, not one check may pass: no
// two passes rest on the same thing being absent.

func TestNothingListens(t *testing.T) {
	t.Parallel()
	socket := listen(t)
	address := socket.LocalAddr().String()
	if err := socket.Close(); err != nil {
		t.Fatal(err)
	}
	p, _ := runAgainst(t, address)
	if !strings.Contains(p.errOut.String(), "COULD NOT RUN") {
		t.Errorf("no reason is given: %s", p.saw())
	}
}

func listen(t *testing.T) net.PacketConn {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return socket
}

func TestUDPEcho(t *testing.T) {
	t.Parallel()
	socket := listen(t)
	var done sync.WaitGroup
	done.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, from, err := socket.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = socket.WriteTo(buffer[:n], from)
		}
	})
	defer func() {
		_ = socket.Close()
		done.Wait()
	}()
	runAgainst(t, socket.LocalAddr().String())
}

func TestQUICOfAnotherProtocol(t *testing.T) {
	t.Parallel()
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := probe.New(probe.Options{Identity: id, Log: trace.New(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer endpoint.Close()
	listener, err := endpoint.Listen(probe.ListenOptions{ALPN: []string{"h3"}})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	p, _ := runAgainst(t, endpoint.Addr().String())
	if !strings.Contains(p.errOut.String(), "axon/1") {
		t.Errorf("the reason does not name the protocol: %s", p.saw())
	}
}

// TestTargetThatDoesNotKnowTheSuite: the message names the key and the place.
func TestTargetThatDoesNotKnowTheSuite(t *testing.T) {
	t.Parallel()
	id, err := credential.New()
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := probe.New(probe.Options{Identity: id, Log: trace.New(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer endpoint.Close()
	listener, err := endpoint.Listen(probe.ListenOptions{VerifyPeer: refuse})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	p, r := runAgainst(t, endpoint.Addr().String())
	who := newProgram(t, "identity", "--json")
	who.Env = p.Env
	if code := who.code(t); code != 0 {
		t.Fatalf("exit %d: %s", code, who.saw())
	}
	key := strings.Split(strings.Split(who.out.String(), `"public_key": "`)[1], `"`)[0]
	if !strings.Contains(p.errOut.String(), key) || !strings.Contains(p.errOut.String(), "axon-conformance identity") {
		t.Errorf("the message does not name the key %s or where it is to be found: %s", key, p.saw())
	}
	if r.Target.KeySource != report.KeyLearned {
		t.Errorf("key source %q", r.Target.KeySource)
	}
}

func refuse(*x509.Certificate) error { return errors.New("this key is not admitted here") }
