// Command minimal-peer is an AXON peer in one file, written by hand on quic-go and
// the standard library alone, that is also its own driver for axon-conformance:
//
//	axon-conformance run --driver 'go run ./conformance/examples/minimal-peer'
//
// It keeps nothing on disk: each start makes a new key. It is an example to read
// and to copy from, and a second implementation for the suite to be tried on. It
// serves AXON Message Types, edition 2026-02-16.
//
// The file has two halves. The peer: identity, envelopes, connections, what comes
// in, what goes out. The driver: docs/driver.md on standard input and output, or on
// a socket with --driver-listen.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/quic-go/quic-go"
)

const (
	version       = "1.0.0"
	protocol      = "axon/1"
	maxEnvelope   = 65536
	streamTimeout = 10 * time.Second // a stream that has not ended by then is given up
	defaultWait   = 30 * time.Second // for a reply
)

// ---------------------------------------------------------------------------
// Identity

// agentID derives the Agent ID of a key.
func agentID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return "ed25519." + hex.EncodeToString(sum[:16])
}

func newCertificate(key ed25519.PrivateKey) (tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// peerOf is the Agent ID of whoever is on the other side.
func peerOf(s tls.ConnectionState) (string, error) {
	if len(s.PeerCertificates) == 0 {
		return "", errors.New("it shows no certificate")
	}
	key, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok {
		return "", errors.New("its key is not of Ed25519")
	}
	return agentID(key), nil
}

// ---------------------------------------------------------------------------
// Envelopes

type envelope struct {
	id, kind string
	payload  json.RawMessage
	ref      string // empty: none
}

var uuid4 = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$`)

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// bytes writes the envelope; the payload goes out as the bytes that came in.
func (e envelope) bytes() []byte {
	text := `{"id":` + quote(e.id) + `,"kind":` + quote(e.kind) + `,"payload":` + string(e.payload)
	if e.ref != "" {
		text += `,"ref":` + quote(e.ref)
	}
	return []byte(text + "}")
}

// decode reads an envelope. Member names match exactly, which encoding/json does not
// do by itself, so the object is walked.
func decode(body []byte) (envelope, error) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return envelope{}, errors.New("not JSON in UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if t, _ := d.Token(); t != json.Delim('{') {
		return envelope{}, errors.New("not an object")
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		name, _ := d.Token()
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return envelope{}, err
		}
		if _, twice := members[name.(string)]; twice {
			return envelope{}, fmt.Errorf("%s stands twice", name)
		}
		members[name.(string)] = value
	}
	var e envelope
	for name, into := range map[string]*string{"id": &e.id, "kind": &e.kind, "ref": &e.ref} {
		value := members[name]
		if name == "ref" && (value == nil || string(value) == "null") {
			continue
		}
		if len(value) == 0 || value[0] != '"' {
			return envelope{}, fmt.Errorf("%s is no string", name)
		}
		if err := json.Unmarshal(value, into); err != nil {
			return envelope{}, err
		}
	}
	if !uuid4.MatchString(e.id) {
		return envelope{}, errors.New("id is no version 4 UUID")
	}
	if e.payload = members["payload"]; len(e.payload) == 0 || e.payload[0] != '{' {
		return envelope{}, errors.New("payload is no object")
	}
	return e, nil
}

// ---------------------------------------------------------------------------
// The peer

type peer struct {
	key  ed25519.PrivateKey
	id   string
	cert tls.Certificate
	host string // to listen on; the port is kept over restarts

	// delivered gets what arrives for local clients.
	delivered func(from string, e envelope)

	mu        sync.Mutex // guards what follows
	transport *quic.Transport
	listener  *quic.Listener
	addresses map[string]string     // of every peer that is admitted, by Agent ID
	conns     map[string]*quic.Conn // by Agent ID
	handler   *handler              // nil: none is registered
}

// handler is the application: it is shown requests and says later what becomes of
// each.
type handler struct {
	show func(requestID, from string, e envelope)
	gone chan struct{} // closed when it is taken away

	mu   sync.Mutex // guards what follows
	next int
	open map[string]chan answer
}

// answer is what a handler makes of a request.
type answer struct {
	kind    string // response, error, or empty to decline
	payload json.RawMessage
}

func newPeer(host string) (*peer, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	p := &peer{key: key, id: agentID(key.Public().(ed25519.PublicKey)), host: host,
		addresses: map[string]string{}, conns: map[string]*quic.Conn{}, delivered: func(string, envelope) {}}
	if p.cert, err = newCertificate(key); err != nil {
		return nil, err
	}
	return p, p.start()
}

func (p *peer) publicKey() string {
	return base64.StdEncoding.EncodeToString(p.key.Public().(ed25519.PublicKey))
}

var quicConfig = &quic.Config{
	MaxIncomingStreams: 1024, MaxIncomingUniStreams: 1024,
	KeepAlivePeriod: 15 * time.Second, MaxIdleTimeout: 60 * time.Second,
}

// start listens, and takes connections until stop.
func (p *peer) start() error {
	socket, err := net.ListenPacket("udp", p.host)
	if err != nil {
		return err
	}
	transport := &quic.Transport{Conn: socket}
	listener, err := transport.Listen(&tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{protocol},
		Certificates: []tls.Certificate{p.cert}, SessionTicketsDisabled: true,
		// The key is what counts, so no authority is asked; TLS has checked that
		// the peer holds it.
		ClientAuth: tls.RequireAnyClientCert,
		VerifyConnection: func(s tls.ConnectionState) error {
			from, err := peerOf(s)
			if err == nil && !p.admits(from) {
				err = errors.New("its key is not admitted here")
			}
			return err
		},
	}, quicConfig)
	if err != nil {
		_ = socket.Close()
		return err
	}
	p.mu.Lock()
	p.transport, p.listener, p.host = transport, listener, socket.LocalAddr().String()
	p.mu.Unlock()
	go func() {
		for {
			c, err := listener.Accept(context.Background())
			if err != nil {
				return
			}
			if from, err := peerOf(c.ConnectionState().TLS); err == nil {
				p.keep(from, c)
			}
		}
	}()
	return nil
}

func (p *peer) stop() {
	p.mu.Lock()
	conns, listener, transport := p.conns, p.listener, p.transport
	p.conns = map[string]*quic.Conn{}
	p.mu.Unlock()
	for _, c := range conns {
		_ = c.CloseWithError(0, "shutting down")
	}
	_ = listener.Close()
	_ = transport.Close()
	_ = transport.Conn.Close()
}

func (p *peer) admits(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.addresses[id]
	return known
}

// keep serves a connection, in both directions, whoever dialled it.
func (p *peer) keep(from string, c *quic.Conn) {
	p.mu.Lock()
	p.conns[from] = c
	p.mu.Unlock()
	go func() {
		for {
			s, err := c.AcceptStream(context.Background())
			if err != nil {
				return
			}
			go p.takeRequest(from, s)
		}
	}()
	go func() {
		for {
			s, err := c.AcceptUniStream(context.Background())
			if err != nil {
				return
			}
			go p.takeMessage(from, s)
		}
	}()
}

// readAll reads a body to its FIN.
func readAll(r interface {
	io.Reader
	SetReadDeadline(time.Time) error
	CancelRead(quic.StreamErrorCode)
}, deadline time.Time) ([]byte, error) {
	_ = r.SetReadDeadline(deadline)
	body, err := io.ReadAll(io.LimitReader(r, maxEnvelope+1))
	if err == nil && len(body) > maxEnvelope {
		err = fmt.Errorf("more than %d bytes", maxEnvelope)
	}
	if err != nil {
		r.CancelRead(1)
	}
	return body, err
}

// takeMessage handles a stream on which nothing can be answered.
func (p *peer) takeMessage(from string, s *quic.ReceiveStream) {
	body, err := readAll(s, time.Now().Add(streamTimeout))
	if err != nil {
		return
	}
	e, err := decode(body)
	if err != nil || e.kind == "request" || e.kind == "response" {
		return
	}
	p.delivered(from, e)
}

// takeRequest handles a stream that is owed one reply.
func (p *peer) takeRequest(from string, s *quic.Stream) {
	body, err := readAll(s, time.Now().Add(streamTimeout))
	var e envelope
	if err == nil {
		e, err = decode(body)
	}
	if err != nil {
		s.CancelWrite(1)
		return
	}
	reply := envelope{id: newID(), kind: "error", ref: e.id}
	switch e.kind {
	case "message", "response", "error":
		reply.payload = failure("invalid_envelope", "a "+e.kind+" cannot open a bidirectional stream; send it on a unidirectional one", false)
	case "request":
		a := p.ask(s.Context(), from, e)
		if reply.kind, reply.payload = a.kind, a.payload; a.kind != "" {
			break
		}
		fallthrough
	default:
		reply.kind = "error"
		reply.payload = failure("unhandled", "no application handler registered for request '"+e.id+"'", false)
	}
	if b := reply.bytes(); len(b) > maxEnvelope {
		reply.kind, reply.payload = "error", failure("message_too_large", "the reply would exceed 65536 bytes; ask for less", false)
	}
	if _, err := s.Write(reply.bytes()); err == nil {
		_ = s.Close()
	}
}

func failure(code, message string, retryable bool) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"code":%s,"message":%s,"retryable":%t}`, quote(code), quote(message), retryable))
}

