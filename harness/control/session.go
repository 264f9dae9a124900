package control

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/axonproto/axon/harness/wire"
)

// maxLine bounds a line that the target may write: more than any event needs.
const maxLine = 1 << 20

// maxKept bounds the lines that a session remembers.
const maxKept = 20000

// Line is one line that the target wrote.
type Line struct {
	Raw   []byte
	Value wire.Value // the zero Value when the line is no JSON
	Err   error      // why it is none
}

// Member is the string member of a line's object, empty when it is none.
func (l Line) Member(name string) string {
	v, _ := l.Value.Get(name)
	return v.String
}

// Session is one connection to a target's local API. Everything that arrives is
// read in the background; lines are kept in order.
type Session struct {
	conn *net.UnixConn

	mu      sync.Mutex
	lines   []Line
	dropped int
	end     error // why nothing more comes; nil while it may
	changed chan struct{}
	writing sync.Mutex
	next    int
	reader  sync.WaitGroup
}

// Dial connects to the socket of a local API.
func Dial(ctx context.Context, socket string) (*Session, error) {
	return dial(ctx, socket, true)
}

// DialUnread connects and never reads, as a client that hangs does.
func DialUnread(ctx context.Context, socket string) (*Session, error) {
	return dial(ctx, socket, false)
}

func dial(ctx context.Context, socket string, read bool) (*Session, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("connect to the local API at %s: %w", socket, err)
	}
	return newSession(c.(*net.UnixConn), read), nil
}

func newSession(c *net.UnixConn, read bool) *Session {
	s := &Session{conn: c, changed: make(chan struct{})}
	if read {
		s.reader.Go(s.read)
	}
	return s
}

// Read begins to read a session that DialUnread opened.
func (s *Session) Read() { s.reader.Go(s.read) }

func (s *Session) read() {
	r := bufio.NewReaderSize(s.conn, 64<<10)
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(line) < maxLine {
			continue
		}
		if err == nil {
			s.keep(bytes.TrimRight(line, "\r\n"))
			line = line[:0]
			continue
		}
		if errors.Is(err, io.EOF) {
			err = ErrEnded
		}
		s.finish(err)
		return
	}
}

func (s *Session) keep(raw []byte) {
	l := Line{Raw: bytes.Clone(raw)}
	l.Value, l.Err = wire.Parse(l.Raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) < maxKept {
		s.lines = append(s.lines, l)
	} else {
		s.dropped++
	}
	s.wake()
}

func (s *Session) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end = err
	}
	s.wake()
}

// wake lets everyone who waits look again; s.mu is held.
func (s *Session) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Write sends bytes as they are.
func (s *Session) Write(ctx context.Context, b []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	_, err := s.conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
		err = ctx.Err()
	}
	return err
}

// Lines are those that have come so far.
func (s *Session) Lines() []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Line(nil), s.lines...)
}

// Dropped is the number of lines that were not kept, because too many had come.
func (s *Session) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Ended tells why nothing more will come, nil while it may.
func (s *Session) Ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

// AwaitEnd waits until the target has closed the connection.
func (s *Session) AwaitEnd(ctx context.Context) error {
	for {
		s.mu.Lock()
		end, changed := s.end, s.changed
		s.mu.Unlock()
		if end != nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Find waits for the first line from index from on that match takes, and returns
// it with its index.
func (s *Session) Find(ctx context.Context, from int, match func(Line) bool) (Line, int, error) {
	for {
		s.mu.Lock()
		for i := from; i < len(s.lines); i++ {
			if match(s.lines[i]) {
				l := s.lines[i]
				s.mu.Unlock()
				return l, i, nil
			}
		}
		from = len(s.lines)
		end, changed := s.end, s.changed
		s.mu.Unlock()
		if end != nil {
			return Line{}, 0, end
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Line{}, 0, ctx.Err()
		}
	}
}

// Command sends a command with a req_id of its own and waits for its answer. The
// members are raw JSON without braces: `"cmd":"peers"`.
func (s *Session) Command(ctx context.Context, members string) (Line, error) {
	s.mu.Lock()
	s.next++
	id := "suite-" + strconv.Itoa(s.next)
	from := len(s.lines)
	s.mu.Unlock()
	if err := s.Write(ctx, []byte(`{`+members+`,"req_id":"`+id+`"}`+"\n")); err != nil {
		return Line{}, err
	}
	l, _, err := s.Find(ctx, from, func(l Line) bool { return l.Member("req_id") == id })
	return l, err
}

// CloseWrite ends the suite's side and keeps reading.
func (s *Session) CloseWrite() error { return s.conn.CloseWrite() }

// Close ends the session and waits for its reader.
func (s *Session) Close() error {
	err := s.conn.Close()
	s.reader.Wait()
	return err
}
