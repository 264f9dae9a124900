// Package rarelog keeps a peer from filling the log: what it can cause as often
// as it likes is logged at most once a second for each reason, with a count of
// what was left out.
//
// It imports the standard library only.
package rarelog

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// maxReasons bounds the table: reasons are constants of the program.
const maxReasons = 64

// Log writes records at a bounded rate. Make it with New; its methods may be
// called from any goroutine.
type Log struct {
	logger *slog.Logger
	now    func() time.Time

	mu      sync.Mutex // guards reasons
	reasons map[string]*reason
}

type reason struct {
	next    time.Time // when the next record may be written
	skipped int       // records left out since the last one
}

// Interval is the time between two records with the same reason.
const Interval = time.Second

// New returns a Log that writes to logger.
func New(logger *slog.Logger) *Log {
	return &Log{logger: logger, now: time.Now, reasons: map[string]*reason{}}
}

// Note writes a record with the message why, which must be a constant, and the
// attributes; or counts it, when the last one was less than Interval ago.
func (l *Log) Note(level slog.Level, why string, attrs ...slog.Attr) {
	if !l.logger.Enabled(context.Background(), level) {
		return
	}
	now := l.now()
	l.mu.Lock()
	r := l.reasons[why]
	if r == nil {
		if len(l.reasons) >= maxReasons {
			l.mu.Unlock()
			return
		}
		r = &reason{}
		l.reasons[why] = r
	}
	if now.Before(r.next) {
		r.skipped++
		l.mu.Unlock()
		return
	}
	r.next = now.Add(Interval)
	skipped := r.skipped
	r.skipped = 0
	l.mu.Unlock()
	if skipped > 0 {
		attrs = append(attrs, slog.Int("also_left_out", skipped))
	}
	l.logger.LogAttrs(context.Background(), level, why, attrs...)
}