// ask gives a request to the handler and waits for what it makes of it. The zero
// answer stands for nobody being there.
func (p *peer) ask(ctx context.Context, from string, e envelope) answer {
	p.mu.Lock()
	h := p.handler
	p.mu.Unlock()
	if h == nil {
		return answer{}
	}
	h.mu.Lock()
	h.next++
	id := fmt.Sprintf("request-%d", h.next)
	answered := make(chan answer, 1)
	h.open[id] = answered
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.open, id)
		h.mu.Unlock()
	}()
	h.show(id, from, e)
	select {
	case a := <-answered:
		return a
	case <-h.gone:
		return answer{}
	case <-ctx.Done(): // the requester gave up
		return answer{}
	case <-time.After(defaultWait):
		return answer{kind: "error", payload: failure("timeout", "the application did not answer in time; try again later", true)}
	}
}

// answer settles an open request, once.
func (h *handler) answer(id string, a answer) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	answered, ok := h.open[id]
	if !ok {
		return refusal{"request_not_found", "no open request has the id " + id}
	}
	delete(h.open, id)
	answered <- a
	return nil
}

// refusal is an error with a code that the caller is told.
type refusal struct{ code, message string }

func (r refusal) Error() string { return r.message }

// connection finds or makes one to a peer.
func (p *peer) connection(ctx context.Context, to string) (*quic.Conn, error) {
	p.mu.Lock()
	address, known := p.addresses[to]
	c, transport := p.conns[to], p.transport
	p.mu.Unlock()
	switch {
	case c != nil && c.Context().Err() == nil:
		return c, nil
	case !known:
		return nil, refusal{"peer_not_found", "no peer " + to + " is known; enrol it first"}
	case address == "":
		return nil, refusal{"peer_unreachable", "no address of " + to + " is known, and it is not connected"}
	}
	resolved, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, refusal{"peer_unreachable", err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err = transport.Dial(ctx, resolved, &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{protocol}, ServerName: to,
		// Names and dates of the certificate do not count; its key does.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if met, err := peerOf(s); err != nil || met != to {
				return fmt.Errorf("the one at %s is not %s", address, to)
			}
			return nil
		},
		// Certificates alone would not be shown to a listener that names
		// authorities.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &p.cert, nil },
	}, quicConfig)
	if err != nil {
		return nil, refusal{"peer_unreachable", "dial " + address + ": " + err.Error()}
	}
	p.keep(to, c)
	return c, nil
}

