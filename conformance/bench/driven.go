package bench

import (
	"context"
	"fmt"
	"sync"

	"github.com/axonproto/axon/harness/control"
)

// Bounds of a round through harness/control, which keeps what it sees.
const (
	maxKept      = 15000
	maxKeptBytes = 128 << 20
	// maxReplies is the number of replies that are given at a time.
	maxReplies = 16
)

// driven is a local program that a driver plays. Each round has one of its own, since
// what it has seen is kept until it ends.
type driven struct {
	target control.Target
	row    Row
	over   context.CancelFunc
	finish func() error // ends the handler or the observer
	work   sync.WaitGroup
}

func (d *driven) begin(ctx context.Context, prefix string) (*inbox, int64, error) {
	budget := int64(min(maxKept, maxKeptBytes/max(d.row.Size, 1)))
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, over := context.WithCancel(ctx)
	if d.row.Load == Handler {
		h, err := d.target.Handle(patient)
		if err != nil {
			over()
			return nil, 0, fmt.Errorf("a handler behind the target: %w", err)
		}
		d.over, d.finish = over, h.Close
		d.work.Go(func() { d.answer(ctx, h) })
		return nil, budget, nil
	}
	o, err := d.target.Observe(patient)
	if err != nil {
		over()
		return nil, 0, fmt.Errorf("an observer behind the target: %w", err)
	}
	d.over, d.finish = over, o.Close
	in := newInbox(prefix)
	d.work.Go(func() {
		defer in.end()
		for {
			e, err := o.Next(ctx)
			if err != nil {
				return
			}
			in.show(e.Envelope)
		}
	})
	return in, budget, nil
}

// answer answers each request by an empty payload.
func (d *driven) answer(ctx context.Context, h control.Handler) {
	room := make(chan struct{}, maxReplies)
	for {
		r, err := h.Next(ctx)
		if err != nil {
			return
		}
		room <- struct{}{}
		d.work.Go(func() {
			defer func() { <-room }()
			patient, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			_, _ = h.Reply(patient, r, "response", []byte("{}")) // that it failed shows at the requester
		})
	}
}

func (d *driven) end() {
	if d.over == nil {
		return
	}
	d.over()
	_ = d.finish()
	d.work.Wait()
	d.over = nil
}

func (d *driven) close() { d.end() }
