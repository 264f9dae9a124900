package probe

import (
	"context"
	"fmt"
)

// AwaitStop waits until the target has asked us to stop sending, and returns the
// code that it gave. It returns false when the sending side, or the connection
// under it, ended in another way first. The error is ctx's.
func (s *Stream) AwaitStop(ctx context.Context) (code uint64, stopped bool, err error) {
	if s.send == nil {
		return 0, false, ErrNoSide
	}
	select {
	case <-s.send.Context().Done():
		end := s.sendEnding()
		return end.Code, end.How == Stopped, nil
	case <-ctx.Done():
		return 0, false, fmt.Errorf("stream %d was not stopped: %w", s.id, context.Cause(ctx))
	}
}
