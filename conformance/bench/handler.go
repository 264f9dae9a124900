package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// maxLine is the longest line of the local API (AXON-IPC-009), with its end.
const maxLine = 131072 + 1

// handler is a local program that answers each request of its daemon by an empty
// payload.
type handler struct {
	conn *net.UnixConn
	work sync.WaitGroup
}

// errLease says that the lease is not given, perhaps because the daemon has not noticed
// yet that the one before is over.
var errLease = errors.New("it does not give the handler's lease")

// handle takes the handler's lease at a daemon's socket. Close gives it back.
func handle(ctx context.Context, socket string) (h *handler, err error) {
	for deadline := time.Now().Add(patience / 4); ; {
		if h, err = takeLease(ctx, socket); !errors.Is(err, errLease) || time.Now().After(deadline) {
			return h, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func takeLease(ctx context.Context, socket string) (*handler, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("the local API: %w; is the daemon running, and is this its socket?", err)
	}
	h := &handler{conn: conn.(*net.UnixConn)}
	lines := bufio.NewReaderSize(conn, maxLine)
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write([]byte(`{"cmd":"serve"}` + "\n")); err != nil {
		h.close()
		return nil, fmt.Errorf("the local API: %w", err)
	}
	line, err := lines.ReadSlice('\n')
	var answer struct {
		OK    bool `json:"ok"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	switch {
	case err != nil:
	case json.Unmarshal(line, &answer) != nil || !answer.OK:
		err = fmt.Errorf("%w: %s", errLease, answer.Error.Message)
	}
	if err != nil {
		h.close()
		return nil, fmt.Errorf("the local API: %w", err)
	}
	_ = conn.SetDeadline(time.Time{})
	h.work.Go(func() { serve(conn, lines) })
	return h, nil
}

// serve answers until the connection ends. Replies are written together when several
// requests have come together.
func serve(conn net.Conn, lines *bufio.Reader) {
	out := bufio.NewWriterSize(conn, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return
		}
		var event struct {
			Event     string `json:"event"`
			RequestID string `json:"request_id"`
		}
		if json.Unmarshal(line, &event) == nil && event.Event == "request" {
			id, _ := json.Marshal(event.RequestID) // a string always can be
			_, _ = fmt.Fprintf(out, `{"cmd":"reply","request_id":%s,"kind":"response","payload":{}}`+"\n", id)
		}
		if lines.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

func (h *handler) close() {
	_ = h.conn.Close()
	h.work.Wait()
}