// send sends a message, or a request whose reply it waits for.
func (p *peer) send(ctx context.Context, to string, e envelope) (reply []byte, err error) {
	body := e.bytes()
	if len(body) > maxEnvelope {
		return nil, refusal{"message_too_large", fmt.Sprintf("the envelope has %d bytes, and %d are allowed; send less", len(body), maxEnvelope)}
	}
	c, err := p.connection(ctx, to)
	if err != nil {
		return nil, err
	}
	lost := func(err error) error {
		if ctx.Err() != nil {
			return refusal{"timeout", "no reply came in time; try again, or wait longer"}
		}
		return refusal{"peer_unreachable", err.Error()}
	}
	if e.kind == "message" {
		s, err := c.OpenUniStreamSync(ctx)
		if err != nil {
			return nil, lost(err)
		}
		if _, err := s.Write(body); err != nil {
			return nil, lost(err)
		}
		return nil, s.Close()
	}
	s, err := c.OpenStreamSync(ctx)
	if err != nil {
		return nil, lost(err)
	}
	if _, err := s.Write(body); err != nil {
		return nil, lost(err)
	}
	_ = s.Close()
	deadline, _ := ctx.Deadline()
	reply, err = readAll(s, deadline)
	if err != nil {
		return nil, lost(err)
	}
	got, err := decode(reply)
	if err != nil {
		return nil, refusal{"bad_reply", "the reply is no envelope: " + err.Error()}
	}
	if got.kind != "response" && got.kind != "error" || !strings.EqualFold(got.ref, e.id) {
		return nil, refusal{"bad_reply", "what came back is not the reply to this request"}
	}
	return reply, nil
}

// ---------------------------------------------------------------------------
// The driver

type driver struct {
	peer *peer
	mu   sync.Mutex // guards out
	out  io.Writer
}

// command is a line of the suite.
type command struct {
	Command   string          `json:"command"`
	Number    int             `json:"number"`
	PublicKey string          `json:"public_key"`
	Address   string          `json:"address"`
	Kind      string          `json:"kind"`
	To        string          `json:"to"`
	Payload   json.RawMessage `json:"payload"`
	Ref       string          `json:"ref"`
	Timeout   int             `json:"timeout_secs"`
	Mode      string          `json:"mode"`
	RequestID string          `json:"request_id"`
}

// write writes one line. The members are raw JSON.
func (d *driver) write(members string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := io.WriteString(d.out, "{"+members+"}\n"); err != nil {
		log.Print("the suite has gone: ", err)
	}
}

