package control

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/axonproto/axon/harness/wire"
)

// ReadLine reads one line of a session that DialUnread opened, and no byte behind
// it. It must not be used after Read.
func (s *Session) ReadLine(ctx context.Context) (Line, error) {
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var line []byte
	for one := make([]byte, 1); len(line) < maxLine; {
		if _, err := s.conn.Read(one); err != nil {
			if ctx.Err() != nil && os.IsTimeout(err) {
				err = ctx.Err()
			}
			return Line{}, fmt.Errorf("read a line of the local API: %w", err)
		}
		if one[0] == '\n' {
			l := Line{Raw: bytes.TrimRight(line, "\r")}
			l.Value, l.Err = wire.Parse(l.Raw)
			return l, nil
		}
		line = append(line, one[0])
	}
	return Line{}, fmt.Errorf("a line of the local API has more than %d bytes", maxLine)
}
