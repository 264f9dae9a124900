package bench

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/quic-go/quic-go"

	"github.com/axonproto/axon/harness/credential"
)

// rawReply has the size of a default error.
const rawReply = 251

// ServeRaw is the bare peer: it reads each stream to its end and answers a
// bidirectional one by a fixed text. It judges nobody but wants a certificate, as AXON
// does. Ready is called with its address; it ends with ctx.
func ServeRaw(ctx context.Context, id credential.Identity, ready func(address string)) error {
	certificate, err := id.Certificate(credential.CertOptions{})
	if err != nil {
		return err
	}
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	transport := &quic.Transport{Conn: socket}
	l, err := transport.Listen(&tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{alpn}, MinVersion: tls.VersionTLS13,
		ClientAuth: tls.RequireAnyClientCert,
	}, &quic.Config{MaxIncomingStreams: 1024, MaxIncomingUniStreams: 1024})
	if err != nil {
		_ = socket.Close()
		return err
	}
	ready(socket.LocalAddr().String())
	stop := context.AfterFunc(ctx, func() { _ = l.Close(); _ = transport.Close() })
	var work sync.WaitGroup
	for {
		conn, err := l.Accept(ctx)
		if err != nil {
			break
		}
		work.Go(func() { rawBidi(conn, &work) })
		work.Go(func() { rawUni(conn, &work) })
	}
	stop()
	_ = l.Close()
	_ = transport.Close()
	work.Wait()
	return socket.Close()
}

func rawBidi(conn *quic.Conn, work *sync.WaitGroup) {
	reply := []byte(strings.Repeat("r", rawReply))
	for {
		s, err := conn.AcceptStream(conn.Context())
		if err != nil {
			return
		}
		work.Go(func() {
			if _, err := io.Copy(io.Discard, s); err == nil {
				_, _ = s.Write(reply)
			}
			_ = s.Close()
		})
	}
}

func rawUni(conn *quic.Conn, work *sync.WaitGroup) {
	for {
		s, err := conn.AcceptUniStream(conn.Context())
		if err != nil {
			return
		}
		work.Go(func() { _, _ = io.Copy(io.Discard, s) })
	}
}