// run serves the suite until it closes its side. Commands run side by side, since
// the answer to a request may take its time.
func (d *driver) run(in io.Reader) error {
	defer d.do(command{Command: "unserve"}) //nolint:errcheck // it cannot fail
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	d.peer.delivered = func(from string, e envelope) {
		d.write(`"event":"inbound","from":` + quote(from) + `,"to":` + quote(d.peer.id) + `,"envelope":` + string(e.bytes()))
	}
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("a line of the suite: %w", err)
		}
		go func() {
			members, err := d.do(c)
			if err != nil {
				r, ok := errors.AsType[refusal](err)
				if !ok {
					r = refusal{"driver_failed", err.Error()}
				}
				members = `,"error":{"code":` + quote(r.code) + `,"message":` + quote(r.message) + `}`
			}
			d.write(`"answer":` + quote(c.Command) + fmt.Sprintf(`,"number":%d`, c.Number) + members)
			if c.Command == "stop" {
				d.peer.stop()
				os.Exit(0)
			}
		}()
	}
	return lines.Err()
}

// do carries out a command and returns the members of its answer, each after a comma.
func (d *driver) do(c command) (members string, err error) {
	switch p := d.peer; c.Command {
	case "hello":
		return `,"version":1,"capabilities":["enroll","drive","handle","observe","restart"]` +
			`,"implementation":{"name":"minimal-peer","version":` + quote(version) + `}` +
			`,"target":{"address":` + quote(p.host) + `,"public_key":` + quote(p.publicKey()) + `}`, nil
	case "enroll":
		key, err := base64.StdEncoding.DecodeString(c.PublicKey)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return "", fmt.Errorf("%q is no public key", c.PublicKey)
		}
		p.mu.Lock()
		p.addresses[agentID(key)] = c.Address
		p.mu.Unlock()
		return "", nil
	case "send":
		return d.send(c)
	case "serve":
		return "", d.serve(c)
	case "unserve":
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.handler != nil {
			close(p.handler.gone)
			p.handler = nil
		}
		return "", nil
	case "restart":
		p.stop()
		return "", p.start()
	case "stop":
		return "", nil
	}
	return "", refusal{"unsupported", "there is no command " + c.Command}
}

func (d *driver) send(c command) (string, error) {
	wait := defaultWait
	if c.Timeout > 0 {
		wait = time.Duration(c.Timeout) * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	e := envelope{id: newID(), kind: c.Kind, payload: c.Payload, ref: c.Ref}
	reply, err := d.peer.send(ctx, c.To, e)
	if err != nil {
		return "", err
	}
	members := `,"id":` + quote(e.id)
	if reply != nil {
		// A line has no line ends inside, and an envelope may have.
		var line bytes.Buffer
		if err := json.Compact(&line, reply); err != nil {
			return "", err
		}
		members += `,"response":` + line.String()
	}
	return members, nil
}

// serve registers the handler, or tells it what to do with one request.
func (d *driver) serve(c command) error {
	p := d.peer
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.RequestID == "" {
		if p.handler != nil {
			return refusal{"handler_busy", "a handler is registered already"}
		}
		p.handler = &handler{gone: make(chan struct{}), open: map[string]chan answer{}, show: func(id, from string, e envelope) {
			d.write(`"event":"request","request_id":` + quote(id) + `,"from":` + quote(from) + `,"envelope":` + string(e.bytes()))
		}}
		return nil
	}
	if p.handler == nil {
		return refusal{"not_handler", "no handler is registered"}
	}
	switch c.Mode {
	case "respond":
		return p.handler.answer(c.RequestID, answer{"response", c.Payload})
	case "error":
		return p.handler.answer(c.RequestID, answer{"error", c.Payload})
	case "decline":
		return p.handler.answer(c.RequestID, answer{})
	case "ignore":
		return nil
	}
	return refusal{"unsupported", "there is no mode " + c.Mode}
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("minimal-peer: ")
	listen := flag.String("listen", "127.0.0.1:0", "UDP `HOST:PORT` of the peer; port 0 takes a free one")
	socket := flag.String("driver-listen", "", "wait for the suite at this Unix socket `PATH` instead of standard input and output")
	flag.Parse()
	p, err := newPeer(*listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%s listens at %s, public key %s", p.id, p.host, p.publicKey())
	if *socket == "" {
		d := &driver{peer: p, out: os.Stdout}
		if err := d.run(os.Stdin); err != nil {
			log.Fatal(err)
		}
		p.stop()
		return
	}
	l, err := net.Listen("unix", *socket)
	if err != nil {
		log.Fatal(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		d := &driver{peer: p, out: c}
		if err := d.run(c); err != nil {
			log.Print(err)
		}
		_ = c.Close()
	}
}
