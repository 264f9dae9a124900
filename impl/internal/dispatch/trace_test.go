package dispatch

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/axonproto/axon/impl/internal/envelope"
)

// TestPreviewIsCutBetweenCharacters shows payloads of 300 bytes with a character
// across the place of the cut, at each of its bytes.
func TestPreviewIsCutBetweenCharacters(t *testing.T) {
	for _, char := range []string{"x", "é", "€", "😀"} {
		for shift := range len(char) {
			payload := `{"a":"` + strings.Repeat("x", previewSize-6-shift) + char
			payload += strings.Repeat("y", 298-len(payload)) + `"}`
			var log bytes.Buffer
			d, err := New(Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
			if err != nil {
				t.Fatal(err)
			}
			seen := make(observer, 2)
			d.Attach(seen)
			for range 2 {
				_, b := body(envelope.Message, payload)
				d.Uni(alice, b)
			}
			for range 2 {
				if got := <-seen; got != "a message "+payload {
					t.Errorf("got %q", got)
				}
			}
			cut := preview([]byte(payload))
			if !utf8.ValidString(cut) || len(cut) > previewSize+len("…") || !strings.HasPrefix(payload, strings.TrimSuffix(cut, "…")) {
				t.Errorf("%q", cut)
			}
			if !utf8.Valid(log.Bytes()) || strings.Contains(log.String(), "\uFFFD") {
				t.Errorf("log %s", &log)
			}
		}
	}
	if got := preview([]byte("short")); got != "short" {
		t.Errorf("%q", got)
	}
}
