package rarelog

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestOneRecordASecondForEachReason(t *testing.T) {
	var out bytes.Buffer
	l := New(slog.New(slog.NewTextHandler(&out, nil)))
	now := time.Unix(100, 0)
	l.now = func() time.Time { return now }
	for range 5 {
		l.Note(slog.LevelInfo, "a", slog.String("peer", "p"))
		l.Note(slog.LevelInfo, "b")
		l.Note(slog.LevelDebug, "c")
	}
	if got := strings.Count(out.String(), "\n"); got != 2 {
		t.Fatalf("%d records, want 2:\n%s", got, &out)
	}
	out.Reset()
	now = now.Add(Interval)
	l.Note(slog.LevelInfo, "a")
	if !strings.Contains(out.String(), "also_left_out=4") {
		t.Errorf("no count of the records left out: %s", &out)
	}
}
