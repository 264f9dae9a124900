// Package ipc is the local API: a Unix socket in the state root over which
// programs of the same user send, answer and watch, one JSON object a line.
//
//	server.go, socket.go, creds_*.go   who gets in
//	session.go, queue.go, line.go      one client: lines in, lines out
//	command.go, answer.go              the form of commands and answers
//	send.go, handler.go, peers.go      what the commands do
//	event.go                           what clients are told unasked
//
// It imports dispatch, envelope, identity, links, peers, rarelog,
// stateroot, transport and config. It serves AXON-IPC-001 and all that follow, and through them the
// needs drive, handle and observe.
package ipc

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/axonproto/axon/impl/internal/dispatch"
	"github.com/axonproto/axon/impl/internal/identity"
	"github.com/axonproto/axon/impl/internal/links"
	"github.com/axonproto/axon/impl/internal/peers"
	"github.com/axonproto/axon/impl/internal/rarelog"
)

// Limits that clients may rely on.
const (
	MaxClients = 64
	MaxLine    = 131072 // bytes, without the newline, both ways
	MaxQueue   = 1024   // lines that wait for a client
	maxReqID   = 1024   // bytes of text
	// maxRunning is how many commands of one client, each with a req_id, may be
	// under way.
	maxRunning = 128
)

const (
	defaultTimeout = 30 * time.Second
	// parting is how long a client that is let go may take to read the rest.
	parting = time.Second
)

// Links are the connections to peers.
type Links interface {
	Connect(ctx context.Context, id identity.AgentID) error
	List() []links.Entry
	Add(peers.Peer) error
	Remove(identity.AgentID) error
}

// Network carries bodies to connected peers.
type Network interface {
	Exchange(ctx context.Context, id identity.AgentID, body []byte) ([]byte, error)
	Send(ctx context.Context, id identity.AgentID, body []byte) error
	Peers() int // that are connected
}

// Book knows the peers.
type Book interface {
	Lookup(identity.AgentID) (peers.Peer, bool)
}

// Options of a Server; all but Name and Version are required.
type Options struct {
	StateRoot  string
	Own        identity.AgentID
	PublicKey  ed25519.PublicKey
	Name       string // as configured; empty: none
	Version    string
	Book       Book
	Links      Links
	Network    Network
	Dispatcher *dispatch.Dispatcher
	Logger     *slog.Logger
}

// Server is the socket and its clients. Close waits for all that it started.
type Server struct {
	o        Options
	listener *net.UnixListener
	path     string
	started  time.Time
	rare     *rarelog.Log
	detach   func()

	ctx      context.Context // of what outlives a client; ends with Close
	cancel   context.CancelFunc
	wg       sync.WaitGroup
	closing  sync.Once
	sent     atomic.Uint64
	received atomic.Uint64
	refusing atomic.Int32

	mu       sync.Mutex // guards the rest
	sessions map[*session]struct{}
	closed   bool
}

// Listen binds the socket and begins to serve. The caller holds the lock of the
// state root.
func Listen(o Options) (*Server, error) {
	if o.StateRoot == "" || o.Own == "" || o.Book == nil || o.Links == nil || o.Network == nil || o.Dispatcher == nil || o.Logger == nil {
		return nil, errors.New("ipc: an option is missing; set all but Name and Version")
	}
	listener, path, err := bind(o.StateRoot)
	if err != nil {
		return nil, err
	}
	s := &Server{
		o: o, listener: listener, path: path, started: time.Now(),
		rare: rarelog.New(o.Logger), sessions: map[*session]struct{}{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.detach = o.Dispatcher.Attach(s)
	s.wg.Go(s.accept)
	return s, nil
}

// Path returns the path of the socket.
func (s *Server) Path() string { return s.path }

func (s *Server) accept() {
	for {
		conn, err := s.listener.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// Out of descriptors, most likely: the next one may be luckier.
			s.rare.Note(slog.LevelWarn, "a local client could not be taken in; check the limit of open files", slog.Any("error", err))
			select {
			case <-time.After(50 * time.Millisecond):
			case <-s.ctx.Done():
				return
			}
			continue
		}
		if err := checkUser(conn); err != nil {
			s.rare.Note(slog.LevelWarn, "refused a local client", slog.Any("error", err))
			s.refuse(conn, fail(codeInvalid, "%v", err))
			continue
		}
		s.admit(conn)
	}
}

func (s *Server) admit(conn *net.UnixConn) {
	s.mu.Lock()
	if s.closed || len(s.sessions) >= MaxClients {
		s.mu.Unlock()
		s.refuse(conn, fail(codeOverloaded, "%d local clients are connected already, which is the limit; close one and connect again", MaxClients))
		return
	}
	c := newSession(s, conn)
	s.sessions[c] = struct{}{}
	s.mu.Unlock()
	s.wg.Go(func() {
		c.serve()
		s.mu.Lock()
		delete(s.sessions, c)
		s.mu.Unlock()
	})
}

// refuse tells a client why, and closes.
func (s *Server) refuse(conn *net.UnixConn, f *failure) {
	const atOnce = 16
	if s.refusing.Add(1) > atOnce {
		s.refusing.Add(-1)
		_ = conn.Close()
		return
	}
	s.wg.Go(func() {
		defer s.refusing.Add(-1)
		stop := context.AfterFunc(s.ctx, func() { _ = conn.Close() })
		defer stop()
		_ = conn.SetDeadline(time.Now().Add(parting))
		_, _ = conn.Write(f.line(nil))
		part(conn)
	})
}

// StopAccepting takes the socket away; clients that are there stay.
func (s *Server) StopAccepting() {
	s.closing.Do(func() { _ = s.listener.Close() })
}

// Close takes the socket away, lets the clients read what waits for them, for
// a second at most, and lets them go.
func (s *Server) Close() {
	s.StopAccepting()
	s.detach()
	s.mu.Lock()
	s.closed = true
	for c := range s.sessions {
		c.finish()
	}
	s.mu.Unlock()
	s.cancel()
	s.wg.Wait()
}

// broadcast queues one line for all clients; the line is shared.
func (s *Server) broadcast(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.sessions {
		c.enqueue(line)
	}
}

func (s *Server) watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions) > 0
}

func (s *Server) uptime() int64 { return int64(time.Since(s.started) / time.Second) }
